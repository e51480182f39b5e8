// One decision of a strategy: look, form an opinion, write it down with the next number, and hand the orders that follow from it in at the front door.
//
//  1. The number is durable before the first order is handed in, and orders are named by it: after a crash no order is handed in twice, because
//     no name is ever used again. What was not handed in is not made up for; the next decision sees what became of the rest.
//  2. Only `live` hands anything in. `shadow` forms opinions, `halted` does nothing; both cancel what is still open. What a watchdog shadows hands in
//     and keeps reductions of the strategy's own positions, and nothing else.
//  3. A refusal is an answer: the door, the risk engine or the broker said no. Only silence is trouble.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, minusMilliseconds, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import {
  type EffectiveStrategy,
  effectiveStrategy,
  reducingTargets,
  reductionsOf,
} from "../../core/blocks/effective-strategy.ts";
import type { Strategy, StrategyInput, StrategyOpinion } from "../../core/strategies/shape.ts";
import { strategyOrders } from "../../core/strategies/strategy-orders.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { StoredSignal, StoredStrategy } from "../../ports/research-records.ts";
import { paperActor, paperReason } from "../shared/paper-seeds.ts";
import type { ServicePorts } from "../shared/service.ts";
import {
  freshNav,
  isPaperStrategy,
  olderThan,
  type ReferenceReader,
  readBooks,
  type StrategyBooks,
} from "./fund-view.ts";
import type { MarketView } from "./market-view.ts";

export type DecidePorts = Pick<
  ServicePorts,
  "clock" | "log" | "store" | "riskStore" | "referenceData" | "riskChecks" | "orderManagement" | "settings"
>;

/** What a strategy remembers between two decisions; a restart may forget it. */
export interface DecideMemory {
  /** When signals were written down the last time, and until when nothing is handed in because a halt refused it. */
  signalledAt: number;
  quietUntil: number;
  /** Whether nothing more shall be handed in because the service stops. */
  isStopping: () => boolean;
}

/** Signals are written down this often, and judged by the return over this long. */
export const signalEveryMs = 60_000;
const horizonS = 300;
/** An order that did not trade for this long is cancelled. */
const restMs = 40_000;
/** After the door refused because of a halt or a flatten, it is asked again only this much later. */
const haltedPauseMs = 60_000;
const shutDoor: ReadonlySet<string> = new Set(["ORDER_HALTED", "ORDER_FUND_FLATTENING"]);
/** Strategies stop at four fifths of every limit. */
const limitShare = decimal.parse("0.8");

export async function decide(
  strategy: Strategy,
  ports: DecidePorts,
  market: MarketView,
  references: ReferenceReader,
  memory: DecideMemory,
): Promise<void> {
  const { reference, instruments } = await references.current();
  if (!isPaperStrategy(reference, strategy.fundId, strategy.name)) return;
  const books = await readBooks(ports, strategy.fundId, strategy.name);
  const stored = books.strategy ?? (await enlist(strategy, ports));
  const now = ports.clock.now();
  const allowed = effectiveStrategy(stored, books.restrictions);
  const isTrading = allowed.status === "live" || allowed.onlyReduces;
  for (const { order, state } of unwanted(books, allowed, minusMilliseconds(now, restMs))) {
    if (state === "CANCEL_PENDING") continue;
    await ports.orderManagement.cancel(order.order_id, `${strategy.name} no longer wants it`);
  }
  if (allowed.status === "halted") return;
  const nav = await freshNav(ports, strategy.fundId, ports.settings.risk.navAgeMsMax);
  if (nav === undefined) return;
  const seen = await lookAt(strategy, market, strategy.watches(instruments));
  const { closes, prices } = seen;
  const { allocationPct } = allowed;
  const input: StrategyInput = { closes, prices, instruments, positions: books.positions, nav, allocationPct, at: now };
  const opinion = strategy.judge(input);
  if (opinion.signals.length === 0) return;
  const decision = await writeDown(strategy, ports, opinion, prices, memory);
  if (!isTrading || now < memory.quietUntil) return;
  const { targets } = opinion;
  const wanted = { ...opinion, targets: allowed.onlyReduces ? reducingTargets(targets, books.positions) : targets };
  const orders = await ordersOf({ strategy, ports, input, opinion: wanted, books, market, decision });
  await handIn(ports, allowed.onlyReduces ? reductionsOf(orders, books.positions) : orders, memory);
}

/** What the strategy has open and shall not have: what rested too long, and what it may not do now. */
function unwanted(
  { open, positions }: StrategyBooks,
  allowed: EffectiveStrategy,
  before: Instant,
): readonly StoredOrder[] {
  const old = olderThan(open, before);
  if (allowed.status === "live") return old;
  if (!allowed.onlyReduces) return open;
  const kept = new Set(
    reductionsOf(
      open.map(({ order }) => order),
      positions,
    ).map(({ order_id: id }) => id),
  );
  return open.filter((stored) => old.includes(stored) || !kept.has(stored.order.order_id));
}

/** The strategy's first row: it begins live, with the allocation it was made for. */
async function enlist(strategy: Strategy, ports: DecidePorts): Promise<StoredStrategy> {
  const { name: strategyId, fundId, allocationPct } = strategy;
  return ports.store.transact("research.seed", async (unit) => {
    const known = await unit.research.lockStrategy(strategyId);
    if (known !== undefined) return known;
    const stored: StoredStrategy = { strategyId, fundId, status: "live", allocationPct };
    await unit.research.putStrategy(stored);
    await unit.events.publish(subjects.strategyChanged, {
      strategy_id: strategyId,
      fund_id: fundId,
      status: "live",
      allocation_pct: allocationPct,
      changed_by: paperActor,
      reason: paperReason,
      at: format(ports.clock.now()),
    });
    return stored;
  });
}

async function lookAt(strategy: Strategy, market: MarketView, symbols: readonly string[]) {
  const closes = new Map<string, readonly number[]>();
  const prices = new Map<string, decimal.Decimal>();
  for (const symbol of symbols) {
    const now = market.price(symbol);
    if (now === undefined) continue;
    prices.set(symbol, now.price);
    // Nobody forms an opinion on an option from its past.
    if (strategy.signalled.includes(symbol)) closes.set(symbol, await market.closes(symbol, strategy.lookback));
  }
  return { closes, prices };
}

async function writeDown(
  strategy: Strategy,
  ports: DecidePorts,
  opinion: StrategyOpinion,
  prices: ReadonlyMap<string, decimal.Decimal>,
  memory: DecideMemory,
): Promise<number> {
  const at = ports.clock.now();
  const isDue = at >= plusMilliseconds(memory.signalledAt as typeof at, signalEveryMs);
  const signals = (isDue ? opinion.signals : []).flatMap(({ symbol, value }): StoredSignal[] => {
    const price = prices.get(symbol);
    return price === undefined ? [] : [{ strategyId: strategy.name, symbol, at, value, price, horizonS }];
  });
  const decision = await ports.store.transact("research.decide", async (unit) => {
    if (signals.length > 0) await unit.research.insertSignals(signals);
    return unit.research.takeDecision(strategy.name);
  });
  if (signals.length > 0) memory.signalledAt = at;
  return decision;
}

async function ordersOf(given: {
  readonly strategy: Strategy;
  readonly ports: DecidePorts;
  readonly input: StrategyInput;
  readonly opinion: StrategyOpinion;
  readonly books: StrategyBooks;
  readonly market: MarketView;
  readonly decision: number;
}): Promise<readonly Order[]> {
  const { strategy, ports, input, opinion, books, market, decision } = given;
  const { instruments, nav } = input;
  const envelope = await ports.riskChecks.envelope(strategy.fundId);
  // Without limits nothing may be traded, and without the paper broker nothing is.
  if (envelope === undefined || !envelope.allowed_brokers.includes("paper")) return [];
  // Everything that the fund holds counts, also what other strategies watch.
  const watched = [...books.lines.map(({ symbol }) => symbol), ...input.prices.keys()];
  const held = [...new Set(watched.flatMap((symbol) => [symbol, instruments.get(symbol)?.underlying ?? symbol]))];
  const prices = new Map(held.map((symbol) => [symbol, market.price(symbol)?.price] as const));
  const unpriced = books.lines.filter(({ symbol, quantity }) => quantity !== 0n && prices.get(symbol) === undefined);
  if (unpriced.length > 0) return [];
  const known = new Map(
    [...prices].flatMap(([symbol, price]) => (price === undefined ? [] : [[symbol, price] as const])),
  );
  const deltas = new Map([...known.keys()].flatMap((symbol) => deltaOf(market, symbol)));
  const quotes = new Map([...known.keys()].flatMap((symbol) => quoteOf(market, symbol)));
  return strategyOrders({
    strategy,
    input,
    opinion,
    room: { lines: books.lines, prices: known, deltas, instruments, nav, envelope, share: limitShare },
    quotes,
    busy: books.busy,
    openCount: books.open.length,
    decision,
    seed: ports.settings.market.seed,
    broker: "paper",
  });
}

function deltaOf(market: MarketView, symbol: string) {
  const delta = market.price(symbol)?.delta;
  return delta === undefined ? [] : [[symbol, delta] as const];
}

function quoteOf(market: MarketView, symbol: string) {
  const seen = market.price(symbol);
  return seen === undefined ? [] : [[symbol, { bid: seen.bid, ask: seen.ask }] as const];
}

async function handIn(ports: DecidePorts, orders: readonly Order[], memory: DecideMemory): Promise<void> {
  for (const order of orders) {
    if (memory.isStopping()) return;
    const given = await ports.orderManagement.submit(order);
    const refusal = "denial" in given ? given.denial.code : given.answer.code;
    if (refusal === undefined || refusal === "") continue;
    ports.log.debug("an order was refused", { order_id: order.order_id, code: refusal });
    if (!shutDoor.has(refusal)) continue;
    // The rest would meet the same.
    memory.quietUntil = plusMilliseconds(ports.clock.now(), haltedPauseMs);
    return;
  }
}
