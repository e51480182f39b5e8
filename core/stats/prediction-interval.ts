// Where the sum of new observations lies when they come from the same source as a sample. The error of the sample's own mean is part of it: without
// that term a 99 % band misses 7 % after a year.
import { normalQuantile, studentCdf, studentQuantile } from "./distributions.ts";
import { mean, standardDeviation } from "./moments.ts";

export interface Sample {
  readonly mean: number;
  readonly deviation: number;
  readonly count: number;
}

/** Null with fewer than two values. */
export function sampleOf(values: readonly number[]): Sample | null {
  const [middle, deviation] = [mean(values), standardDeviation(values)];
  return middle === null || deviation === null ? null : { mean: middle, deviation, count: values.length };
}

interface Interval {
  readonly lower: number;
  readonly upper: number;
}

/** The standard error of the sum of `horizon` new observations about `horizon` times the sample's mean. */
const predictionError = ({ deviation, count }: Sample, horizon: number): number =>
  deviation * Math.sqrt(horizon + (horizon * horizon) / count);

export const criticalValue = ({ count }: Sample, confidence: number): number =>
  studentQuantile((1 + confidence) / 2, count - 1);

export function predictionInterval(sample: Sample, horizon: number, confidence: number): Interval {
  const reach = criticalValue(sample, confidence) * predictionError(sample, horizon);
  return { lower: sample.mean * horizon - reach, upper: sample.mean * horizon + reach };
}

/** The same from the long-run variance, for observations whose neighbours resemble each other. */
export function longRunInterval(middle: number, variance: number, horizon: number, confidence: number): Interval {
  const reach = normalQuantile((1 + confidence) / 2) * Math.sqrt(horizon * variance);
  return { lower: middle * horizon - reach, upper: middle * horizon + reach };
}

/** How many standard errors a sum lies from its expectation; null when the sample never moved. */
export function standardisedDeviation(sample: Sample, horizon: number, sum: number): number | null {
  const error = predictionError(sample, horizon);
  return error > 0 ? (sum - sample.mean * horizon) / error : null;
}

/** How likely a healthy sum lies at least as far out, on either side. */
export const twoSidedP = ({ count }: Sample, z: number): number => 2 * studentCdf(-Math.abs(z), count - 1);
