// Order management's shell: the front door for orders, the drivers that take each of them further, the books of trades and positions, and what
// halts mean for orders that are with a broker. Here the parts are put together; each of them is a file of its own.
import { messageOf } from "../../contracts/src/fault.ts";
import { format, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Health } from "../../ports/health.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { RpcService, UnaryHandler } from "../../ports/rpc.ts";
import { startLoop } from "../shared/loop.ts";
import { type Parts, startParts } from "../shared/parts.ts";
import type { Service, ServicePorts } from "../shared/service.ts";
import { createTouchedOrders } from "../shared/touched-orders.ts";
import { createAdjusting } from "./adjusting.ts";
import { type Amending, createAmending } from "./amendments/amending.ts";
import { type Cancelling, createCancelling } from "./cancelling.ts";
import { createChecking } from "./checking.ts";
import { carryOutActions } from "./corporate-actions/corporate-actions.ts";
import { createCrossing } from "./crossing.ts";
import { hearHistory } from "./import-history.ts";
import { openInstruments } from "./instruments.ts";
import { type Bells, keyWindowMs, type Step, type StepOutcome } from "./oms-parts.ts";
import { createOrderCommands } from "./order-commands.ts";
import { createOrderLists } from "./order-lists.ts";
import { createDrivers, type Drivers } from "./order-worker.ts";
import { createPaperFaults } from "./paper-faults.ts";
import { keepQuotes } from "./quotes/keep-quotes.ts";
import { createReductions } from "./reductions.ts";
import { type ReportReader, readReports } from "./reports.ts";
import { createRouting, type Routing } from "./routing.ts";
import { seedPositions } from "./seed-positions.ts";
import { settleOptions } from "./settling.ts";
import { createSignals } from "./signals/signals.ts";
import { createSlicing, type Slicing } from "./slicing.ts";
import { createSubmitting } from "./submitting.ts";
import { sweepHalts } from "./sweeps/halt-sweep.ts";
import { sweepStrategies } from "./sweeps/strategy-sweep.ts";
import { sweepUnjudged } from "./sweeps/unjudged-sweep.ts";
import { alarm } from "./transitions.ts";
import { trimKeys } from "./trim-keys.ts";

export const oms: Service = {
  name: "oms",
  sentence: "Takes orders, asks the risk engine, routes what was approved and keeps positions.",
  // Treasury puts in the funds and instruments that the first positions are of.
  needs: ["riskengine", "operations", "treasury"],
  start: (ports) => startParts(ports, (parts) => assemble(ports, parts)),
};

async function assemble(ports: ServicePorts, parts: Parts) {
  await seedPositions(ports);
  const instruments = parts.add("instruments", await openInstruments(ports));
  const quotes = parts.add("quotes", keepQuotes(ports, instruments.quotes));
  // Who rings is there before who hears: until then there is nobody to ring for.
  const heard: { drivers?: Drivers; look?: Bells["position"]; readonly readers: Map<string, ReportReader> } = {
    readers: new Map(),
  };
  const bells: Bells = {
    order: (orderId) => heard.drivers?.wake(orderId),
    reports: (brokerName) => heard.readers.get(brokerName)?.ring(),
    position: (fundId, symbol) => heard.look?.(fundId, symbol),
  };
  const cancelling = createCancelling(ports, bells);
  const sweep = parts.add("halt sweep", await sweepHalts(ports, cancelling));
  parts.add("unjudged sweep", await sweepUnjudged(ports, cancelling));
  parts.add("strategy sweep", await sweepStrategies(ports, cancelling));
  const check = createChecking(ports);
  const routing = createRouting({ ports, bells, haltsHeard: sweep.halts, quotes });
  const slicing = createSlicing({ ports, instruments, cancelling, bells, quotes });
  const amending = createAmending(ports, sweep.halts);
  const stepOf = steps({ check: firstStep(ports, slicing, check), routing, slicing, cancelling, amending });
  const drivers = parts.add("order workers", createDrivers(ports, stepOf));
  heard.drivers = drivers;
  heard.look = parts.add("reductions", createReductions({ ports, cancelling, amending, bells })).look;
  for (const broker of ports.brokers) {
    const reader = readReports({ ports, instruments, quotes }, broker, bells);
    heard.readers.set(broker.name, parts.add(`reports of ${broker.name}`, reader));
  }
  const taking = parts.add("open orders", await keepTakingUp(ports, drivers, bells));
  parts.add("old keys", trimKeys(ports));
  parts.add("corporate actions", carryOutActions({ ports, instruments, cancelling, bells }));
  parts.add("option settlement", settleOptions(ports, instruments, bells));
  parts.add("imported history", await hearHistory(ports));

  const touched = parts.add("touched orders", createTouchedOrders(ports, tellTouched(ports)));
  const commands = createOrderCommands({ ports, drivers, cancelling, amending, touched });
  const faults = createPaperFaults(ports);
  const lists = createOrderLists(ports, instruments);
  const submit = createSubmitting(ports, drivers, quotes);
  const signals = parts.add("signals", createSignals(ports, submit));
  const handlers = {
    ...signals.handlers,
    SubmitOrder: submit,
    CancelOrder: commands.cancelOrder,
    CancelAll: commands.cancelAll,
    AmendOrder: commands.amendOrder,
    GetOrder: lists.getOrder,
    ListOrders: lists.listOrders,
    ListPositions: lists.listPositions,
    ListFills: lists.listFills,
    AdjustPosition: createAdjusting(ports, instruments, bells),
    CrossPositions: createCrossing(ports, instruments, bells),
    GetPaperWeather: faults.getPaperWeather,
    SetPaperWeather: faults.setPaperWeather,
  } satisfies Record<string, UnaryHandler>;
  const fundsOf = { CancelOrder: commands.fundsOf, AmendOrder: commands.fundsOf };
  const rpc: RpcService = { name: "Oms", handlers, fundsOf };
  return { rpc: [rpc], health: () => healthOf(heard.readers, taking.unknown()) };
}

/** The next refusal of the source is counted when this cannot be told. */
function tellTouched({ store, clock, log }: ServicePorts): (source: string, sentence: string) => void {
  return (source, sentence) => {
    store
      .transact("oms.alarm", (unit) => alarm(unit, "ORDER_OF_ANOTHER", source, sentence, clock.now()))
      .catch((thrown: unknown) => {
        log.warn("an alarm could not be published", { code: "ORDER_OF_ANOTHER", source, reason: messageOf(thrown) });
      });
  };
}

/** An exit that is too large is cut; everything else is checked. */
function firstStep(ports: ServicePorts, slicing: Slicing, check: Step): Step {
  return async (stored): Promise<StepOutcome> => {
    // Whether an exit is cut is asked of the same engine: its silence must not outlast the check's time.
    const isOverdue = millisecondsBetween(stored.createdAt, ports.clock.now()) >= keyWindowMs;
    return (isOverdue ? undefined : await slicing.begin(stored)) ?? check(stored);
  };
}

interface StepParts {
  readonly check: Step;
  readonly routing: Routing;
  readonly slicing: Slicing;
  readonly cancelling: Cancelling;
  readonly amending: Amending;
}

/** What is to be done next about an order that has not ended. */
function steps({ check, routing, slicing, cancelling, amending }: StepParts): (stored: StoredOrder) => Step {
  return ({ state, sliced }) => {
    if (state === "PENDING_CHECK") return check;
    if (sliced === true) return slicing.go;
    if (state === "ACCEPTED") return routing.route;
    if (state === "CANCEL_PENDING") return cancelling.cancel;
    if (state === "ROUTED" || state === "UNKNOWN") return routing.inquire;
    return amending.amend;
  };
}

interface TakingUp {
  /** How many orders' fate was unknown at the last look. */
  unknown(): number;
  stop(): Promise<void>;
}

/** A bell that was lost with the answer to a commit is rung again within this time. */
const takeUpEveryMs = 5_000;

/**
 * Every open order goes on where it stood, and every resting exit is held against what there is to exit: when it starts, and again and again
 * for those whose bell nobody heard.
 */
async function keepTakingUp(ports: ServicePorts, drivers: Drivers, bells: Bells): Promise<TakingUp> {
  let unknown = 0;
  async function takeUp(): Promise<number> {
    const open = await ports.store.transact("oms.look", (unit) => unit.oms.openOrders(), { isOneStatement: true });
    for (const stored of open) {
      const { order } = stored;
      if (!rests(stored)) drivers.takeUp(order.order_id);
      if (order.reduce_only === true) bells.position(order.fund_id, order.symbol);
    }
    unknown = open.filter(({ state }) => state === "UNKNOWN").length;
    return open.length;
  }
  const orders = await takeUp();
  if (orders > 0) ports.log.info("open orders are taken up again", { orders });
  const loop = startLoop({
    ports,
    what: { failing: "open orders cannot be looked through", working: "open orders can be looked through again" },
    firstAfterMs: takeUpEveryMs,
    async run() {
      await takeUp();
      return takeUpEveryMs;
    },
    troubleMsMax: takeUpEveryMs,
  });
  return { unknown: () => unknown, stop: loop.stop };
}

/** A broker that is silent is no failure of ours: orders can be handed in and are driven on when it answers. It is reported all the same. */
function healthOf(readers: ReadonlyMap<string, ReportReader>, unknown: number): Health {
  const silent = [...readers].flatMap(([name, reader]) => {
    const since = reader.silentSince();
    return since === undefined ? [] : [`The broker ${name} is silent since ${format(since)}.`];
  });
  const fates = unknown === 1 ? "What became of 1 order is unknown." : `What became of ${unknown} orders is unknown.`;
  const complaints = unknown === 0 ? silent : [...silent, fates];
  return complaints.length === 0 ? { status: "ok" } : { status: "ok", complaint: complaints.join(" ") };
}

/** Works at the broker, and nothing is to be done about it here. */
function rests({ state, amendment, sliced }: StoredOrder): boolean {
  const works = state === "WORKING" || state === "PARTIALLY_FILLED";
  return works && amendment === undefined && sliced !== true;
}
