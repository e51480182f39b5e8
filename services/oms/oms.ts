// Order management's shell: the front door for orders, the drivers that take each of them further, the books of trades and positions, and what
// halts mean for orders that are with a broker. Here the parts are put together; each of them is a file of its own.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { format, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Health } from "../../ports/health.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { RpcService, UnaryHandler } from "../../ports/rpc.ts";
import type { RunningService, Service, ServicePorts } from "../shared/service.ts";
import { createAdjusting } from "./adjusting.ts";
import { type Amending, createAmending } from "./amendments/amending.ts";
import type { BookingParts } from "./booking.ts";
import { type Cancelling, createCancelling } from "./cancelling.ts";
import { createChecking } from "./checking.ts";
import { carryOutActions } from "./corporate-actions/corporate-actions.ts";
import { createCrossing } from "./crossing.ts";
import { sweepHalts } from "./halt-sweep.ts";
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
import { trimKeys } from "./trim-keys.ts";
import { sweepUnjudged } from "./unjudged-sweep.ts";

export const oms: Service = {
  name: "oms",
  sentence: "Takes orders, asks the risk engine, routes what was approved and keeps positions.",
  // Treasury puts in the funds and instruments that the first positions are of.
  needs: ["riskengine", "operations", "treasury"],
  async start(ports) {
    const stops: (() => Promise<void>)[] = [];
    try {
      return await assemble(ports, stops);
    } catch (thrown) {
      for (const stop of stops.reverse()) await stop();
      throw thrown;
    }
  },
};

/** Later parts stand on earlier ones; stopping goes the other way round. */
async function assemble(ports: ServicePorts, stops: (() => Promise<void>)[]): Promise<RunningService> {
  await seedPositions(ports);
  const instruments = await openInstruments(ports);
  stops.push(instruments.stop);
  const quotes = keepQuotes(ports, instruments.quotes);
  stops.push(quotes.stop);
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
  const sweep = await sweepHalts(ports, cancelling);
  stops.push(sweep.stop);
  const unjudged = await sweepUnjudged(ports, cancelling);
  stops.push(() => unjudged.close());
  const check = createChecking(ports);
  const routing = createRouting({ ports, bells, haltsHeard: sweep.halts, quotes });
  const slicing = createSlicing({ ports, instruments, cancelling, bells, quotes });
  const amending = createAmending(ports, sweep.halts);
  const stepOf = steps({ check: firstStep(ports, slicing, check), routing, slicing, cancelling, amending });
  const drivers = createDrivers(ports, stepOf);
  heard.drivers = drivers;
  stops.push(drivers.stop);
  const reductions = createReductions({ ports, cancelling, amending, bells });
  heard.look = reductions.look;
  stops.push(reductions.stop);
  stops.push(...readBrokers({ ports, instruments, quotes }, heard.readers, bells));
  const taking = await keepTakingUp(ports, drivers, bells);
  stops.push(taking.stop);
  stops.push(trimKeys(ports));
  stops.push(carryOutActions({ ports, instruments, cancelling, bells }).stop);
  stops.push(settleOptions(ports, instruments, bells));
  const history = await hearHistory(ports);
  stops.push(() => history.close());

  const commands = createOrderCommands({ ports, drivers, cancelling, amending });
  const faults = createPaperFaults(ports);
  const lists = createOrderLists(ports, instruments);
  const submit = createSubmitting(ports, drivers, quotes);
  const signals = createSignals(ports, submit);
  stops.push(signals.stop);
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
  const rpc: RpcService = { name: "Oms", handlers };
  return {
    rpc: [rpc],
    health: () => healthOf(heard.readers, taking.unknown()),
    stop: async () => {
      for (const stop of stops.splice(0).reverse()) await stop();
    },
  };
}

/** Gives the functions that end them. */
function readBrokers(
  parts: BookingParts,
  readers: Map<string, ReportReader>,
  bells: Bells,
): readonly ReportReader["stop"][] {
  for (const broker of parts.ports.brokers) readers.set(broker.name, readReports(parts, broker, bells));
  return [...readers.values()].map(({ stop }) => stop);
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
  const ending = new AbortController();
  let unknown = 0;
  const takeUp = async (): Promise<number> => {
    const open = await ports.store.transact("oms.look", (unit) => unit.oms.openOrders(), { isOneStatement: true });
    for (const stored of open) {
      const { order } = stored;
      if (!rests(stored)) drivers.takeUp(order.order_id);
      if (order.reduce_only === true) bells.position(order.fund_id, order.symbol);
    }
    unknown = open.filter(({ state }) => state === "UNKNOWN").length;
    return open.length;
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await ports.timers.sleep(takeUpEveryMs, ending.signal);
      if (ending.signal.aborted) return;
      try {
        await takeUp();
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        ports.log.debug("open orders cannot be looked through", { error: messageOf(thrown) });
      }
    }
  };
  const orders = await takeUp();
  if (orders > 0) ports.log.info("open orders are taken up again", { orders });
  const running = run();
  return {
    unknown: () => unknown,
    stop: async () => {
      ending.abort();
      await running;
    },
  };
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
