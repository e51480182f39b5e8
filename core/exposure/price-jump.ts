// Whether a price can be believed: it moved no further than prices move, and those who say it agree. Where not, the price is a range until it is confirmed. Pure:
// whoever hears prices keeps a watch for each, and hands our own clock in, because a liar dates what he says as he likes.
//
// Invariants (price-jump.test.ts names them):
//  1. A price jumped when it lies above the highest or below the lowest counted price of the 5 s before it, and is further than its bound from that one or from
//     the one with which these 5 s began, and by five ticks: steps that are each small add up. Without one in these 5 s it is held against the last that
//     counted, however old.
//  2. A jump is over when a price comes back inside, or is confirmed when 5 s have passed by our clock since it was first heard and none did, also when none
//     came at all.
//  3. While it lasts the price is anything from the lowest to the highest of what counted before it and what was heard since.
//  4. Sources of one symbol that differ by more than a collar make a range of what they say, until they have agreed for 5 s, or one has been silent for so long.
//  5. What counted before a corporate action is held against a price after it in both terms: a split is no jump, and neither is one that came to nothing.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween, plusMilliseconds } from "../../contracts/src/instant.ts";
import { type Ratio, scaled } from "../ledger/corporate-actions.ts";

/** From the lowest to the highest price that may be true. */
export interface PriceRange {
  readonly low: Decimal;
  readonly high: Decimal;
  readonly since: Instant;
  readonly cause: "JUMP" | "SOURCES";
}

interface Ends {
  low: Decimal;
  high: Decimal;
}

interface Counted extends Ends {
  /** Of our clock. */
  readonly second: number;
  /** What counted last before that second. */
  readonly from: Readonly<Ends>;
}

/** What a price is held against: all that counted in the last seconds, and what counted when they began. */
interface Inside extends Readonly<Ends> {
  readonly from: Readonly<Ends>;
}

interface Jump {
  readonly inside: Inside;
  readonly heard: Ends;
  last: Decimal;
  readonly since: Instant;
}

interface Differing extends Ends {
  readonly since: Instant;
  agreedSince: Instant | undefined;
}

export interface PriceWatch {
  /** Of the last seconds, oldest first. */
  recent: Counted[];
  /** The last that counted; two before a corporate action is known to have changed it. */
  last: Readonly<Ends> | undefined;
  jump: Jump | undefined;
  readonly sources: Map<string, { readonly price: Decimal; readonly at: Instant }>;
  differing: Differing | undefined;
}

/** What a price is held against. */
export interface PriceBound {
  /** As a fraction of the price before. */
  readonly max: Decimal;
  /** The least distance that is a jump: five ticks. */
  readonly least: Decimal;
  /** How far sources may differ, as a fraction. */
  readonly collar: Decimal;
  /** Of an option: how far its underlying alone may have moved it; only beyond that, too, it jumped. */
  readonly distance?: Decimal | undefined;
}

/** How long a jump stands before it is believed. */
export const confirmMs = 5_000;
/** As far as sources may differ: what an envelope's prices may lie from the mark when nobody says otherwise. */
export const sourcesCollar = decimal.parse("0.05");
const sourcesMax = 4;
const secondUs = 1_000_000;

export function watchPrice(): PriceWatch {
  return { recent: [], last: undefined, jump: undefined, sources: new Map(), differing: undefined };
}

/** One more price, heard now. */
export function hearPrice(watch: PriceWatch, price: Decimal, source: string, bound: PriceBound, now: Instant): void {
  passPrices(watch, bound.collar, now);
  const { jump } = watch;
  if (jump !== undefined) {
    if (isBeyond(price, jump.inside, bound)) {
      widen(jump.heard, price);
      jump.last = price;
    } else {
      watch.jump = undefined;
      count(watch, price, now);
    }
  } else {
    const inside = before(watch, now);
    if (inside === undefined || !isBeyond(price, inside, bound)) count(watch, price, now);
    else watch.jump = { inside, heard: { low: price, high: price }, last: price, since: now };
  }
  hearSource(watch, price, source, now);
  compare(watch, bound.collar, now);
}

/** One of a source that does not count at present, which may differ all the same. */
export function hearOther(watch: PriceWatch, price: Decimal, source: string, collar: Decimal, now: Instant): void {
  passPrices(watch, collar, now);
  hearSource(watch, price, source, now);
  compare(watch, collar, now);
}

/** What the passing of time makes of it: a jump that nobody contradicted is confirmed, and who is silent differs from nobody. */
export function passPrices(watch: PriceWatch, collar: Decimal, now: Instant): void {
  const { jump } = watch;
  if (jump !== undefined && millisecondsBetween(jump.since, now) >= confirmMs) {
    watch.jump = undefined;
    watch.recent = [];
    watch.last = undefined;
    count(watch, jump.last, now);
  }
  if (watch.differing !== undefined) compare(watch, collar, now);
}

/** Undefined while the newest price is the price. */
export function rangeOf({ jump, differing }: PriceWatch): PriceRange | undefined {
  if (jump === undefined && differing === undefined) return undefined;
  const ends: Readonly<Ends>[] = [];
  if (jump !== undefined) ends.push(jump.inside, jump.heard);
  if (differing !== undefined) ends.push(differing);
  return {
    low: ends.map(({ low }) => low).reduce(decimal.min),
    high: ends.map(({ high }) => high).reduce(decimal.max),
    since: (jump ?? differing)?.since as Instant,
    cause: jump === undefined ? "SOURCES" : "JUMP",
  };
}

/** A corporate action is about to change what one is: what comes after is held against what counted in the old terms, and in the new ones. */
export function restate(watch: PriceWatch, ratio: Ratio): void {
  const last = watch.jump?.inside ?? watch.last;
  const turned = last && { low: scaled(last.low, ratio), high: scaled(last.high, ratio) };
  watch.last = last && turned && { low: decimal.min(last.low, turned.low), high: decimal.max(last.high, turned.high) };
  watch.recent = [];
  watch.jump = undefined;
  watch.differing = undefined;
  watch.sources.clear();
}

function before({ recent, last }: PriceWatch, now: Instant): Inside | undefined {
  const begun = Math.floor((now - confirmMs * 1_000) / secondUs);
  const young = recent.filter(({ second }) => second >= begun);
  const [first, ...others] = young;
  if (first === undefined) return last && { ...last, from: last };
  const { low, high, from } = first;
  const ends = { low, high, from };
  for (const { low, high } of others) {
    widen(ends, low);
    widen(ends, high);
  }
  return ends;
}

function count(watch: PriceWatch, price: Decimal, now: Instant): void {
  const second = Math.floor(now / secondUs);
  const newest = watch.recent.at(-1);
  const ends = { low: price, high: price };
  const { last: from = ends } = watch;
  watch.last = ends;
  if (newest?.second === second) {
    widen(newest, price);
    return;
  }
  const begun = second - confirmMs / 1_000;
  // A clock that was set back keeps nothing young for ever.
  watch.recent = [
    ...watch.recent.filter((one) => one.second >= begun && one.second < second),
    { second, ...ends, from },
  ];
}

function widen(ends: Ends, price: Decimal): void {
  if (price < ends.low) ends.low = price;
  if (price > ends.high) ends.high = price;
}

/** Invariant 1. */
function isBeyond(price: Decimal, inside: Inside, bound: PriceBound): boolean {
  if (price <= inside.high && price >= inside.low) return false;
  return isFar(price, inside, bound) || isFar(price, inside.from, bound);
}

function isFar(price: Decimal, { low, high }: Readonly<Ends>, { max, least, distance }: PriceBound): boolean {
  const nearest = price > high ? high : price < low ? low : price;
  const far = price > nearest ? price - nearest : nearest - price;
  if (far === 0n || far < least) return false;
  return far * decimal.one > nearest * max && (distance === undefined || far > distance);
}

function hearSource({ sources }: PriceWatch, price: Decimal, source: string, now: Instant): void {
  if (!sources.has(source) && sources.size >= sourcesMax) return;
  sources.set(source, { price, at: now });
}

function compare(watch: PriceWatch, collar: Decimal, now: Instant): void {
  const { sources, differing } = watch;
  if (sources.size < 2 && differing === undefined) return;
  for (const [source, { at }] of sources) {
    const silentMs = millisecondsBetween(at, now);
    if (silentMs >= confirmMs || silentMs < 0) sources.delete(source);
  }
  const said = [...sources.values()].map(({ price }) => price);
  const [first, ...others] = said;
  if (first === undefined || others.length === 0) {
    watch.differing = undefined;
    return;
  }
  const ends = { low: said.reduce(decimal.min), high: said.reduce(decimal.max) };
  const isDiffering = (ends.high - ends.low) * decimal.one > ends.low * collar;
  if (isDiffering) {
    watch.differing = { ...ends, since: differing?.since ?? now, agreedSince: undefined };
  } else if (differing !== undefined) {
    differing.agreedSince ??= now;
    if (now >= plusMilliseconds(differing.agreedSince, confirmMs)) watch.differing = undefined;
  }
}
