// Mistakes that can be built in beside the product, each through a port or through the memory store as the simulator puts them together: the
// product knows nothing of them. Every one must be found.
import * as decimal from "../contracts/src/decimal.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import type { Fill, Order, OrderTransition } from "../contracts/src/records/order.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Bus, BusEvent, Handler } from "../ports/bus.ts";
import type { OrderManagement } from "../ports/peers.ts";
import type { ReferenceData } from "../ports/reference-data.ts";
import type { Store, UnitOfWork } from "../ports/store.ts";
import { buys } from "./history.ts";
import { blindToDelta } from "./option-planted-bug.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { losesItsPlace, takesKeyLate } from "./signal-planted-bugs.ts";
import { dropsAnInstrument, keepsOldPrices, withdrawAnything } from "./treasury-planted-bugs.ts";

/** What a durable subscription is handed goes through here first. */
function overheard(bus: Bus, name: string, hand: (event: BusEvent, handler: Handler) => Promise<void>): Bus {
  return {
    ...bus,
    subscribe: (options, handler) =>
      bus.subscribe(options, options.name === name ? (event) => hand(event, handler) : handler),
  };
}

const skipEpochCheck: PlantedBug = {
  name: "skip-epoch-check",
  sentence: "Order management does not look at the halts again when it sends.",
  ports: (service, ports) => {
    if (service !== "oms") return ports;
    const { store } = ports;
    const isSending = (name: string): boolean => name === "oms.route" || name === "oms.resend";
    const blind: Store = {
      ...store,
      transact: (name, work) =>
        store.transact(name, (unit) => {
          if (!isSending(name)) return work(unit);
          const oms = {
            ...unit.oms,
            haltsAtSending: async () => ({ ...(await unit.oms.haltsAtSending()), active: [] }),
          };
          return work({ ...unit, oms });
        }),
    };
    return { ...ports, store: blind };
  },
};

const freeOnTimeout: PlantedBug = {
  name: "free-on-timeout",
  sentence:
    "The risk engine takes an order whose fate is unknown for one that was refused, and lets its reservation go.",
  ports: (service, ports) => {
    if (service !== "riskengine") return ports;
    const bus = overheard(ports.bus, "riskengine.orders", (event, handler) => {
      const step = event.payload as OrderTransition;
      if (event.subject !== subjects.ordersUpdated.name || step.to !== "UNKNOWN") return handler(event);
      return handler({ ...event, payload: { ...step, to: "REJECTED", remaining_quantity: "0" } });
    });
    return { ...ports, bus };
  },
};

/** An order for nothing at all would be no order. */
const least = decimal.parse("0.00001");

const netPending: PlantedBug = {
  name: "net-pending",
  sentence: "The risk engine takes pending sells off pending buys, as if both were sure to trade.",
  ports: (service, ports) => {
    if (service !== "riskengine") return ports;
    /** Orders that rest, as they were last reported. */
    const resting = new Map<string, { readonly step: OrderTransition; readonly side: string }>();
    const sides = new Map<string, string>();
    const bus = overheard(ports.bus, "riskengine.orders", async (event, handler) => {
      await handler(event);
      if (event.subject === subjects.ordersCreated.name) {
        const { order_id: id, side } = event.payload as Order;
        sides.set(id, side);
        return;
      }
      const step = event.payload as OrderTransition;
      resting.delete(step.order_id);
      if (step.to !== "WORKING") return;
      const side = sides.get(step.order_id) ?? "";
      resting.set(step.order_id, { step, side });
      const opposite = [...resting.values()].find(
        (one) => one.step.fund_id === step.fund_id && one.step.symbol === step.symbol && buys(one.side) !== buys(side),
      );
      if (opposite === undefined) return;
      const left = decimal.subtract(
        decimal.parse(opposite.step.remaining_quantity),
        decimal.parse(step.remaining_quantity),
      );
      const quantity = decimal.format(left > 0n ? left : least);
      const netted = { ...opposite.step, quantity, remaining_quantity: quantity, at: step.at };
      await handler({ ...event, id: `${event.id} netted`, payload: netted });
    });
    return { ...ports, bus };
  },
};

/** What order management tells of orders and trades. */
const dropped: ReadonlySet<string> = new Set(
  [subjects.ordersCreated, subjects.ordersAccepted, subjects.ordersUpdated, subjects.fillsCreated].map(
    ({ name }) => name,
  ),
);

const dropOutboxRow: PlantedBug = {
  name: "drop-outbox-row",
  sentence: "One message that was written with its change never gets into the log.",
  tables(tables, prng) {
    const inner = tables.append;
    // Those before are of the setup.
    let left = 20 + prng.below(30);
    tables.append = (events) => {
      const reported = events.filter(({ subject }) => dropped.has(subject)).length;
      const isHit = left > 0 && left <= reported;
      left -= reported;
      inner(isHit ? events.filter(({ subject }) => !dropped.has(subject)) : events);
    };
  },
};

const fireStopTwice: PlantedBug = {
  name: "fire-stop-twice",
  sentence: "A stop hands its exit in a second time, under another name.",
  ports: (service, ports) => {
    if (service !== "operations") return ports;
    const { orderManagement } = ports;
    const twice: OrderManagement = {
      ...orderManagement,
      async submit(order) {
        const answered = await orderManagement.submit(order);
        if (order.order_id.startsWith("stop-")) {
          const again = {
            ...order,
            order_id: `${order.order_id}-again`,
            idempotency_key: `${order.idempotency_key}-again`,
          };
          await orderManagement.submit(again).catch(() => undefined);
        }
        return answered;
      },
    };
    return { ...ports, orderManagement: twice };
  },
};

/** A strategy's fund, and everybody's firm. */
function isAbove(higher: ActiveHalt, lower: ActiveHalt): boolean {
  if (higher.severity === "FIRM_HALT") return lower.severity !== "FIRM_HALT";
  const isPair = higher.severity === "FUND_HALT" && lower.severity === "STRATEGY_HALT";
  return isPair && higher.fund_id === lower.fund_id;
}

const liftFreesHigher: PlantedBug = {
  name: "lift-frees-higher",
  sentence: "Lifting a halt also takes away the halts of the levels above it.",
  ports: (service, ports) => {
    if (service !== "operations" && service !== "riskengine") return ports;
    const { store } = ports;
    const generous: Store = {
      ...store,
      transact: (name, work) =>
        store.transact(name, (unit) => {
          const liftHalts: UnitOfWork["risk"]["liftHalts"] = async (haltIds, at, rule) => {
            const { active } = await unit.risk.lockHalts();
            const meant = active.filter(({ halt_id: id }) => haltIds.includes(id));
            const more = active.filter((halt) => meant.some((lower) => isAbove(halt, lower)));
            const all = new Set([...haltIds, ...more.map(({ halt_id: id }) => id)]);
            return unit.risk.liftHalts([...all], at, rule);
          };
          return work({ ...unit, risk: { ...unit.risk, liftHalts } });
        }),
    };
    return { ...ports, store: generous };
  },
};

const forgetLatch: PlantedBug = {
  name: "forget-latch",
  sentence: "A risk engine that is killed after it latched a halt and before that was passed on comes back without it.",
  tables(tables) {
    const inner = tables.process;
    const isPassedOn = (id: string): boolean =>
      [...tables.halts.reported.values()].some(({ haltId, publisher }) => haltId === id && publisher === "operations");
    tables.process = (name) => {
      const process = inner(name);
      if (name !== "riskengine") return process;
      process.onKill(() => {
        const { halts } = tables.risk;
        const forgotten = halts.filter(({ halt_id: id }) => !isPassedOn(id));
        for (const halt of forgotten) halts.splice(halts.indexOf(halt), 1);
      });
      return process;
    };
  },
};

const datesByUtc: PlantedBug = {
  name: "dates-by-utc",
  sentence: "The risk engine dates losses by UTC, whatever calendar the fund has.",
  ports: (service, ports) => {
    if (service !== "riskengine") return ports;
    const { referenceData } = ports;
    const read: ReferenceData["read"] = async () => {
      const reference = await referenceData.read();
      const calendars = reference.calendars.map((one) => ({ ...one, zone: "UTC", sessions: "always" as const }));
      return { ...reference, calendars };
    };
    return { ...ports, referenceData: { ...referenceData, read } };
  },
};

const spendTwice: PlantedBug = {
  name: "spend-twice",
  sentence:
    "Order management forgets which amendments it has settled, so that a key that comes again spends its old approval again.",
  ports: (service, ports) => {
    if (service !== "oms") return ports;
    const { store } = ports;
    const forgetful: Store = {
      ...store,
      transact: (name, work) =>
        store.transact(name, (unit) => {
          if (name !== "oms.amend") return work(unit);
          const lockOrder: UnitOfWork["oms"]["lockOrder"] = async (orderId) => {
            const { settledAmendments: _settled, ...stored } = (await unit.oms.lockOrder(orderId)) ?? {};
            return "order" in stored ? (stored as Awaited<ReturnType<UnitOfWork["oms"]["lockOrder"]>>) : undefined;
          };
          return work({ ...unit, oms: { ...unit.oms, lockOrder } });
        }),
    };
    return { ...ports, store: forgetful };
  },
};

const nothingStands: PlantedBug = {
  name: "nothing-stands",
  sentence: "Treasury finds nothing that stands against a change of reference data, whatever is held.",
  ports: (service, ports) => {
    if (service !== "treasury") return ports;
    const { store } = ports;
    const blind: Store = {
      ...store,
      transact: <Result>(name: string, work: (unit: UnitOfWork) => Promise<Result>) =>
        name === "reference.standing" ? Promise.resolve([] as Result) : store.transact(name, work),
    };
    return { ...ports, store: blind };
  },
};

const keepUnsent: PlantedBug = {
  name: "keep-unsent",
  sentence: "The risk engine never finds that it has heard everything of orders, so that no approval ever runs out.",
  ports: (service, ports) => {
    if (service !== "riskengine") return ports;
    const { bus } = ports;
    const subscribe: Bus["subscribe"] = async (options, handler) => ({
      ...(await bus.subscribe(options, handler)),
      caughtUpAt: () => undefined,
    });
    return { ...ports, bus: { ...bus, subscribe } };
  },
};

const trustTheLog: PlantedBug = {
  name: "trust-the-log",
  sentence: "The risk engine takes the audit log for whole and up to date, whatever operations reports.",
  ports: (service, ports) => {
    if (service !== "riskengine") return ports;
    const { store, clock } = ports;
    const fresh = { read: async () => ({ writerEpoch: 1, through: clock.now() }) };
    const trusting: Store = {
      ...store,
      transact: (name, work) =>
        store.transact(name, (unit) =>
          work(name === "riskengine.audit" ? { ...unit, auditStanding: { ...unit.auditStanding, ...fresh } } : unit),
        ),
    };
    return { ...ports, store: trusting };
  },
};

const proveByFundOnly: PlantedBug = {
  name: "prove-by-fund-only",
  sentence: "The risk engine takes every strategy for the holder of all that its fund holds.",
  ports: (service, ports) => {
    if (service !== "riskengine") return ports;
    const bus = overheard(ports.bus, "riskengine.fills", async (event, handler) => {
      const fill = event.payload as Fill;
      const other = otherOf[fill.strategy_id];
      // A cross moves what a strategy holds, and never the fund's position.
      const shadow = { ...fill, fill_id: `${fill.fill_id}-too`, strategy_id: other, kind: "CROSS" };
      if (other !== undefined) await handler({ ...event, payload: shadow });
      await handler(event);
    });
    return { ...ports, bus };
  },
};

const otherOf: Readonly<Record<string, string>> = {
  "alpha-momentum": "alpha-meanrev",
  "alpha-meanrev": "alpha-momentum",
};

const owedToOthers: PlantedBug = {
  name: "owed-to-others",
  sentence: "Order management crosses nothing, so that a stop stays owed because of another strategy.",
  ports: (service, ports) => {
    if (service !== "operations") return ports;
    const { orderManagement } = ports;
    const denial = { code: "CROSS_UNPRICED", reason: "It is not priced." } as const;
    return { ...ports, orderManagement: { ...orderManagement, cross: async () => ({ denial }) } };
  },
};

const loseOneBooking: PlantedBug = {
  name: "lose-one-booking",
  sentence: "Treasury takes some trades for booked and does not book them.",
  ports: (service, ports) => {
    if (service !== "treasury") return ports;
    const isLost = ({ payload }: BusEvent): boolean =>
      [...(payload as Fill).fill_id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 5 === 0;
    const hand = async (event: BusEvent, handler: Handler) => (isLost(event) ? undefined : handler(event));
    return { ...ports, bus: overheard(ports.bus, "treasury.fills", hand) };
  },
};

const hearsNoLoss: PlantedBug = {
  name: "hears-no-loss",
  sentence: "The risk engine hears of every fund the highest value that it ever had.",
  ports: (service, ports) => {
    if (service !== "riskengine") return ports;
    const highest = new Map<string, number>();
    const hand = (event: BusEvent, handler: Handler) => {
      const nav = event.payload as { readonly fund_id: string; readonly nav: string };
      highest.set(nav.fund_id, Math.max(highest.get(nav.fund_id) ?? 0, Number(nav.nav)));
      return handler({ ...event, payload: { ...nav, nav: String(highest.get(nav.fund_id)) } });
    };
    return { ...ports, bus: overheard(ports.bus, "riskengine.nav", hand) };
  },
};

export const plantedBugs: readonly PlantedBug[] = [
  withdrawAnything,
  blindToDelta,
  keepsOldPrices,
  dropsAnInstrument,
  loseOneBooking,
  hearsNoLoss,
  skipEpochCheck,
  freeOnTimeout,
  netPending,
  dropOutboxRow,
  fireStopTwice,
  liftFreesHigher,
  forgetLatch,
  datesByUtc,
  keepUnsent,
  trustTheLog,
  proveByFundOnly,
  owedToOthers,
  spendTwice,
  nothingStands,
  takesKeyLate,
  losesItsPlace,
];
