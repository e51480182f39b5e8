// ic_drift: daily rank correlations, the drift of live ones behind a backtest's, and what is done about it, step by step.
import { z } from "zod";
import { studentCdf } from "../../core/stats/distributions.ts";
import { autocovariance } from "../../core/stats/long-run-variance.ts";
import { mean, standardDeviation } from "../../core/stats/moments.ts";
import { rankCorrelation } from "../../core/stats/rank-correlation.ts";
import { defaultsOf } from "../../core/watchdogs/config.ts";
import { driftMonitor, driftOf, ladderRung } from "../../core/watchdogs/drift-monitor.ts";
import { numbers, numbersOrNull, type Solver, solver } from "./reports/solver.ts";

const actions = ["OK", "HALVE", "HALVE_AND_CROSSPOST", "STRATEGY_HALT"] as const;
const defaults = defaultsOf(driftMonitor.config);
const actionOf = (z: number | null): string =>
  z === null ? "INSUFFICIENT_DATA" : (actions[ladderRung(z, defaults)] ?? "OK");

const daily = solver(
  {
    signal: z.array(numbersOrNull),
    forward_return: z.array(numbersOrNull),
    min_assets: z.number().default(5),
  },
  ({ signal, forward_return, min_assets }) => {
    const pairs = signal.map((row, day) =>
      row.flatMap((value, asset) => {
        const after = forward_return[day]?.[asset] ?? null;
        return value === null || after === null ? [] : [[value, after] as const];
      }),
    );
    const skill = pairs.map((each) =>
      each.length < min_assets
        ? null
        : rankCorrelation(
            each.map(([value]) => value),
            each.map(([, after]) => after),
          ),
    );
    const valid = skill.filter((each) => each !== null);
    return { n_pairs: pairs.map((each) => each.length), spearman_ic: skill, ...summary(valid) };
  },
);

function summary(valid: readonly number[]) {
  const [average, deviation] = [mean(valid), standardDeviation(valid)];
  const ratio = average === null || deviation === null || deviation === 0 ? null : average / deviation;
  const t = ratio === null ? null : ratio * Math.sqrt(valid.length);
  return {
    n_valid_dates: valid.length,
    ic_mean: average,
    ic_std_ddof1: deviation,
    icir: ratio,
    t_stat: t,
    p_value_two_sided: t === null ? null : 2 * studentCdf(-Math.abs(t), valid.length - 1),
    hit_rate: valid.length === 0 ? null : valid.filter((each) => each > 0).length / valid.length,
  };
}

const drift = solver(
  {
    backtest_ic: numbers,
    live_ic: numbers,
    min_live: z.number().default(defaults.live_min),
    min_backtest: z.number().default(defaults.backtest_min),
  },
  ({ backtest_ic, live_ic, min_live, min_backtest }) => {
    const found = driftOf(backtest_ic, live_ic);
    if (found === null || live_ic.length < min_live || backtest_ic.length < min_backtest) {
      return { drift_zscore: null, action_on_drift_zscore: actionOf(null) };
    }
    const variance = autocovariance(
      backtest_ic.map((each) => each - found.backtestMean),
      0,
    );
    return {
      backtest_mean: found.backtestMean,
      backtest_std: found.backtestDeviation,
      live_mean: found.liveMean,
      live_std: standardDeviation(live_ic),
      direction: found.direction,
      drift_zscore: found.z,
      newey_west_lag: found.lag,
      backtest_long_run_var: found.longRunVariance,
      variance_inflation: variance > 0 ? found.longRunVariance / variance : null,
      drift_zscore_hac: found.zHac,
      action_on_drift_zscore: actionOf(found.z),
    };
  },
);

const rungs = solver({ z: numbersOrNull }, ({ z: zs }) => ({ action: zs.map(actionOf) }));

export const skillSolvers: readonly Solver[] = [daily, drift, rungs];
