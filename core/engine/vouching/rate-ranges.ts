// Exchange rates that moved further at once than rates do: until one is confirmed, new risk in what it is the rate of waits, what is held counts at the higher end,
// and values of the funds in its two currencies at the lower one. What is a jump, and when it is over, says core/exposure/price-jump.ts.
//
//  1. A pair is watched in the direction that reference data has it; one that is turned round is held against what it was the other way.
//  2. The newest rate is the rate. Its ends count in what positions are worth, and nowhere else.
//  3. A fund's value lies between what it counted as when the rate jumped and what it is said to be now: cash counts by rates, too, and the engine knows none.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { FxRate } from "../../../contracts/src/records/reference.ts";
import { type ConditionBook, setConditions } from "../../blocks/condition-book.ts";
import { navOf } from "../../exposure/nav-limits.ts";
import {
  hearPrice,
  type PriceRange,
  type PriceWatch,
  passPrices,
  rangeOf,
  watchPrice,
} from "../../exposure/price-jump.ts";
import { noteEveryChange } from "../../exposure/value-tables.ts";
import { amountOf, toDecimal } from "../../money/amount.ts";
import type { Books, FundBook } from "../../state/records.ts";
import type { StandingCondition } from "../../state/standing-condition.ts";

interface OpenRate {
  readonly base: string;
  readonly quote: string;
  readonly range: PriceRange;
  /** By fund, when it jumped. */
  readonly navs: Map<string, Decimal>;
}

export interface RateBook {
  /** By pair. */
  readonly watches: Map<string, PriceWatch>;
  readonly open: Map<string, OpenRate>;
}

/** What is needed of the engine's state. */
interface RateState {
  readonly books: Books;
  readonly conditions: ConditionBook;
  readonly rates: RateBook;
  readonly clockAt: Instant;
  /** Undefined where any price is believed, as in replays. */
  readonly options: { readonly priceJumpMax?: Decimal | undefined };
}

const bound = { max: decimal.parse("0.05"), least: decimal.zero, collar: decimal.one };
/** Pairs that are gone are remembered up to so many: one that comes back is held against what it was. */
const watchesMax = 20_000;
/** Beyond so many symbols of a fund the whole fund waits. */
const symbolsMax = 1_000;

export function createRateBook(): RateBook {
  return { watches: new Map(), open: new Map() };
}

/** The rates of new reference data, before they replace those that are known. */
export function hearRates(state: RateState, said: readonly FxRate[]): void {
  if (state.options.priceJumpMax === undefined) return;
  const { watches, open } = state.rates;
  for (const { base, quote, rate } of said) {
    const watch = watches.get(keyOf(base, quote)) ?? watchOf(state, base, quote);
    watches.set(keyOf(base, quote), watch);
    hearPrice(watch, decimal.parse(rate), "reference", bound, state.clockAt);
  }
  const named = new Set(said.map(({ base, quote }) => keyOf(base, quote)));
  for (const [key, watch] of watches) {
    if (!named.has(key)) forget(state, key);
    else if (open.has(key) || rangeOf(watch) !== undefined) follow(state, key, watch);
    if (!named.has(key) && watches.size > watchesMax) watches.delete(key);
  }
}

/** The ends of what was just heard stand in the books, and what waits for them is known. Whoever calls it values everything anew. */
export function setRateRanges(state: RateState): void {
  for (const [key, { base, quote, range }] of state.rates.open) {
    const known = state.books.fx.get(base)?.get(quote);
    if (known !== undefined) {
      known.lowest = amountOf(range.low);
      known.highest = amountOf(range.high);
    }
    setConditions(state.conditions, state.books, sourceOf(key), conditionsOf(state, key));
  }
}

/** The clock moved on. */
export function passRates(state: RateState): void {
  const { open, watches } = state.rates;
  if (open.size === 0) return;
  let isOver = false;
  for (const [key, { base, quote }] of [...open]) {
    const watch = watches.get(key);
    if (watch === undefined) continue;
    passPrices(watch, bound.collar, state.clockAt);
    if (rangeOf(watch) !== undefined) continue;
    forget(state, key);
    isOver = true;
    const known = state.books.fx.get(base)?.get(quote);
    if (known === undefined) continue;
    known.lowest = undefined;
    known.highest = undefined;
  }
  if (isOver) noteEveryChange(state.books);
}

/** What the fund's value was before its rates jumped; none while no rate is a range. */
export function valueBeforeRates({ rates }: Pick<RateState, "rates">, fund: FundBook): readonly Decimal[] {
  if (rates.open.size === 0) return [];
  return [...rates.open.values()].flatMap(({ navs }) => navs.get(fund.id) ?? []);
}

/** A fund's value of before is known only now: after a restart rates are heard before values. */
export function noteValueBefore({ rates }: Pick<RateState, "rates">, { id, currency }: FundBook, value: Decimal): void {
  for (const { base, quote, navs } of rates.open.values()) {
    if ((base === currency || quote === currency) && !navs.has(id)) navs.set(id, value);
  }
}

/** The pair of a rate of the fund's that is not believed yet. */
export function openRateOf({ rates }: Pick<RateState, "rates">, { currency }: FundBook): string | undefined {
  if (rates.open.size === 0) return undefined;
  return [...rates.open].find(([, { base, quote }]) => base === currency || quote === currency)?.[0];
}

const keyOf = (base: string, quote: string): string => `${base}/${quote}`;
const sourceOf = (key: string): string => `rate of ${key}`;

/** Invariant 1. */
function watchOf({ books }: RateState, base: string, quote: string): PriceWatch {
  const watch = watchPrice();
  const inverse = books.fx.get(quote)?.get(base);
  const turned = inverse && toDecimal(inverse.rate);
  if (turned !== undefined && turned > 0n) {
    const rate = decimal.divide(decimal.one, turned, "half-even");
    watch.last = { low: rate, high: rate };
  }
  return watch;
}

function follow(state: RateState, key: string, watch: PriceWatch): void {
  const { rates, books } = state;
  const range = rangeOf(watch);
  if (range === undefined) {
    forget(state, key);
    return;
  }
  const [base = "", quote = ""] = key.split("/");
  rates.open.set(key, { base, quote, range, navs: rates.open.get(key)?.navs ?? navsOf(books, base, quote) });
}

function forget({ rates, books, conditions }: RateState, key: string): void {
  if (!rates.open.delete(key)) return;
  setConditions(conditions, books, sourceOf(key), []);
}

function fundsIn({ funds }: Books, base: string, quote: string): readonly FundBook[] {
  return [...funds.values()].filter(({ currency }) => currency === base || currency === quote);
}

function navsOf(books: Books, base: string, quote: string): Map<string, Decimal> {
  return new Map(
    fundsIn(books, base, quote).flatMap((fund) => {
      const nav = navOf(fund);
      return nav === undefined ? [] : [[fund.id, toDecimal(nav)] as const];
    }),
  );
}

function conditionsOf({ books, rates }: RateState, key: string): readonly StandingCondition[] {
  const open = rates.open.get(key);
  if (open === undefined) return [];
  const { base, quote, range } = open;
  const ends = `${decimal.format(range.low)} and ${decimal.format(range.high)}`;
  const reason = `the rate ${key} moved between ${ends} at once, and no 5 s have confirmed it`;
  return fundsIn(books, base, quote).flatMap((fund): StandingCondition[] => {
    const foreign = fund.currency === base ? quote : base;
    const symbols = [...books.symbols.values()].filter(({ facts }) => facts?.currency === foreign);
    const standing = { code: "PRICE_NOT_VOUCHED", fundId: fund.id, reason, since: range.since } as const;
    return symbols.length > symbolsMax ? [standing] : symbols.map(({ symbol }) => ({ ...standing, symbol }));
  });
}
