// Quotes as bars of a minute, as they come: open, high, low and close of the middles, and the same by slices of ten seconds, so that it can be said
// what had happened in the middle of a minute.
//
//  1. A minute is of when its quotes were heard, whatever they say of themselves.
//  2. A symbol that our own feed quotes is not mixed with what others say of it in the same minute.
//  3. A minute that was not listened to from its first moment to its last is cut.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import {
  fromMicroseconds,
  type Instant,
  later,
  microsecondsPerSecond,
  plusMicroseconds,
} from "../../../contracts/src/instant.ts";
import { listeningSymbol } from "../../../contracts/src/records/market.ts";
import type { BarSlice, MinuteBar } from "../../../ports/market-records.ts";

export const minuteUs = 60 * microsecondsPerSecond;
const sliceSeconds = 10;
/** Minutes that wait to be kept; of those before nothing is left. */
const waitingMax = 15;
/** In one minute; more than any platform lists. */
const symbolsMax = 100_000;

interface HeardPrice {
  readonly symbol: string;
  readonly price: Decimal;
  readonly source: string;
  /** From the feed that operations runs. */
  readonly isOwn: boolean;
}

export interface MinuteBars {
  hear(heard: HeardPrice, now: Instant): void;
  /** Minutes that are over, with a row of no symbol for each; each is given once, oldest first. */
  take(now: Instant): readonly MinuteBar[];
  /** Of the minute that is going on. */
  running(symbol: string, start: Instant): MinuteBar | undefined;
}

interface Running {
  bar: MinuteBar;
  readonly isOwn: boolean;
}

export const minuteOf = (at: Instant): Instant => fromMicroseconds(Math.floor(at / minuteUs) * minuteUs);

export function createMinuteBars(since: Instant): MinuteBars {
  const minutes = new Map<Instant, Map<string, Running>>();
  /** The first minute of which nothing was taken yet. */
  let next = minuteOf(since);

  const isCut = (start: Instant): boolean => start < since;

  function hear({ symbol, price, source, isOwn }: HeardPrice, now: Instant): void {
    const start = later(minuteOf(now), next);
    const bars = minutes.get(start) ?? new Map<string, Running>();
    minutes.set(start, bars);
    const before = bars.get(symbol);
    if (before === undefined && bars.size >= symbolsMax) return;
    if (before?.isOwn === true && !isOwn) return;
    const untilSecond = sliceEnd(start, now);
    if (before === undefined || (isOwn && !before.isOwn)) {
      const slices = [{ untilSecond, high: price, low: price, close: price, quoteCount: 1 }];
      const all = { open: price, high: price, low: price, close: price, quoteCount: 1 };
      bars.set(symbol, { bar: { symbol, start, ...all, source, cut: isCut(start), slices }, isOwn });
      return;
    }
    before.bar = { ...added(before.bar, price), source, slices: withPrice(before.bar.slices, price, untilSecond) };
  }

  function take(now: Instant): readonly MinuteBar[] {
    const current = minuteOf(now);
    const oldest = plusMicroseconds(current, -waitingMax * minuteUs);
    const taken: MinuteBar[] = [];
    for (let start = later(next, oldest); start < current; start = plusMicroseconds(start, minuteUs)) {
      taken.push(listened(start, isCut(start)));
      for (const { bar } of minutes.get(start)?.values() ?? []) taken.push(bar);
    }
    for (const start of [...minutes.keys()]) if (start < current) minutes.delete(start);
    next = later(next, current);
    return taken;
  }

  return { hear, take, running: (symbol, start) => minutes.get(start)?.get(symbol)?.bar };
}

function sliceEnd(start: Instant, now: Instant): number {
  const second = Math.floor((now - start) / microsecondsPerSecond);
  return Math.min(Math.max(Math.floor(second / sliceSeconds) + 1, 1) * sliceSeconds, 60);
}

function added<Prices extends Pick<BarSlice, "high" | "low" | "close" | "quoteCount">>(
  bar: Prices,
  price: Decimal,
): Prices {
  const [high, low] = [decimal.max(bar.high, price), decimal.min(bar.low, price)];
  return { ...bar, high, low, close: price, quoteCount: bar.quoteCount + 1 };
}

function withPrice(slices: readonly BarSlice[], price: Decimal, untilSecond: number): readonly BarSlice[] {
  const last = slices.at(-1);
  if (last !== undefined && last.untilSecond >= untilSecond) return [...slices.slice(0, -1), added(last, price)];
  return [...slices, { untilSecond, high: price, low: price, close: price, quoteCount: 1 }];
}

function listened(start: Instant, cut: boolean): MinuteBar {
  const none = { open: decimal.zero, high: decimal.zero, low: decimal.zero, close: decimal.zero, quoteCount: 0 };
  return { symbol: listeningSymbol, start, ...none, source: "operations", cut, slices: [] };
}
