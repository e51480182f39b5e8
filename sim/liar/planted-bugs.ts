// Guards that are taken away beside the product, one at a time: the runs must find each.
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity } from "../../ports/identity.ts";
import type { RiskSettings } from "../../ports/settings.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import type { ServicePorts } from "../../services/shared/service.ts";

export interface PlantedLiarBug {
  readonly name: string;
  readonly sentence: string;
  /** The lies that show it, and the invariants by which it is found. */
  readonly lies: readonly string[];
  readonly found: readonly string[];
  /** The risk engine's ports as they are to be, in each of its lives. */
  readonly engine?: (ports: ServicePorts) => ServicePorts;
  /** The ports of the gRPC door. */
  readonly door?: (ports: ServicePorts) => ServicePorts;
  /** Whom the gRPC door takes a caller for; absent: who it is. */
  readonly takenFor?: (caller: Identity, subject: string) => Identity;
  /** What the risk engine bounds otherwise. */
  readonly settings?: Partial<RiskSettings>;
}

const changed = (ports: ServicePorts, change: (unit: UnitOfWork) => UnitOfWork): ServicePorts => {
  const store: Store = {
    ...ports.store,
    transact: (name, work, how) => ports.store.transact(name, (unit) => work(change(unit)), how),
  };
  return { ...ports, store };
};

/** What one subscription hears, of everybody or of one, comes from somebody else. */
function heardAs(ports: ServicePorts, name: string, source: string, only?: string): ServicePorts {
  const { bus } = ports;
  return {
    ...ports,
    bus: {
      ...bus,
      subscribe: (options, handler) =>
        bus.subscribe(options, (event) => {
          const isOther = options.name === name && (only === undefined || event.source === only);
          return handler(isOther ? { ...event, source } : event);
        }),
    },
  };
}

const vouchesForAll: PlantedLiarBug = {
  name: "vouches-for-all",
  sentence: "The risk engine takes every fill for one of our own order management, which is vouched for.",
  lies: ["fill-unasked", "fill-kind", "fill-cross"],
  found: ["no_figure_loosens", "orders_are_their_askers"],
  engine: (ports) => heardAs(ports, "riskengine.fills", "oms"),
};

const forgetsContents: PlantedLiarBug = {
  name: "forgets-contents",
  sentence: "The door does not keep what an event id said, so that other content under it is a repetition.",
  lies: ["id-reused"],
  found: ["ids_are_their_content"],
  door: (ports) =>
    changed(ports, (unit) => ({
      ...unit,
      handled: { ...unit.handled, contents: async () => new Map() },
    })),
};

const asksNobody = (ports: ServicePorts): ServicePorts => ({
  ...ports,
  riskStore: { ...ports.riskStore, askers: async () => [] },
});

const forgetsAskers: PlantedLiarBug = {
  name: "forgets-askers",
  sentence: "The door and the risk engine find nobody who asked for an order, so that anybody may report on it.",
  lies: ["order-state", "fill-of-theirs"],
  found: ["orders_are_their_askers", "no_figure_loosens"],
  engine: asksNobody,
  door: asksNobody,
};

const believesEveryValue: PlantedLiarBug = {
  name: "believes-every-value",
  sentence: "The risk engine takes the liar for the valuer of every fund.",
  lies: ["value-high"],
  found: ["no_figure_loosens"],
  engine: (ports) => heardAs(ports, "riskengine.nav", "treasury", "liar"),
};

const believesEveryPrice: PlantedLiarBug = {
  name: "believes-every-price",
  sentence: "The door takes whoever publishes a price for the one whose prices count.",
  lies: ["price-low", "price-high"],
  found: ["prices_are_their_pricers", "no_figure_loosens"],
  takenFor: (caller, subject) => (subject === subjects.marketMarks.name ? { ...caller, name: "desk-feed" } : caller),
};

const forgetsFunds: PlantedLiarBug = {
  name: "forgets-funds",
  sentence: "The door takes every token for one of every fund.",
  lies: ["fund-not-named"],
  found: ["tokens_name_their_funds"],
  takenFor: ({ funds: _named, ...caller }) => caller,
};

const boundsNoPrice: PlantedLiarBug = {
  name: "bounds-no-price",
  sentence: "The risk engine takes no price for one that jumped.",
  lies: ["price-of-feed"],
  found: ["no_figure_loosens"],
  settings: { priceJumpMax: 1_000_000 },
};

const explainsEveryValue: PlantedLiarBug = {
  name: "explains-every-value",
  sentence: "The risk engine takes every value of a valuer for one that is explained.",
  lies: ["value-of-valuer"],
  found: ["no_figure_loosens"],
  settings: { valueUnexplainedMax: 1_000_000 },
};

const losesAFill: PlantedLiarBug = {
  name: "loses-a-fill",
  sentence: "The risk engine takes every seventh fill for handled, and does not book it.",
  lies: [],
  found: ["accepted_fills_are_booked", "orders_are_their_askers", "no_figure_loosens"],
  engine: (ports) => {
    const { bus } = ports;
    let count = 0;
    return {
      ...ports,
      bus: {
        ...bus,
        subscribe: (options, handler) =>
          bus.subscribe(options, async (event) => {
            count += options.name === "riskengine.fills" ? 1 : 0;
            if (options.name === "riskengine.fills" && count % 7 === 0) return;
            await handler(event);
          }),
      },
    };
  },
};

export const plantedLiarBugs: readonly PlantedLiarBug[] = [
  vouchesForAll,
  forgetsAskers,
  believesEveryValue,
  believesEveryPrice,
  forgetsFunds,
  forgetsContents,
  boundsNoPrice,
  explainsEveryValue,
  losesAFill,
];
