// Quantiles in the two ways that are used: interpolated between order statistics for statistics (type 7), nearest rank for latencies.

const ascending = (values: readonly number[]): number[] => [...values].sort((left, right) => left - right);

/** Type 7, as most statistics packages have it by default; null of nothing. */
export function quantile(values: readonly number[], q: number): number | null {
  return quantileOfSorted(ascending(values), q);
}

function quantileOfSorted(sorted: readonly number[], q: number): number | null {
  if (sorted.length === 0) return null;
  const position = (sorted.length - 1) * q;
  const index = Math.floor(position);
  const lower = sorted[index] ?? 0;
  const upper = sorted[index + 1] ?? lower;
  return lower + (upper - lower) * (position - index);
}

/** The smallest value that at least a share of q lies at or below; null of nothing. */
export function nearestRank(values: readonly number[], q: number): number | null {
  if (values.length === 0) return null;
  // q n may come out a hair above a whole number: 0.95 x 20 is 19, not the 20th.
  const rank = Math.ceil(Number((q * values.length).toPrecision(14)));
  return ascending(values)[Math.max(0, rank - 1)] ?? null;
}

export const median = (values: readonly number[]): number | null => quantile(values, 0.5);

/** 1 / the third quartile of the normal distribution: makes a normal sample's median absolute deviation its standard deviation. */
const normalMadFactor = 1.482_602_218_505_602;

/** The median absolute deviation, scaled to a standard deviation. */
export function scaledMad(values: readonly number[]): number | null {
  const middle = median(values);
  if (middle === null) return null;
  const deviation = median(values.map((value) => Math.abs(value - middle)));
  return deviation === null ? null : deviation * normalMadFactor;
}
