// Prices that are not believed yet, in the engine: what is held counts at the higher end, new risk in the symbol stops, and values of funds that hold it are a
// range (judge-value.ts). What is a jump, and when it is over, says core/exposure/price-jump.ts.
//
//  1. Each symbol is watched once for LIVE funds and once for PAPER funds: they see other prices, and a range of one is none of the other.
//  2. While no price is a range a check costs what it did; a mark costs a comparison.
//  3. Of an option only what its underlying does not explain is a jump, and nothing while its delta or its underlying's price is not known.

import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import { isSimulated, type Mark } from "../../../contracts/src/records/market.ts";
import { type ConditionBook, setConditions } from "../../blocks/condition-book.ts";
import { hearMark } from "../../exposure/hear-mark.ts";
import {
  hearOther,
  hearPrice,
  type PriceBound,
  type PriceRange,
  type PriceWatch,
  passPrices,
  rangeOf,
  restate,
  sourcesCollar,
  watchPrice,
} from "../../exposure/price-jump.ts";
import { noteChange } from "../../exposure/value-tables.ts";
import type { Ratio } from "../../ledger/corporate-actions.ts";
import { amountOf, isNothing, toDecimal } from "../../money/amount.ts";
import { priceText } from "../../money/price-text.ts";
import { positionAt, rowOf } from "../../state/fund-state.ts";
import { type Books, type FundBook, pricesOf, type SymbolBook } from "../../state/records.ts";

interface OpenPrice {
  readonly book: SymbolBook;
  readonly isPaper: boolean;
  readonly range: PriceRange;
}

/** What is needed of the engine's state. */
interface PriceState {
  readonly books: Books;
  readonly conditions: ConditionBook;
  readonly prices: PriceBook;
  readonly clockAt: Instant;
  readonly options: { readonly priceJumpMax?: Decimal | undefined };
}

/** A symbol that is about to be counted in other terms, and what it was. */
interface Restated {
  readonly symbol: string;
  readonly was?: { readonly symbol: string; readonly ratio: Ratio } | undefined;
}

export interface PriceBook {
  readonly live: Map<string, PriceWatch>;
  readonly paper: Map<string, PriceWatch>;
  /** Those that are a range now, by symbol and by who sees it. */
  readonly open: Map<string, OpenPrice>;
}

const ticksMin = 5n;

export function createPriceBook(): PriceBook {
  return { live: new Map(), paper: new Map(), open: new Map() };
}

/** The newest price of its kind counts; how far it is believed is found out beside it. */
export function takeMark(state: PriceState, mark: Mark): void {
  const taken = hearMark(state.books, mark);
  const max = state.options.priceJumpMax;
  if (max === undefined || !(taken.live || taken.paper)) return;
  const book = state.books.symbols.get(mark.symbol);
  if (book === undefined) return;
  if (taken.live) look(state, book, mark, false, max);
  if (taken.paper) look(state, book, mark, true, max);
}

/** A price of a source that may take over and does not count at present: it is only compared. */
export function compareMark(state: PriceState, { symbol, price, source }: Mark): void {
  const book = state.books.symbols.get(symbol);
  if (book === undefined || state.options.priceJumpMax === undefined) return;
  for (const isPaper of [false, true]) {
    const watch = (isPaper ? state.prices.paper : state.prices.live).get(symbol);
    if (watch === undefined || isSimulated(pricesOf(book, { isPaper }))) continue;
    hearOther(watch, decimal.parse(price), source, sourcesCollar, state.clockAt);
    follow(state, book, isPaper, watch);
  }
}

function look(state: PriceState, book: SymbolBook, mark: Mark, isPaper: boolean, max: Decimal): void {
  const watches = isPaper ? state.prices.paper : state.prices.live;
  const bound = boundOf(state, book, isPaper, max);
  if (bound === undefined) return;
  let watch = watches.get(book.symbol);
  if (watch === undefined) {
    watch = watchPrice();
    watches.set(book.symbol, watch);
  }
  hearPrice(watch, decimal.parse(mark.price), mark.source, bound, state.clockAt);
  follow(state, book, isPaper, watch);
}

/** Undefined where it cannot be judged (invariant 3). */
function boundOf(state: PriceState, book: SymbolBook, isPaper: boolean, max: Decimal): PriceBound | undefined {
  const { facts, option } = book;
  if (facts === undefined) return undefined;
  const bound = {
    max: book.jumpMax ?? max,
    least: (toDecimal(facts.tickSize) * ticksMin) as Decimal,
    collar: sourcesCollar,
  };
  if (option === undefined) return bound;
  const { underlying } = option;
  const { delta } = pricesOf(book, { isPaper });
  const price = underlying && pricesOf(underlying, { isPaper }).price;
  if (underlying === undefined || delta === undefined || price === undefined) return undefined;
  const watch = (isPaper ? state.prices.paper : state.prices.live).get(underlying.symbol);
  const lows = watch?.recent.map(({ low }) => low) ?? [];
  const highs = watch?.recent.map(({ high }) => high) ?? [];
  const moved = lows.length === 0 ? 0n : highs.reduce(decimal.max) - lows.reduce(decimal.min);
  const most = (toDecimal(price) * (underlying.jumpMax ?? max)) / decimal.one + moved;
  return { ...bound, distance: ((decimal.abs(toDecimal(delta)) * most) / decimal.one) as Decimal };
}

/** The clock moved on. */
export function passRanges(state: PriceState): void {
  const { open, live, paper } = state.prices;
  if (open.size === 0) return;
  for (const { book, isPaper } of [...open.values()]) {
    const watch = (isPaper ? paper : live).get(book.symbol);
    if (watch === undefined) continue;
    passPrices(watch, sourcesCollar, state.clockAt);
    follow(state, book, isPaper, watch);
  }
}

/** Between which prices of it are believed: while one has jumped, what counted before. */
export function believedOf({ prices }: Pick<PriceState, "prices">, symbol: string, isPaper: boolean) {
  const watch = (isPaper ? prices.paper : prices.live).get(symbol);
  return watch?.jump?.inside ?? watch?.last;
}

/** Those that the fund holds. */
export function openPricesOf({ prices }: Pick<PriceState, "prices">, fund: FundBook): readonly OpenPrice[] {
  if (prices.open.size === 0) return [];
  const isHeld = ({ book, isPaper }: OpenPrice): boolean =>
    isPaper === fund.isPaper && !isNothing(positionAt(fund, rowOf(fund, book.slot)));
  return [...prices.open.values()].filter(isHeld);
}

const keyOf = (symbol: string, isPaper: boolean): string => `${isPaper ? "PAPER" : "LIVE"} ${symbol}`;

/** Tells the rest of the engine what became of the watch. */
function follow(state: PriceState, book: SymbolBook, isPaper: boolean, watch: PriceWatch): void {
  const { books, prices: all, conditions } = state;
  const range = rangeOf(watch);
  const key = keyOf(book.symbol, isPaper);
  if (isSame(range, all.open.size === 0 ? undefined : all.open.get(key)?.range)) return;
  const prices = pricesOf(book, { isPaper });
  prices.highest = range && amountOf(range.high);
  prices.lowest = range && amountOf(range.low);
  noteChange(books, book, isPaper);
  if (range === undefined) {
    all.open.delete(key);
    setConditions(conditions, books, `price of ${key}`, []);
    return;
  }
  all.open.set(key, { book, isPaper, range });
  const { symbol } = book;
  const reason = reasonOf(book, range);
  const standing = { code: "PRICE_NOT_VOUCHED", symbol, isPaper, reason, since: range.since } as const;
  setConditions(conditions, books, `price of ${key}`, [standing]);
}

function isSame(now: PriceRange | undefined, before: PriceRange | undefined): boolean {
  return now?.low === before?.low && now?.high === before?.high && now?.since === before?.since;
}

function reasonOf({ facts }: SymbolBook, { low, high, cause }: PriceRange): string {
  const tick = facts && toDecimal(facts.tickSize);
  const ends = `${priceText(low, tick)} and ${priceText(high, tick)}`;
  return cause === "JUMP"
    ? `it moved between ${ends} at once, and no 5 s have confirmed it`
    : `its sources say anything between ${ends}, and have not agreed for 5 s`;
}

/** Symbols that are about to be counted in other terms: what their next price is held against is turned with them. */
export function restatePrices(state: PriceState, held: readonly Restated[]): void {
  for (const isPaper of [false, true]) {
    const watches = isPaper ? state.prices.paper : state.prices.live;
    const before = new Map(held.map(({ symbol }) => [symbol, watches.get(symbol)]));
    for (const { symbol, was } of held) {
      const watch = was && (before.get(was.symbol) ?? watches.get(was.symbol));
      end(state, symbol, isPaper);
      if (was === undefined || watch === undefined) continue;
      restate(watch, was.ratio);
      watches.set(symbol, watch);
    }
  }
}

/** Nobody knows the symbol any more. */
export function forgetWatches(state: PriceState): void {
  const { books, prices } = state;
  for (const [watches, isPaper] of [
    [prices.live, false],
    [prices.paper, true],
  ] as const) {
    for (const symbol of watches.keys()) {
      if (books.symbols.get(symbol) !== undefined) continue;
      end(state, symbol, isPaper);
      watches.delete(symbol);
    }
  }
}

function end({ books, prices, conditions }: PriceState, symbol: string, isPaper: boolean): void {
  const key = keyOf(symbol, isPaper);
  const open = prices.open.get(key);
  if (open === undefined) return;
  const known = pricesOf(open.book, { isPaper });
  known.highest = undefined;
  known.lowest = undefined;
  prices.open.delete(key);
  setConditions(conditions, books, `price of ${key}`, []);
  noteChange(books, open.book, isPaper);
}
