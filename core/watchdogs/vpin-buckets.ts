// Bulk volume classification, bar by bar: each bar's volume is split into buys and sells by how far its price moved beside what is usual, and
// poured into buckets of equal volume. The state is plain JSON, the half-filled bucket included, so that a restart goes on where it was.
import { normalCdf, studentCdf } from "../stats/distributions.ts";
import { standardDeviation, sum } from "../stats/moments.ts";

interface Bar {
  readonly close: number;
  readonly volume: number;
}

export interface Bucket {
  readonly volume: number;
  readonly buy: number;
}

export type BuyFraction = (change: number, deviation: number) => number;

/** Phi of the standardised move; without any usual move a move is all buys or all sells. */
export function normalBuyFraction(change: number, deviation: number): number {
  if (deviation > 0) return normalCdf(change / deviation);
  return fractionOfSign(change);
}

export function studentBuyFraction(freedom: number): BuyFraction {
  return (change, deviation) => (deviation > 0 ? studentCdf(change / deviation, freedom) : fractionOfSign(change));
}

const fractionOfSign = (change: number): number => (change === 0 ? 0.5 : change > 0 ? 1 : 0);

/** One bar fills at most so many buckets: at 50 a day, half a year's volume. More is no volume, and filling them would not end. */
export const bucketsPerBarMax = 6_000;

/** What is missing to a full bucket or bar by less than this share of it is a rounding of the sums, no volume. */
const rounding = 1e-9;

/** Pours one bar into the bucket that is being filled; what overflows fills the next with the same fraction of buys. */
export function pour(
  partial: Bucket,
  bar: { readonly volume: number; readonly buyFraction: number },
  size: number,
): { readonly full: readonly Bucket[]; readonly partial: Bucket } {
  if (!(size > 0) || !(bar.volume <= size * bucketsPerBarMax)) {
    throw new RangeError(`A bar of ${bar.volume} does not fit into at most ${bucketsPerBarMax} buckets of ${size}.`);
  }
  const full: Bucket[] = [];
  let { volume, buy } = partial;
  let left = bar.volume;
  while (left > 0) {
    const room = size - volume;
    const taken = Math.min(room, left);
    buy += taken * bar.buyFraction;
    left -= taken;
    if (taken < room - size * rounding) {
      volume += taken;
      continue;
    }
    full.push({ volume: size, buy });
    [volume, buy] = [0, 0];
  }
  return { full, partial: { volume, buy } };
}

/** |buys - sells| as a share of the bucket. */
export const imbalanceOf = ({ volume, buy }: Bucket): number => Math.abs(2 * buy - volume) / volume;

/** The mean imbalance of the last `window` buckets; null until there are so many. */
export function vpinOf(imbalances: readonly number[], window: number): number | null {
  return imbalances.length < window ? null : sum(imbalances.slice(-window)) / window;
}

/** The usual move: over the trailing changes, the newest one included; null while there are fewer than `barsMin`. */
export function rollingDeviation(changes: readonly number[], bars: number, barsMin: number): number | null {
  const trailing = changes.slice(-bars);
  return trailing.length < Math.max(2, barsMin) ? null : standardDeviation(trailing);
}

/** From trades to bars of equal time; times without a trade make no bar. */
export function timeBars(trades: readonly Trade[], barMs: number): readonly Bar[] {
  const bars = new Map<number, Bar>();
  for (const { atMs, price, volume } of trades) {
    const slot = Math.floor(atMs / barMs);
    bars.set(slot, { close: price, volume: (bars.get(slot)?.volume ?? 0) + volume });
  }
  return [...bars.values()];
}

/** From trades to bars of exactly so much volume; a trade is split over their borders, and what fills no bar is left out. */
export function volumeBars(trades: readonly Trade[], size: number): readonly Bar[] {
  const bars: Bar[] = [];
  let volume = 0;
  for (const trade of trades) {
    if (!(size > 0) || !(trade.volume <= size * bucketsPerBarMax)) {
      throw new RangeError(`A trade of ${trade.volume} does not fit into at most ${bucketsPerBarMax} bars of ${size}.`);
    }
    volume += trade.volume;
    for (; volume >= size * (1 - rounding); volume -= size) bars.push({ close: trade.price, volume: size });
  }
  return bars;
}

interface Trade {
  readonly atMs: number;
  readonly price: number;
  readonly volume: number;
}
