// news_spike, position_anomaly and realized_vol: one observation against those before it.
import { z } from "zod";
import { chiSquaredSf } from "../../core/stats/distributions.ts";
import { drawdowns } from "../../core/stats/drawdowns.ts";
import { countDeviation, suppressed } from "../../core/watchdogs/news-spike.ts";
import { grossFactor } from "../../core/watchdogs/portfolio-vol-dd.ts";
import { deltaDeviation } from "../../core/watchdogs/position-anomaly.ts";
import {
  correctedVolatilities,
  simpleVolatility,
  volatilityInterval,
  weightedVolatilities,
} from "../../core/watchdogs/realised-volatility.ts";
import { firstOrNull, indicesOf, numbers, type Solver, solver } from "./reports/solver.ts";

function spikes(counts: readonly number[], window: number) {
  const days = counts.map((count, day) =>
    day < window ? null : countDeviation(count, counts.slice(day - window, day)),
  );
  return {
    plain: days.map((day) => day?.plain ?? null),
    floored: days.map((day) => day?.floored ?? null),
    robust: days.map((day) => day?.robust ?? null),
    poisson_log10_sf: days.map((day) => day?.poissonLog10 ?? null),
  };
}

const news = solver(
  { counts_by_symbol: z.array(numbers), window_days: z.number(), threshold: z.number() },
  ({ counts_by_symbol, window_days, threshold }) => {
    const bySymbol = counts_by_symbol.map((counts) => spikes(counts, window_days));
    const alerts = bySymbol.map(({ floored }) => indicesOf(floored, (each) => each !== null && each > threshold));
    const days = counts_by_symbol[0]?.map((_count, day) => day) ?? [];
    const together = days.map((day) => counts_by_symbol.reduce((total, counts) => total + (counts[day] ?? 0), 0));
    return {
      z_by_symbol: bySymbol,
      alerts_floored: alerts,
      aggregate_counts: together,
      z_aggregate: spikes(together, window_days),
      symbols_alerting_by_day: days.map((day) => alerts.filter((each) => each.includes(day)).length),
    };
  },
);

const cooldown = solver(
  { minute: numbers, z: numbers, threshold: z.number(), cooldown_minutes: z.number() },
  ({ minute, z: zs, threshold, cooldown_minutes }) => {
    const alerts: number[] = [];
    for (const [index, at] of minute.entries()) {
      const past = (zs[index] ?? 0) > threshold;
      if (past && !suppressed(alerts.at(-1) ?? null, at, cooldown_minutes)) alerts.push(at);
    }
    return { alert_minutes: alerts };
  },
);

/** The largest z that a value can have inside a baseline that it is part of. */
const selfInclusion = solver({ n: numbers }, ({ n }) => ({
  max_possible_z_if_today_included: n.map((count) => (count - 1) / Math.sqrt(count)),
}));

const positions = solver(
  { position: numbers, window: z.number(), min_history: z.number(), threshold: z.number() },
  ({ position, window, min_history, threshold }) => {
    const delta = position.slice(1).map((each, index) => each - (position[index] ?? 0));
    const found = delta.map((each, index) =>
      deltaDeviation(each, delta.slice(Math.max(0, index - window), index), min_history),
    );
    return {
      delta,
      z: found.map((each) => each?.z ?? null),
      robust_z: found.map((each) => each?.robust ?? null),
      anomaly_delta_indices: indicesOf(found, (each) => each !== null && Math.abs(each.z) > threshold),
    };
  },
);

const volatility = solver(
  {
    returns: numbers,
    window: z.number(),
    annualization: z.number(),
    lambda: z.number(),
    target_vol: z.number(),
    trigger_multiple: z.number(),
  },
  ({ returns, window, annualization, lambda, target_vol, trigger_multiple }) => {
    const simple = returns.map((_each, index) => simpleVolatility(returns.slice(0, index + 1), window, annualization));
    const ratio = simple.map((each) => (each === null ? null : each / target_vol));
    const fallen = drawdowns(returns);
    const last = simple.at(-1) ?? null;
    const interval = last === null ? null : volatilityInterval(last, window, 0.95);
    return {
      simple_vol: simple,
      ewma_vol_seed_first_sq: weightedVolatilities(returns, lambda, annualization),
      ewma_vol_bias_corrected: correctedVolatilities(returns, lambda, annualization),
      ratio_simple: ratio,
      first_trigger_index: firstOrNull(indicesOf(ratio, (each) => each !== null && each > trigger_multiple)),
      gross_scale: simple.map((each) => {
        if (each === null) return null;
        return each / target_vol > trigger_multiple ? grossFactor(target_vol, each, 0) : 1;
      }),
      drawdown: fallen,
      max_drawdown: fallen.reduce((deepest, each) => Math.min(deepest, each), 0),
      chi2_95ci_last_simple: interval === null ? null : [interval.lower, interval.upper],
    };
  },
);

/** A whole multiple is named by some as 2, by others as 2.0. */
const falsePositives = solver({ n: numbers, multiple: z.number() }, ({ n, multiple }) => {
  const chances = n.map((count) => chiSquaredSf((count - 1) * multiple * multiple, count - 1));
  return Object.fromEntries(
    [String(multiple), multiple.toFixed(1)]
      .filter((name) => Number(name) === multiple)
      .map((name) => [`P_ratio_gt_${name}_given_true_vol_eq_target`, chances]),
  );
});

export const newsSolvers: readonly Solver[] = [news, cooldown, selfInclusion];
export const positionSolvers: readonly Solver[] = [positions];
export const volatilitySolvers: readonly Solver[] = [volatility, falsePositives];
