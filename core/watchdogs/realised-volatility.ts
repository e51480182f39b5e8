// Realised volatility in two ways. The number of periods in a year is handed in and reaches both.
import { chiSquaredQuantile } from "../stats/distributions.ts";
import { standardDeviation } from "../stats/moments.ts";

/** Over the last `window` returns, annualised; null until there are so many. */
export function simpleVolatility(returns: readonly number[], window: number, periodsPerYear: number): number | null {
  if (returns.length < window) return null;
  const deviation = standardDeviation(returns.slice(-window));
  return deviation === null ? null : deviation * Math.sqrt(periodsPerYear);
}

/** Exponentially weighted squares after each return, begun with the first one's, annualised. */
export function weightedVolatilities(
  returns: readonly number[],
  decay: number,
  periodsPerYear: number,
): readonly number[] {
  let variance: number | null = null;
  return returns.map((each) => {
    variance = variance === null ? each * each : decay * variance + (1 - decay) * each * each;
    return Math.sqrt(variance * periodsPerYear);
  });
}

/** The same with the weights of what is there summing to one. */
export function correctedVolatilities(
  returns: readonly number[],
  decay: number,
  periodsPerYear: number,
): readonly number[] {
  let [squares, weights] = [0, 0];
  return returns.map((each) => {
    squares = decay * squares + each * each;
    weights = decay * weights + 1;
    return Math.sqrt((squares / weights) * periodsPerYear);
  });
}

/** Where the true volatility of normal returns lies, from one that was estimated from `window` of them. */
export function volatilityInterval(
  volatility: number,
  window: number,
  confidence: number,
): { readonly lower: number; readonly upper: number } {
  const freedom = window - 1;
  const bound = (p: number): number => volatility * Math.sqrt(freedom / chiSquaredQuantile(p, freedom));
  return { lower: bound((1 + confidence) / 2), upper: bound((1 - confidence) / 2) };
}
