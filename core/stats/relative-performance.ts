// A row of returns beside its benchmark's: sensitivity, what is left without it, and how far the two part. Both rows have the same periods in the same
// order, and both the same number of periods in a year.

import { covariance, isConstant, mean } from "./moments.ts";
import { annualGrowth, sharpe, volatility } from "./performance.ts";
import { correlation } from "./rank-correlation.ts";

export interface MarketLine {
  readonly beta: number;
  /** Of one period, not annualised. */
  readonly alpha: number;
  readonly correlation: number | null;
}

/** Of the returns themselves, without a riskless rate; null with fewer than two pairs or when the benchmark never moves. */
export function marketLine(returns: readonly number[], benchmark: readonly number[]): MarketLine | null {
  const [together, own] = [covariance(returns, benchmark), covariance(benchmark, benchmark)];
  const [middle, benchmarkMiddle] = [mean(returns), mean(benchmark)];
  if (together === null || own === null || middle === null || benchmarkMiddle === null) return null;
  if (isConstant(benchmark)) return null;
  const beta = together / own;
  return { beta, alpha: middle - beta * benchmarkMiddle, correlation: correlation(returns, benchmark) };
}

const active = (returns: readonly number[], benchmark: readonly number[]): readonly number[] =>
  returns.map((each, index) => each - (benchmark[index] ?? 0));

export const trackingError = (
  returns: readonly number[],
  benchmark: readonly number[],
  periodsPerYear: number,
): number | null => volatility(active(returns, benchmark), periodsPerYear);

/** Mean over deviation of the active return, annualised. */
export const informationRatio = (
  returns: readonly number[],
  benchmark: readonly number[],
  periodsPerYear: number,
): number | null => sharpe(active(returns, benchmark), periodsPerYear);

/** The share of periods that beat the benchmark; null of nothing. */
export function battingAverage(returns: readonly number[], benchmark: readonly number[]): number | null {
  if (returns.length === 0) return null;
  return active(returns, benchmark).filter((each) => each > 0).length / returns.length;
}

/** Yearly growth over the benchmark's, both on the periods in which the benchmark rose (or fell) alone. */
export function capture(
  returns: readonly number[],
  benchmark: readonly number[],
  periodsPerYear: number,
  side: "up" | "down",
): number | null {
  const chosen = benchmark.flatMap((each, index) => ((side === "up" ? each > 0 : each < 0) ? [index] : []));
  const growth = (row: readonly number[]): number | null =>
    annualGrowth(
      chosen.map((index) => row[index] ?? 0),
      periodsPerYear,
    );
  const [own, other] = [growth(returns), growth(benchmark)];
  return own === null || other === null || other === 0 ? null : own / other;
}
