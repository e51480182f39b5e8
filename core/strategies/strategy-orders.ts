// From an opinion to orders: small steps towards the targets, most of them priced to trade at once, some resting beside the market. A pure function of
// what it is given; chance comes from the decision's number.
//
//  1. At most `openMax` orders of the strategy are open, and at most one per symbol.
//  2. Every order fits under every limit with a fifth to spare, together with those before it.
//  3. No order crosses zero, and none opens a short position of anything but an option.
//  4. Its side fits what the whole fund holds and has open, not only what the strategy holds; what does not fit is left out.
import * as decimal from "../../contracts/src/decimal.ts";
import { format } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import type { Tif } from "../../contracts/src/records/values.ts";
import { type FundRoom, fitting, type HeldLine, withinSide } from "../envelope/within-envelope.ts";
import { fractionAt, laneOf } from "../paper/seeded-random.ts";
import { sideOf } from "./backtest-account.ts";
import { exactFraction, type Strategy, type StrategyInput, type StrategyOpinion } from "./shape.ts";

type Decimal = decimal.Decimal;

export interface OrderPlan {
  readonly strategy: Strategy;
  readonly input: StrategyInput;
  readonly opinion: StrategyOpinion;
  /** What the whole fund has, with the share of its limits that strategies use. */
  readonly room: FundRoom;
  readonly quotes: ReadonlyMap<string, { readonly bid: Decimal; readonly ask: Decimal }>;
  /** Symbols in which the strategy has an open order. */
  readonly busy: ReadonlySet<string>;
  /** How many of them there are. */
  readonly openCount: number;
  /** Grows with every decision and names its orders. */
  readonly decision: number;
  readonly seed: number;
  readonly broker: string;
}

export const openMax = 4;
/** Of the fund's NAV: what an ordinary order is about. */
const orderShare = 0.0004;
const stepsMax = 2;
const restEvery = 3;
/** How far through the market an order is priced to trade at once, and how far beside it one rests. */
const throughShare = 0.0005;
const besideShareMax = 0.0008;

interface Wanted {
  readonly symbol: string;
  readonly change: Decimal;
  readonly held: Decimal;
  readonly unit: Decimal;
  readonly instrument: Instrument;
}

export function strategyOrders(plan: OrderPlan): readonly Order[] {
  const busy = new Set(plan.busy);
  const lines = [...plan.room.lines];
  const orders: Order[] = [];
  const chance = (place: number): number =>
    fractionAt(laneOf(plan.seed, `${plan.strategy.name} ${plan.decision}`), place);
  const place = (wanted: Wanted, quantity: Decimal, terms: Terms): void => {
    if (decimal.sign(quantity) === 0 || orders.length + plan.openCount >= openMax) return;
    busy.add(wanted.symbol);
    orders.push(orderOf(plan, orders.length + 1, wanted, quantity, terms));
  };
  const fits = (wanted: Wanted, quantity: Decimal): Decimal => {
    const side = sideOf(wanted.held, quantity);
    const within = withinSide(
      lines.find(({ symbol }) => symbol === wanted.symbol),
      side,
      quantity,
    );
    return fitting({ ...plan.room, lines }, wanted.symbol, within);
  };

  const changes = wantedChanges(plan);
  for (const wanted of changes.slice(0, stepsMax)) {
    if (busy.has(wanted.symbol)) continue;
    const quantity = fits(wanted, step(plan, wanted, chance(orders.length)));
    place(wanted, quantity, through(plan, wanted, quantity));
    reserve(lines, wanted.symbol, quantity);
  }
  const idle = changes.filter(({ symbol }) => !busy.has(symbol));
  const resting = idle[Math.floor(chance(10) * idle.length)];
  if (plan.decision % restEvery === 0 && resting !== undefined) {
    const quantity = fits(resting, step(plan, resting, chance(11)));
    place(resting, quantity, beside(plan, resting, quantity, chance(12)));
  }
  return orders;
}

/** What is further from its target than an order is worth, the furthest first; ties go by name. */
function wantedChanges({ input, opinion, room, quotes }: OrderPlan): readonly Wanted[] {
  return opinion.targets
    .flatMap(({ symbol, quantity }) => {
      const instrument = input.instruments.get(symbol);
      const price = room.prices.get(symbol);
      if (instrument === undefined || price === undefined || !quotes.has(symbol)) return [];
      const held = input.positions.get(symbol) ?? decimal.zero;
      const whole = decimal.subtract(quantity, held);
      // A position is closed before the other side is opened.
      const crosses = decimal.sign(held) * decimal.sign(quantity) < 0;
      const change = crosses ? decimal.negate(held) : whole;
      const unit = decimal.multiply(price, decimal.parse(instrument.multiplier), "up");
      return decimal.sign(change) === 0 ? [] : [{ symbol, change, held, unit, instrument }];
    })
    .sort((one, other) => decimal.compare(notional(other), notional(one)) || (one.symbol < other.symbol ? -1 : 1));
}

function notional({ change, unit }: Wanted): Decimal {
  return decimal.multiply(decimal.abs(change), unit, "up");
}

/** A part of the way: about the same money every time, at least one lot, never further than the target. */
function step({ input }: OrderPlan, { change, unit, instrument }: Wanted, chance: number): Decimal {
  const money = decimal.multiply(input.nav, exactFraction(orderShare * (0.5 + chance)), "down");
  const lot = decimal.parse(instrument.lot_size);
  const lots = decimal.roundToIncrement(decimal.divide(money, unit, "down"), lot, "down");
  const quantity = decimal.min(decimal.max(lots, lot), decimal.abs(change));
  return decimal.sign(change) < 0 ? decimal.negate(quantity) : quantity;
}

interface Terms {
  readonly limitPrice: Decimal;
  readonly tif: Tif;
  readonly thesis: string;
}

function through(plan: OrderPlan, { symbol, instrument }: Wanted, quantity: Decimal): Terms {
  const isBuy = decimal.sign(quantity) > 0;
  const { bid, ask } = quoteOf(plan, symbol);
  const limitPrice = isBuy
    ? onTick(times(ask, 1 + throughShare), instrument, "ceiling")
    : onTick(times(bid, 1 - throughShare), instrument, "floor");
  return { limitPrice, tif: "DAY", thesis: "A step towards the target, at the market's price." };
}

function beside(plan: OrderPlan, { symbol, instrument }: Wanted, quantity: Decimal, chance: number): Terms {
  const isBuy = decimal.sign(quantity) > 0;
  const { bid, ask } = quoteOf(plan, symbol);
  const away = besideShareMax * (0.25 + 0.75 * chance);
  const limitPrice = isBuy
    ? onTick(times(bid, 1 - away), instrument, "floor")
    : onTick(times(ask, 1 + away), instrument, "ceiling");
  return { limitPrice, tif: "GTC", thesis: "A step towards the target, for whoever comes." };
}

function quoteOf({ quotes }: OrderPlan, symbol: string): { readonly bid: Decimal; readonly ask: Decimal } {
  return quotes.get(symbol) ?? { bid: decimal.zero, ask: decimal.zero };
}

function times(price: Decimal, factor: number): Decimal {
  return decimal.multiply(price, exactFraction(factor), "half-even");
}

/** On the tick, and never below one. */
function onTick(price: Decimal, { tick_size: tick }: Instrument, rounding: "floor" | "ceiling"): Decimal {
  const size = decimal.parse(tick);
  return decimal.max(size, decimal.roundToIncrement(price, size, rounding));
}

function reserve(lines: HeldLine[], symbol: string, quantity: Decimal): void {
  const place = lines.findIndex((line) => line.symbol === symbol);
  const {
    quantity: held,
    openBuys,
    openSells,
  } = lines[place] ?? {
    quantity: decimal.zero,
    openBuys: decimal.zero,
    openSells: decimal.zero,
  };
  const bought = decimal.max(quantity, decimal.zero);
  const sold = decimal.max(decimal.negate(quantity), decimal.zero);
  const line = {
    symbol,
    quantity: held,
    openBuys: decimal.add(openBuys, bought),
    openSells: decimal.add(openSells, sold),
  };
  if (place === -1) lines.push(line);
  else lines[place] = line;
}

function orderOf(plan: OrderPlan, place: number, wanted: Wanted, quantity: Decimal, terms: Terms): Order {
  const { strategy, decision, input, broker } = plan;
  const id = `${strategy.name}-${decision}-${place}`;
  return {
    idempotency_key: id,
    order_id: id,
    fund_id: strategy.fundId,
    strategy_id: strategy.name,
    symbol: wanted.symbol,
    side: sideOf(wanted.held, quantity),
    quantity: decimal.format(decimal.abs(quantity)),
    order_type: "LIMIT",
    limit_price: decimal.format(terms.limitPrice),
    tif: terms.tif,
    broker,
    asset_class: wanted.instrument.asset_class,
    currency: wanted.instrument.currency,
    actor: actorOf(strategy.name),
    thesis: terms.thesis,
    created_at: format(input.at),
  };
}

/** How orders of a strategy name who wants them; exits that others make for it are named otherwise. */
export function actorOf(strategyId: string): string {
  return `strategy:${strategyId}`;
}
