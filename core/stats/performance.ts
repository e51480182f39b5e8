// What a row of daily returns amounts to in a year. The number of days in a year is handed in and reaches every figure.
import { mean, standardDeviation } from "./moments.ts";

export interface Performance {
  /** Mean daily return times the days of a year. */
  readonly annualReturn: number;
  readonly annualVolatility: number;
  /** Without a riskless rate; null when nothing moved. */
  readonly sharpe: number | null;
  /** The deepest fall from a peak of the compounded returns, as a fraction. */
  readonly drawdownMax: number;
}

export function performanceOf(returns: readonly number[], daysPerYear: number): Performance {
  const annualReturn = (mean(returns) ?? 0) * daysPerYear;
  const annualVolatility = (standardDeviation(returns) ?? 0) * Math.sqrt(daysPerYear);
  const sharpe = annualVolatility === 0 ? null : annualReturn / annualVolatility;
  return { annualReturn, annualVolatility, sharpe, drawdownMax: drawdownMax(returns) };
}

function drawdownMax(returns: readonly number[]): number {
  let level = 1;
  let peak = 1;
  let deepest = 0;
  for (const each of returns) {
    level *= 1 + each;
    peak = Math.max(peak, level);
    deepest = Math.max(deepest, (peak - level) / peak);
  }
  return deepest;
}
