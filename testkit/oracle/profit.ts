// nav_envelope and strategy_pnl_30d: NAV and profit against the interval that a backtest predicts.
import { z } from "zod";
import { longRunVariance, neweyWestLag } from "../../core/stats/long-run-variance.ts";
import { rollingSums } from "../../core/stats/moments.ts";
import { criticalValue, longRunInterval, predictionInterval, sampleOf } from "../../core/stats/prediction-interval.ts";
import { quantile } from "../../core/stats/quantiles.ts";
import { envelopeDay } from "../../core/watchdogs/predictive-health.ts";
import { unitReturns } from "../../core/watchdogs/unit-nav.ts";
import { firstOrNull, indicesOf, numbers, type Solver, solver } from "./solver.ts";

const envelope = solver(
  { backtest_log_returns: numbers, nav: numbers, nav0: z.number(), confidence: z.number() },
  ({ backtest_log_returns, nav, nav0, confidence }) => {
    const sample = sampleOf(backtest_log_returns);
    if (sample === null) return { mu: null, sigma_ddof1: null, t_crit: null };
    const days = nav.slice(1).map((each, index) => envelopeDay(sample, index + 1, each / nav0, confidence));
    const lower = days.map((day) => nav0 * day.lower);
    const upper = days.map((day) => nav0 * day.upper);
    const breaches = nav.slice(1).flatMap((each, index) => {
      const inside = each >= (lower[index] ?? 0) && each <= (upper[index] ?? 0);
      return inside ? [] : [index + 1];
    });
    return {
      mu: sample.mean,
      sigma_ddof1: sample.deviation,
      t_crit: criticalValue(sample, confidence),
      lower,
      upper,
      standardized_deviation: days.map((day) => day.z),
      breach_days_1based: breaches,
      first_breach_day: firstOrNull(breaches),
    };
  },
);

const flows = solver(
  { nav_end_of_day: numbers, external_flow_end_of_day: numbers },
  ({ nav_end_of_day, external_flow_end_of_day }) => {
    const returns = unitReturns(nav_end_of_day, external_flow_end_of_day);
    const levels = [100];
    for (const each of returns) levels.push((levels.at(-1) ?? 0) * (1 + each));
    return { daily_return: returns, unit_nav_base_100: levels, twr: (levels.at(-1) ?? 100) / 100 - 1 };
  },
);

const rolling = solver(
  { backtest_daily_pnl: numbers, live_daily_pnl: numbers, window: z.number(), confidence: z.number() },
  ({ backtest_daily_pnl, live_daily_pnl, window, confidence }) => {
    const sample = sampleOf(backtest_daily_pnl);
    const variance = longRunVariance(backtest_daily_pnl);
    if (sample === null || variance === null) return { parametric_lower: null, parametric_upper: null, shadow: false };
    const interval = predictionInterval(sample, window, confidence);
    const hac = longRunInterval(sample.mean, variance, window, confidence);
    const backtestSums = rollingSums(backtest_daily_pnl, window).filter((each) => each !== null);
    const sums = rollingSums(live_daily_pnl, window);
    const empirical = {
      lower: quantile(backtestSums, (1 - confidence) / 2) ?? Number.NEGATIVE_INFINITY,
      upper: quantile(backtestSums, (1 + confidence) / 2) ?? Number.POSITIVE_INFINITY,
    };
    const outside = ({ lower, upper }: { readonly lower: number; readonly upper: number }) =>
      sums.map((each) => (each === null ? null : each < lower || each > upper));
    return {
      n_overlapping_windows: backtestSums.length,
      n_independent_windows: Math.floor(backtest_daily_pnl.length / window),
      empirical_lower: empirical.lower,
      empirical_upper: empirical.upper,
      parametric_lower: interval.lower,
      parametric_upper: interval.upper,
      parametric_hac_lower: hac.lower,
      parametric_hac_upper: hac.upper,
      newey_west_lag: neweyWestLag(backtest_daily_pnl.length),
      long_run_var: variance,
      live_rolling_sum: sums,
      outside_empirical: outside(empirical),
      outside_parametric: outside(interval),
      first_outside_parametric_index: firstOrNull(indicesOf(outside(interval), (each) => each === true)),
      shadow: sums.some((each) => each !== null && each < interval.lower),
    };
  },
);

export const profitSolvers: readonly Solver[] = [envelope, flows, rolling];
