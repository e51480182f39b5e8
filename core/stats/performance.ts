// What a row of periodic returns amounts to: the one set of definitions that backtests and reports share. The number of periods in a year and the
// riskless rate are handed in and reach every figure that depends on them. What is undefined is null, never zero or infinite.
import { normalCdf, normalQuantile } from "./distributions.ts";
import { levels, maxDrawdown } from "./drawdowns.ts";
import { mean, populationShape, standardDeviation, sum } from "./moments.ts";
import { quantile } from "./quantiles.ts";
import { correlation } from "./rank-correlation.ts";

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
  return {
    annualReturn: (mean(returns) ?? 0) * daysPerYear,
    annualVolatility: volatility(returns, daysPerYear) ?? 0,
    sharpe: sharpe(returns, daysPerYear),
    drawdownMax: Math.abs(maxDrawdown(returns)),
  };
}

export const totalReturn = (returns: readonly number[]): number => (levels(returns).at(-1) ?? 1) - 1;

/** The constant yearly growth that ends at the same level; null of nothing and after a total loss. */
export function annualGrowth(returns: readonly number[], periodsPerYear: number): number | null {
  // Not from the total return: after a deep loss, 1 + (level - 1) has lost the level's digits.
  const level = levels(returns).at(-1) ?? 1;
  return returns.length === 0 || level < 0 ? null : level ** (periodsPerYear / returns.length) - 1;
}

/** Zero when nothing moved; null with fewer than two returns. */
export function volatility(returns: readonly number[], periodsPerYear: number): number | null {
  const deviation = standardDeviation(returns);
  return deviation === null ? null : deviation * Math.sqrt(periodsPerYear);
}

/** The riskless rate of one period, from a yearly one. */
export const periodicRate = (annual: number, periodsPerYear: number): number =>
  (1 + annual) ** (1 / periodsPerYear) - 1;

export const inExcess = (returns: readonly number[], rate: number): readonly number[] =>
  returns.map((each) => each - rate);

/** Of returns in excess of the riskless rate: mean / deviation, annualised. */
export function sharpe(excess: readonly number[], periodsPerYear: number): number | null {
  const each = periodicSharpe(excess);
  return each === null ? null : each * Math.sqrt(periodsPerYear);
}

function periodicSharpe(excess: readonly number[]): number | null {
  const [middle, deviation] = [mean(excess), standardDeviation(excess)];
  return middle === null || deviation === null || deviation === 0 ? null : middle / deviation;
}

/** The root of the mean square of what lies below zero; the mean is over ALL periods. */
export function downsideDeviation(excess: readonly number[], periodsPerYear: number): number | null {
  if (excess.length === 0) return null;
  return Math.sqrt((sum(excess.map((each) => Math.min(each, 0) ** 2)) / excess.length) * periodsPerYear);
}

export function sortino(excess: readonly number[], periodsPerYear: number): number | null {
  const [middle, downside] = [mean(excess), downsideDeviation(excess, periodsPerYear)];
  return middle === null || downside === null || downside === 0 ? null : (middle * periodsPerYear) / downside;
}

export function calmar(returns: readonly number[], periodsPerYear: number): number | null {
  const [growth, deepest] = [annualGrowth(returns, periodsPerYear), maxDrawdown(returns)];
  return growth === null || deepest === 0 ? null : growth / Math.abs(deepest);
}

/** The standard error of the Sharpe ratio of one period, for returns that need not be normal (Mertens). */
export function sharpeError(excess: readonly number[]): number | null {
  const [ratio, shape] = [periodicSharpe(excess), populationShape(excess)];
  if (ratio === null || shape === null) return null;
  const variance = 1 - shape.skewness * ratio + ((shape.kurtosis - 1) / 4) * ratio * ratio;
  return variance > 0 ? Math.sqrt(variance / (excess.length - 1)) : null;
}

/** The probability that the true Sharpe ratio is above zero. */
export function probabilisticSharpe(excess: readonly number[]): number | null {
  const [ratio, error] = [periodicSharpe(excess), sharpeError(excess)];
  return ratio === null || error === null ? null : normalCdf(ratio / error);
}

/** Where the annualised Sharpe ratio lies with that confidence. */
export function sharpeInterval(
  excess: readonly number[],
  periodsPerYear: number,
  confidence: number,
): { readonly lower: number; readonly upper: number } | null {
  const [ratio, error] = [periodicSharpe(excess), sharpeError(excess)];
  if (ratio === null || error === null) return null;
  const reach = normalQuantile((1 + confidence) / 2) * error;
  const root = Math.sqrt(periodsPerYear);
  return { lower: (ratio - reach) * root, upper: (ratio + reach) * root };
}

/** The quantile of the worst returns that happened (type 7), as a return. */
export const historicalVar = (returns: readonly number[], confidence: number): number | null =>
  quantile(returns, 1 - confidence);

/** The mean of the returns at or below the historical VaR. */
export function historicalShortfall(returns: readonly number[], confidence: number): number | null {
  const bound = historicalVar(returns, confidence);
  return bound === null ? null : mean(returns.filter((each) => each <= bound));
}

export function gaussianVar(returns: readonly number[], confidence: number): number | null {
  const [middle, deviation] = [mean(returns), standardDeviation(returns)];
  return middle === null || deviation === null ? null : middle + normalQuantile(1 - confidence) * deviation;
}

const gains = (returns: readonly number[]): readonly number[] => returns.filter((each) => each > 0);
const losses = (returns: readonly number[]): readonly number[] => returns.filter((each) => each < 0);

/** The sum of gains over the sum of losses; null without a loss. */
export function profitFactor(returns: readonly number[]): number | null {
  const lost = Math.abs(sum(losses(returns)));
  return lost === 0 ? null : sum(gains(returns)) / lost;
}

/** The sum of returns over the sum of losses; null without a loss. */
export function gainToPain(returns: readonly number[]): number | null {
  const lost = Math.abs(sum(losses(returns)));
  return lost === 0 ? null : sum(returns) / lost;
}

/** The share of gains among the periods that moved. */
export function winRate(returns: readonly number[]): number | null {
  const moved = returns.filter((each) => each !== 0).length;
  return moved === 0 ? null : gains(returns).length / moved;
}

export const averageGain = (returns: readonly number[]): number | null => mean(gains(returns));
export const averageLoss = (returns: readonly number[]): number | null => mean(losses(returns));

export function payoff(returns: readonly number[]): number | null {
  const [gain, loss] = [averageGain(returns), averageLoss(returns)];
  return gain === null || loss === null ? null : gain / Math.abs(loss);
}

/** The 95 % quantile over the 5 % one, without sign. */
export function tailRatio(returns: readonly number[]): number | null {
  const [high, low] = [quantile(returns, 0.95), quantile(returns, 0.05)];
  return high === null || low === null || low === 0 ? null : Math.abs(high / low);
}

/** How straight the logarithm of the level is over time: R squared. Null with fewer than two returns, when it never moves, or after a total loss. */
export function stability(returns: readonly number[]): number | null {
  // Not of the levels: beside 1 a tiny return has lost half of its digits.
  const logs: number[] = [];
  for (const each of returns) logs.push((logs.at(-1) ?? 0) + Math.log1p(each));
  if (logs.length < 2 || !logs.every(Number.isFinite)) return null;
  const found = correlation(
    logs,
    logs.map((_log, index) => index),
  );
  return found === null ? null : found * found;
}
