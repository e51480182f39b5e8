// strategy_pnl_30d: profit against the interval that a backtest predicts.
import { z } from "zod";
import { longRunVariance, neweyWestLag } from "../../core/stats/long-run-variance.ts";
import { rollingSums } from "../../core/stats/moments.ts";
import { longRunInterval, predictionInterval, sampleOf } from "../../core/stats/prediction-interval.ts";
import { quantile } from "../../core/stats/quantiles.ts";
import { firstOrNull, indicesOf, numbers, type Solver, solver } from "./reports/solver.ts";

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

export const profitSolvers: readonly Solver[] = [rolling];
