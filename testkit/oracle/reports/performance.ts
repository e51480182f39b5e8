// performance_metrics: the table of a row of returns, under the file's names.
import { z } from "zod";
import { performanceTable, relativeTable } from "../../../reports/metrics/performance.ts";
import { date, numbers, type Solver, sameLength, solver } from "./solver.ts";

const metrics = solver(
  {
    dates: z.array(date),
    returns: numbers,
    benchmark: numbers.optional(),
    rf_annual: z.number().gt(-1),
    periods_per_year: z.number().positive(),
  },
  ({ dates, returns, benchmark, rf_annual, periods_per_year }) => {
    sameLength({ dates, returns, benchmark: benchmark ?? returns });
    const input = { dates, returns, rfAnnual: rf_annual, periodsPerYear: periods_per_year };
    const table = performanceTable(input);
    return {
      total_return: table.totalReturn,
      cagr: table.cagr,
      ann_vol: table.volatility,
      mean_daily: table.mean,
      sharpe: table.sharpe,
      sortino: table.sortino,
      downside_dev_ann: table.downsideDeviation,
      max_drawdown: table.maxDrawdown,
      calmar: table.calmar,
      skew_G1: table.skewness,
      kurt_excess_G2: table.excessKurtosis,
      var_hist_95: table.var95,
      var_hist_99: table.var99,
      cvar_hist_95: table.shortfall95,
      cvar_hist_99: table.shortfall99,
      var_gauss_95: table.gaussianVar95,
      omega_0: table.omega,
      gain_to_pain: table.gainToPain,
      profit_factor: table.profitFactor,
      win_rate_nonzero: table.winRate,
      avg_win: table.averageGain,
      avg_loss: table.averageLoss,
      payoff: table.payoff,
      best: table.best,
      worst: table.worst,
      tail_ratio: table.tailRatio,
      ulcer_index: table.ulcerIndex,
      stability_r2: table.stability,
      sharpe_se_daily_mertens: table.sharpeError,
      psr_vs_0: table.probabilisticSharpe,
      monthly_returns: table.monthly.map((each) => [...each.period.split("-").map(Number), each.return]),
      yearly_returns: table.yearly.map((each) => [Number(each.period), each.return]),
      drawdowns_top5: table.worstDrawdowns.map((each) => ({
        peak: each.peak,
        valley: each.valley,
        recovery: each.recovery,
        depth: each.depth,
        periods_peak_to_valley: each.periodsPeakToValley,
        periods_valley_to_recovery: each.periodsValleyToRecovery,
        periods_underwater: each.periodsUnderwater,
      })),
      rolling_sharpe_63_last: table.rollingSharpe.at(-1) ?? null,
      ...(benchmark === undefined ? {} : besideBenchmark(relativeTable(input, benchmark))),
    };
  },
);

function besideBenchmark(table: ReturnType<typeof relativeTable>) {
  return {
    beta: table?.beta ?? null,
    alpha_daily: table?.alpha ?? null,
    alpha_ann_arith_quantstats: table?.alphaAnnual ?? null,
    correlation: table?.correlation ?? null,
    r2: table?.r2 ?? null,
    tracking_error_ann: table?.trackingError ?? null,
    information_ratio_ann: table?.informationRatio ?? null,
    up_capture_geom: table?.upCapture ?? null,
    down_capture_geom: table?.downCapture ?? null,
    batting_average: table?.battingAverage ?? null,
  };
}

export const performanceSolvers: readonly Solver[] = [metrics];
