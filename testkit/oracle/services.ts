// theta, dependency_watchdog and db_watchdog: rules on options, polls, latencies and rows.
import { z } from "zod";
import * as instant from "../../contracts/src/instant.ts";
import { sum } from "../../core/stats/moments.ts";
import { nearestRank } from "../../core/stats/quantiles.ts";
import { defaultsOf } from "../../core/watchdogs/config.ts";
import { deadRowsLimit, slownessOf } from "../../core/watchdogs/db-watchdog.ts";
import { dependencyWatchdog, retryDelayMsMax } from "../../core/watchdogs/dependency-watchdog.ts";
import { newStanding, step } from "../../core/watchdogs/episodes.ts";
import { contractsNeeded } from "../../core/watchdogs/theta-watchdog.ts";
import { mertonGreeks } from "./merton.ts";
import { numbers, type Solver, solver } from "./reports/solver.ts";

const option = z.object({
  type: z.enum(["C", "P"]),
  S: z.number(),
  K: z.number(),
  T_years: z.number(),
  r: z.number(),
  q: z.number(),
  sigma: z.number(),
  contracts: z.number(),
  multiplier: z.number(),
});

function greeksOf({ type, S, K, T_years, r, q, sigma }: z.infer<typeof option>) {
  const greeks = mertonGreeks({
    right: type === "C" ? "CALL" : "PUT",
    price: S,
    strike: K,
    years: T_years,
    rate: r,
    dividendYield: q,
    volatility: sigma,
  });
  if (greeks === null) return null;
  return {
    price: greeks.price,
    delta: greeks.delta,
    gamma: greeks.gamma,
    "vega_per_1.00": greeks.vega,
    theta_per_year: greeks.thetaPerYear,
    theta_per_day_365: greeks.thetaPerYear / 365,
    "rho_per_1.00": greeks.rho,
  };
}

const theta = solver(
  {
    positions: z.array(option),
    nav: z.number(),
    limit_fraction_of_nav_per_day: z.number(),
    hedge: z.object({ theta_per_day_per_contract_long: z.number() }),
  },
  ({ positions, nav, limit_fraction_of_nav_per_day, hedge }) => {
    const greeks = positions.map(greeksOf);
    const thetas = positions.map(
      ({ contracts, multiplier }, index) => contracts * multiplier * (greeks[index]?.theta_per_day_365 ?? Number.NaN),
    );
    const net = sum(thetas);
    const limit = limit_fraction_of_nav_per_day * nav;
    const breach = Math.abs(net) > limit;
    return {
      greeks,
      position_theta_per_day: thetas,
      net_theta_per_day: net,
      limit,
      breach,
      hedge_contracts_needed_abs: contractsNeeded(net, limit, hedge.theta_per_day_per_contract_long),
      hedge_side: breach ? (net < 0 ? "SELL_HEDGE_OPTION" : "BUY_HEDGE_OPTION") : null,
    };
  },
);

const begin = instant.fromUnixMs(0);
const hourMs = 3_600_000;

/** Through the watchdog and its episodes, an hour apart so that no two outages are a flap. */
const polls = solver(
  {
    polls: z.array(z.enum(["green", "red", "timeout", "unknown"])),
    red_threshold: z.number(),
    recover_threshold: z.number(),
  },
  ({ polls: results, red_threshold, recover_threshold }) => {
    const config = {
      ...defaultsOf(dependencyWatchdog.config),
      threshold: red_threshold,
      clear_after: recover_threshold,
      unknown_max: results.length + 1,
    };
    const rules = { persistence: 1, clearAfter: recover_threshold, acting: true };
    let [standing, memory] = [newStanding(begin), dependencyWatchdog.emptyMemory];
    const bad: number[] = [];
    const events: (readonly [number, string])[] = [];
    for (const [index, result] of results.entries()) {
      const at = instant.plusMilliseconds(begin, index * hourMs);
      const input = { dependency: "d", poll: String(index), result, polledAt: at, detail: "" };
      const judged = dependencyWatchdog.judge(input, config, memory, {
        at,
        openedAt: standing.episode?.openedAt ?? null,
      });
      const next = step(standing, judged.judgement, rules, at, String(index));
      memory = judged.memory;
      standing = next.standing;
      bad.push(memory.bad);
      if (next.change?.event === "OPENED") events.push([index, "ALERT_DOWN"]);
      if (next.change?.event === "CLEARED") events.push([index, "RECOVERED"]);
    }
    return { consecutive_bad: bad, events, final_state: standing.episode === null ? "UP" : "DOWN" };
  },
);

const backoff = solver(
  { base_ms: z.number(), cap_ms: z.number(), attempts: z.number() },
  ({ base_ms, cap_ms, attempts }) => ({
    max_delay_ms: Array.from({ length: attempts }, (_unused, attempt) => retryDelayMsMax(attempt, base_ms, cap_ms)),
  }),
);

const latencies = solver(
  {
    latency_ms: numbers,
    baseline_ms: numbers,
    min_samples: z.number(),
    ratio: z.number(),
    abs_ms: z.number(),
  },
  ({ latency_ms, baseline_ms, min_samples, ratio, abs_ms }) => {
    const slowness = slownessOf(latency_ms, baseline_ms, {
      samples_min: min_samples,
      slow_ratio: ratio,
      slow_ms: abs_ms,
    });
    return {
      p50_nearest_rank: nearestRank(latency_ms, 0.5),
      p95_nearest_rank: nearestRank(latency_ms, 0.95),
      p99_nearest_rank: nearestRank(latency_ms, 0.99),
      baseline_p95: nearestRank(baseline_ms, 0.95),
      slow: slowness !== null && slowness.p95 > slowness.limit,
    };
  },
);

const tables = solver(
  {
    tables: z.array(
      z.object({
        source_rows: z.number(),
        replica_rows: z.number(),
        dead_tuples: z.number(),
        live_tuples: z.number(),
      }),
    ),
    tolerance_rows: z.number(),
    vacuum_threshold: z.number(),
    vacuum_scale_factor: z.number(),
  },
  ({ tables: all, tolerance_rows, vacuum_threshold, vacuum_scale_factor }) => {
    const config = { dead_rows_min: vacuum_threshold, dead_share: vacuum_scale_factor };
    const differences = all.map(({ source_rows, replica_rows }) => source_rows - replica_rows);
    return {
      mismatch: differences.map((each) => Math.abs(each) > tolerance_rows),
      mismatch_rows: differences,
      needs_vacuum: all.map(({ dead_tuples, live_tuples }) => dead_tuples > deadRowsLimit(live_tuples, config)),
    };
  },
);

export const thetaSolvers: readonly Solver[] = [theta];
export const dependencySolvers: readonly Solver[] = [polls, backoff];
export const dbSolvers: readonly Solver[] = [latencies, tables];
