// Fills of one instrument matched into lots. A fill that crosses zero closes what is held, then opens the other side. Everything is exact; a fee is split
// over the lots that its fill touches, and the last of them takes what rounding left, so that fees add up.
//
//  1. Quantities: opened less closed is what is still open.
//  2. Realised net + unrealised on open lots - fees of open lots = cash of all fills + value of what is held.
import * as decimal from "../../contracts/src/decimal.ts";
import { compareText, daysBetween } from "./dates.ts";

type Decimal = decimal.Decimal;
export type LotMethod = "FIFO" | "LIFO" | "HIFO";
export const lotMethods: readonly LotMethod[] = ["FIFO", "LIFO", "HIFO"];

export interface LotFill {
  /** The trade date, in the market's own zone; or a moment whose text sorts by time and begins with that date. */
  readonly at: string;
  /** +1 for BUY and BUY_TO_COVER, -1 for SELL and SELL_SHORT. */
  readonly direction: 1 | -1;
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fee: Decimal;
  /** A split: what is held becomes more or less of the same, and nothing is bought or sold. */
  readonly isSplit?: boolean;
}

interface OpenLot {
  readonly openedAt: string;
  /** Below zero for a short lot. */
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fees: Decimal;
}

type Term = "SHORT_TERM" | "LONG_TERM";

export interface ClosedLot {
  readonly openedAt: string;
  readonly closedAt: string;
  readonly quantity: Decimal;
  readonly direction: "LONG" | "SHORT";
  readonly openPrice: Decimal;
  readonly closePrice: Decimal;
  readonly gross: Decimal;
  readonly fees: Decimal;
  readonly net: Decimal;
  readonly holdingDays: number;
  readonly term: Term;
}

interface Lots {
  readonly closed: readonly ClosedLot[];
  readonly open: readonly OpenLot[];
}

interface Held {
  readonly openedAt: string;
  readonly direction: 1 | -1;
  price: Decimal;
  quantity: Decimal;
  fees: Decimal;
}

/** Fills are taken in the order of their moments, those of one moment in the order given. The multiplier is what one unit of price is worth. */
export function matchLots(fills: readonly LotFill[], method: LotMethod, multiplier: Decimal = decimal.one): Lots {
  const held: Held[] = [];
  const closed: ClosedLot[] = [];
  for (const fill of [...fills].sort((one, other) => compareText(one.at, other.at))) {
    if (fill.isSplit === true && divided(held, fill)) continue;
    let rest = fill.quantity;
    let fees = fill.fee;
    while (rest > 0n && held[0] !== undefined && held[0].direction !== fill.direction) {
      const lot = held[nextLot(held, method)] ?? held[0];
      const quantity = decimal.min(rest, lot.quantity);
      const closing = share(fees, quantity, rest);
      const opening = share(lot.fees, quantity, lot.quantity);
      closed.push(closedLot(lot, fill, quantity, decimal.add(closing, opening), multiplier));
      lot.fees = decimal.subtract(lot.fees, opening);
      lot.quantity = decimal.subtract(lot.quantity, quantity);
      fees = decimal.subtract(fees, closing);
      rest = decimal.subtract(rest, quantity);
      if (lot.quantity === 0n) held.splice(held.indexOf(lot), 1);
    }
    if (rest > 0n) {
      held.push({ openedAt: fill.at, direction: fill.direction, price: fill.price, quantity: rest, fees });
    }
  }
  const open = held.map(({ openedAt, direction, quantity, price, fees }) => ({
    openedAt,
    quantity: direction === 1 ? quantity : decimal.negate(quantity),
    price,
    fees,
  }));
  return { closed, open };
}

const times = (left: Decimal, right: Decimal): Decimal => decimal.multiply(left, right, "half-even");

/** Every lot keeps its cost and its day. False where nothing is left to be divided: the whole position went to another symbol. */
function divided(held: readonly Held[], { direction, quantity }: LotFill): boolean {
  const before = held.reduce((sum, lot) => decimal.add(sum, lot.quantity), decimal.zero);
  const change = held[0]?.direction === direction ? quantity : decimal.negate(quantity);
  const after = decimal.add(before, change);
  if (before === decimal.zero || after <= 0n) return false;
  let rest = after;
  for (const [index, lot] of held.entries()) {
    const part = index === held.length - 1 ? rest : decimal.divide(times(after, lot.quantity), before, "half-even");
    lot.price = decimal.divide(times(lot.price, lot.quantity), part, "half-even");
    lot.quantity = part;
    rest = decimal.subtract(rest, part);
  }
  return true;
}

/** HIFO closes first what leaves the smallest gain: the dearest lot bought, the cheapest lot sold short. Equal prices go oldest first. */
function nextLot(held: readonly Held[], method: LotMethod): number {
  if (method === "FIFO") return 0;
  if (method === "LIFO") return held.length - 1;
  let best = 0;
  for (const [index, lot] of held.entries()) {
    const bestPrice = held[best]?.price ?? lot.price;
    if (lot.direction === 1 ? lot.price > bestPrice : lot.price < bestPrice) best = index;
  }
  return best;
}

/** The part of an amount that belongs to a part of a quantity; the whole of it for the whole. */
function share(amount: Decimal, part: Decimal, whole: Decimal): Decimal {
  if (part === whole) return amount;
  // Both factors stay within a decimal's digits because part < whole.
  return decimal.multiply(amount, decimal.divide(part, whole, "half-even"), "half-even");
}

function closedLot(lot: Held, fill: LotFill, quantity: Decimal, fees: Decimal, multiplier: Decimal): ClosedLot {
  const difference = decimal.subtract(fill.price, lot.price);
  const moved = decimal.multiply(decimal.multiply(quantity, difference, "half-even"), multiplier, "half-even");
  const gross = lot.direction === 1 ? moved : decimal.negate(moved);
  return {
    openedAt: lot.openedAt,
    closedAt: fill.at,
    quantity,
    direction: lot.direction === 1 ? "LONG" : "SHORT",
    openPrice: lot.price,
    closePrice: fill.price,
    gross,
    fees,
    net: decimal.subtract(gross, fees),
    holdingDays: daysBetween(lot.openedAt, fill.at),
    term: lot.direction === 1 && isLongTerm(lot.openedAt, fill.at) ? "LONG_TERM" : "SHORT_TERM",
  };
}

const dateOf = (at: string): string => at.slice(0, 10);

/** More than one year: the holding begins the day after the purchase, so the anniversary itself is still short-term. */
export function isLongTerm(openedAt: string, closedAt: string): boolean {
  const opened = dateOf(openedAt);
  const year = String(Number(opened.slice(0, 4)) + 1).padStart(4, "0");
  const monthAndDay = opened.slice(4);
  const anniversary = monthAndDay === "-02-29" ? `${year}-02-28` : `${year}${monthAndDay}`;
  return dateOf(closedAt) > anniversary;
}

export interface TradeStatistics {
  readonly n: number;
  readonly net: Decimal;
  readonly winRate: number | null;
  /** Null without a loss. */
  readonly profitFactor: number | null;
  readonly expectancy: number | null;
  readonly averageWin: number | null;
  readonly averageLoss: number | null;
  readonly payoff: number | null;
  /** The best and the worst result, whatever their signs. */
  readonly best: Decimal | null;
  readonly worst: Decimal | null;
}

export function tradeStatistics(closed: readonly { readonly net: Decimal }[]): TradeStatistics {
  const nets = closed.map(({ net }) => net);
  const [won, lost] = [nets.filter((net) => net > 0n), nets.filter((net) => net < 0n)];
  const [gain, loss] = [total(won), decimal.abs(total(lost))];
  const averageWin = average(won);
  const averageLoss = average(lost);
  return {
    n: nets.length,
    net: total(nets),
    winRate: nets.length === 0 ? null : won.length / nets.length,
    profitFactor: loss === 0n ? null : decimal.toNumber(gain) / decimal.toNumber(loss),
    expectancy: average(nets),
    averageWin,
    averageLoss,
    payoff: averageWin === null || averageLoss === null ? null : averageWin / Math.abs(averageLoss),
    best: nets.reduce<Decimal | null>((best, net) => (best === null || net > best ? net : best), null),
    worst: nets.reduce<Decimal | null>((worst, net) => (worst === null || net < worst ? net : worst), null),
  };
}

export const total = (amounts: readonly Decimal[]): Decimal => amounts.reduce(decimal.add, decimal.zero);

const average = (amounts: readonly Decimal[]): number | null =>
  amounts.length === 0 ? null : decimal.toNumber(total(amounts)) / amounts.length;

/** Net by the year of the closing trade's date (never its settlement's) and by term; years ascending. */
export function netByYear(closed: readonly ClosedLot[]): ReadonlyMap<string, Readonly<Record<Term, Decimal>>> {
  const years = [...new Set(closed.map(({ closedAt }) => closedAt.slice(0, 4)))].sort(compareText);
  const of = (year: string, term: Term): Decimal =>
    total(closed.filter((lot) => lot.closedAt.startsWith(year) && lot.term === term).map(({ net }) => net));
  return new Map(years.map((year) => [year, { SHORT_TERM: of(year, "SHORT_TERM"), LONG_TERM: of(year, "LONG_TERM") }]));
}
