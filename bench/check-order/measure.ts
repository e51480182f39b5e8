// Percentiles and medians of what was measured.

export interface Latencies {
  readonly p50_ms: number;
  readonly p99_ms: number;
}

/** The value below which that share of the sorted samples lies; 0 without samples. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return 0;
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function latenciesOf(samplesMs: readonly number[]): Latencies {
  const sorted = Float64Array.from(samplesMs).sort();
  return { p50_ms: percentile(sorted, 0.5), p99_ms: percentile(sorted, 0.99) };
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return 0;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Three digits are more than such a machine can promise. */
export function rounded(value: number): number {
  return value === 0 ? 0 : Number(value.toPrecision(3));
}
