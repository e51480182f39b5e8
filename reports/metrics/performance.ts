// The whole table of a row of returns, with or without a benchmark: every figure of the performance section of a report, from the definitions that
// backtests use too. One number of periods in a year and one riskless rate reach all of them.
import { drawdowns, drawdownTable, maxDrawdown, ulcerIndex } from "../../core/stats/drawdowns.ts";
import { excessKurtosis, mean, skewness } from "../../core/stats/moments.ts";
import * as stats from "../../core/stats/performance.ts";
import * as relative from "../../core/stats/relative-performance.ts";
import { compounded } from "./linking.ts";

interface ReturnsInput {
  /** A date each, ascending. */
  readonly dates: readonly string[];
  readonly returns: readonly number[];
  readonly periodsPerYear: number;
  readonly rfAnnual: number;
}

export type PerformanceTable = ReturnType<typeof performanceTable>;

export function performanceTable({ dates, returns, periodsPerYear, rfAnnual }: ReturnsInput) {
  const excess = stats.inExcess(returns, stats.periodicRate(rfAnnual, periodsPerYear));
  return {
    n: returns.length,
    totalReturn: returns.length === 0 ? null : stats.totalReturn(returns),
    cagr: stats.annualGrowth(returns, periodsPerYear),
    volatility: stats.volatility(returns, periodsPerYear),
    mean: mean(returns),
    sharpe: stats.sharpe(excess, periodsPerYear),
    sharpeInterval: stats.sharpeInterval(excess, periodsPerYear, 0.95),
    sharpeError: stats.sharpeError(excess),
    probabilisticSharpe: stats.probabilisticSharpe(excess),
    sortino: stats.sortino(excess, periodsPerYear),
    downsideDeviation: stats.downsideDeviation(excess, periodsPerYear),
    maxDrawdown: returns.length === 0 ? null : maxDrawdown(returns),
    calmar: stats.calmar(returns, periodsPerYear),
    ulcerIndex: ulcerIndex(returns),
    skewness: skewness(returns),
    excessKurtosis: excessKurtosis(returns),
    var95: stats.historicalVar(returns, 0.95),
    var99: stats.historicalVar(returns, 0.99),
    shortfall95: stats.historicalShortfall(returns, 0.95),
    shortfall99: stats.historicalShortfall(returns, 0.99),
    gaussianVar95: stats.gaussianVar(returns, 0.95),
    omega: stats.profitFactor(returns),
    gainToPain: stats.gainToPain(returns),
    profitFactor: stats.profitFactor(returns),
    winRate: stats.winRate(returns),
    averageGain: stats.averageGain(returns),
    averageLoss: stats.averageLoss(returns),
    payoff: stats.payoff(returns),
    best: extreme(returns, Math.max),
    worst: extreme(returns, Math.min),
    tailRatio: stats.tailRatio(returns),
    stability: stats.stability(returns),
    drawdowns: drawdowns(returns),
    worstDrawdowns: datedDrawdowns(dates, returns, 5),
    monthly: compoundedBy(dates, returns, 7),
    yearly: compoundedBy(dates, returns, 4),
    // Without the riskless rate: a quarter is too short for the rate to matter beside its error.
    rollingSharpe: rolling(returns, rollingWindow, (window) => stats.sharpe(window, periodsPerYear)),
    rollingVolatility: rolling(returns, rollingWindow, (window) => stats.volatility(window, periodsPerYear)),
  };
}

/** A quarter of trading days. */
export const rollingWindow = 63;

/** The figure of each window that ends at a return; null until there are enough. */
export function rolling<Value>(
  values: readonly number[],
  window: number,
  figure: (window: readonly number[]) => Value,
): readonly (Value | null)[] {
  return values.map((_value, index) =>
    index + 1 < window ? null : figure(values.slice(index + 1 - window, index + 1)),
  );
}

function extreme(values: readonly number[], choose: (one: number, other: number) => number): number | null {
  return values.length === 0 ? null : values.reduce((found, each) => choose(found, each));
}

interface DatedDrawdown {
  /** Null: the start, before the first return. */
  readonly peak: string | null;
  readonly valley: string;
  readonly recovery: string | null;
  readonly depth: number;
  readonly periodsPeakToValley: number;
  readonly periodsValleyToRecovery: number | null;
  readonly periodsUnderwater: number;
}

function datedDrawdowns(
  dates: readonly string[],
  returns: readonly number[],
  countMax: number,
): readonly DatedDrawdown[] {
  const date = (index: number | null): string | null => (index === null ? null : (dates[index] ?? null));
  return drawdownTable(returns)
    .slice(0, countMax)
    .map((each) => ({
      ...each,
      peak: date(each.peak),
      valley: dates[each.valley] ?? "",
      recovery: date(each.recovery),
    }));
}

interface PeriodReturn {
  /** 2026-11 or 2026. */
  readonly period: string;
  readonly return: number;
  readonly n: number;
}

/** Compounded within months (the first 7 characters of a date) or years (4). */
function compoundedBy(dates: readonly string[], returns: readonly number[], length: 4 | 7): readonly PeriodReturn[] {
  const groups = new Map<string, number[]>();
  for (const [index, each] of returns.entries()) {
    const period = (dates[index] ?? "").slice(0, length);
    const group = groups.get(period) ?? [];
    group.push(each);
    groups.set(period, group);
  }
  return [...groups].map(([period, group]) => ({ period, return: compounded(group), n: group.length }));
}

export type RelativeTable = NonNullable<ReturnType<typeof relativeTable>>;

/** Beside a benchmark with the same dates; null where the two rows differ in length. */
export function relativeTable({ returns, periodsPerYear, rfAnnual }: ReturnsInput, benchmark: readonly number[]) {
  if (benchmark.length !== returns.length) return null;
  const line = relative.marketLine(returns, benchmark);
  const growth = stats.annualGrowth(returns, periodsPerYear);
  return {
    beta: line?.beta ?? null,
    alpha: line?.alpha ?? null,
    alphaAnnual: line === null ? null : line.alpha * periodsPerYear,
    correlation: line?.correlation ?? null,
    r2: line === null || line.correlation === null ? null : line.correlation ** 2,
    trackingError: relative.trackingError(returns, benchmark, periodsPerYear),
    informationRatio: relative.informationRatio(returns, benchmark, periodsPerYear),
    upCapture: relative.capture(returns, benchmark, periodsPerYear, "up"),
    downCapture: relative.capture(returns, benchmark, periodsPerYear, "down"),
    battingAverage: relative.battingAverage(returns, benchmark),
    treynor: line === null || growth === null || line.beta === 0 ? null : (growth - rfAnnual) / line.beta,
  };
}
