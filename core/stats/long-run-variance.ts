// The variance of a row whose neighbours resemble each other (Newey and West, Bartlett weights): what the variance of a mean rests on.
import { isConstant, mean } from "./moments.ts";

export const neweyWestLag = (count: number): number => Math.floor(4 * (count / 100) ** (2 / 9));

/** Autocovariances over n; null with fewer than two values. Never below zero by construction of the weights. */
export function longRunVariance(values: readonly number[], lag: number = neweyWestLag(values.length)): number | null {
  const middle = mean(values);
  if (middle === null || values.length < 2) return null;
  if (isConstant(values)) return 0;
  const deviations = values.map((value) => value - middle);
  let total = autocovariance(deviations, 0);
  for (let step = 1; step <= lag; step += 1) {
    total += 2 * (1 - step / (lag + 1)) * autocovariance(deviations, step);
  }
  return total;
}

export function autocovariance(deviations: readonly number[], step: number): number {
  let sum = 0;
  for (let index = step; index < deviations.length; index += 1) {
    sum += (deviations[index] ?? 0) * (deviations[index - step] ?? 0);
  }
  return sum / deviations.length;
}
