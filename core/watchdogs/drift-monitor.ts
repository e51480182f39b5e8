// drift_monitor: whether a strategy's live skill has fallen behind its backtest's. The deviation counts in standard errors of the mean of the live
// window, so that fewer days need a larger fall; the backtest's sign decides which way is worse.
import type { Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { longRunVariance, neweyWestLag } from "../stats/long-run-variance.ts";
import { mean, standardDeviation } from "../stats/moments.ts";
import { type ConfigOf, common, number, whole, word } from "./config.ts";
import {
  allFinite,
  type Dated,
  isTooOld,
  type Judgement,
  type RungEffect,
  stateOf,
  type Watchdog,
  withoutValue,
} from "./watchdog.ts";

/** A rank correlation over time and how many pairs it rests on: the skill of a strategy with fewer than five symbols. */
export interface SeriesSkill {
  readonly correlation: number;
  readonly pairs: number;
}

interface Common {
  /** The trading day of the newest live skill, null before the first. */
  readonly day: string | null;
  readonly asOf: Instant;
}

export type DriftMonitorInput =
  | (Common & {
      readonly kind: "cross_section";
      /** Daily rank correlations; days without one are left out. */
      readonly backtest: readonly number[] | null;
      readonly live: readonly Dated[];
      /** Days that a forward return spans; above 1 neighbouring skills overlap. */
      readonly horizonDays: number;
    })
  | (Common & { readonly kind: "series"; readonly backtest: SeriesSkill | null; readonly live: SeriesSkill | null });

const keys = {
  ...common(number(-1, [-10, 0], "z", "Below this the allocation is halved."), {
    persistence: 2,
    clearAfter: 5,
    staleS: 518_400,
  }),
  cross_post_at: number(-1.5, [-10, 0], "z", "Below this it is also posted to the second channel."),
  halt_at: number(-2, [-10, 0], "z", "Below this the strategy is halted."),
  clear_at: number(-0.5, [-10, 10], "z", "Above this an observation clears."),
  window: whole(60, [5, 1_000], "days", "The newest live days that count."),
  live_min: whole(20, [4, 1_000], "days", "The fewest live days."),
  backtest_min: whole(60, [10, 100_000], "days", "The fewest backtest days."),
  variance: word("hac", ["hac", "iid"], "hac allows for neighbouring days that resemble each other."),
};
type Keys = typeof keys;

/** The steps of the answer, strict: 0 ordinary, 1 halve, 2 halve and cross-post, 3 halt. */
export function ladderRung(z: number, { threshold, cross_post_at, halt_at }: LadderConfig): number {
  if (z < halt_at) return 3;
  if (z < cross_post_at) return 2;
  return z < threshold ? 1 : 0;
}
type LadderConfig = Pick<ConfigOf<Keys>, "threshold" | "cross_post_at" | "halt_at">;

interface Drift {
  readonly backtestMean: number;
  readonly backtestDeviation: number;
  readonly liveMean: number;
  readonly direction: number;
  readonly lag: number;
  readonly longRunVariance: number;
  /** With the backtest's own deviation, and with its long-run variance; null when it never moved. */
  readonly z: number | null;
  readonly zHac: number | null;
}

/** Null when either side has fewer than two values. */
export function driftOf(backtest: readonly number[], live: readonly number[], horizonDays = 1): Drift | null {
  const [backtestMean, backtestDeviation, liveMean] = [mean(backtest), standardDeviation(backtest), mean(live)];
  const lag = Math.max(neweyWestLag(backtest.length), horizonDays - 1);
  const variance = longRunVariance(backtest, lag);
  if (backtestMean === null || backtestDeviation === null || liveMean === null || variance === null) return null;
  const direction = Math.sign(backtestMean);
  const shortfall = direction * (liveMean - backtestMean);
  const share = 1 / live.length + 1 / backtest.length;
  const over = (error: number): number | null => (error > 0 ? shortfall / error : null);
  return {
    backtestMean,
    backtestDeviation,
    liveMean,
    direction,
    lag,
    longRunVariance: variance,
    z: over(backtestDeviation * Math.sqrt(share)),
    zHac: over(Math.sqrt(variance * share)),
  };
}

/** 1.06 is the variance of Fisher's z of a rank correlation, beside a linear one's. */
const rankVariance = 1.06;

/** Fisher's z of two rank correlations; null with three pairs or fewer, and at a correlation of exactly one. */
export function seriesDrift(backtest: SeriesSkill, live: SeriesSkill): number | null {
  if (backtest.pairs <= 3 || live.pairs <= 3) return null;
  const error = Math.sqrt(rankVariance / (live.pairs - 3) + rankVariance / (backtest.pairs - 3));
  const z = (Math.atanh(live.correlation) - Math.atanh(backtest.correlation)) / error;
  return Number.isFinite(z) ? Math.sign(backtest.correlation) * z : null;
}

const effects: readonly RungEffect[] = [
  { rung: 1, effect: { kind: "chat", severity: "warning" } },
  { rung: 1, effect: { kind: "restriction", restriction: "ALLOCATION", factor: 0.5 } },
  { rung: 2, effect: { kind: "cross_post" } },
  { rung: 3, effect: { kind: "halt", level: "STRATEGY_HALT" } },
];

function judge(input: DriftMonitorInput, config: ConfigOf<Keys>, at: Instant): Judgement {
  const live = input.kind === "series" ? input.live : input.live.slice(-config.window).map(({ value }) => value);
  const sampleCount = live === null ? 0 : "pairs" in live ? live.pairs : live.length;
  const rest = { threshold: config.threshold, unit: "z", sampleCount, asOf: input.asOf };
  const { backtest } = input;
  if (backtest === null) return withoutValue("WARMUP", "NO_BACKTEST", rest);
  const backtestCount = "pairs" in backtest ? backtest.pairs : backtest.length;
  if (live === null || input.day === null || sampleCount < config.live_min || backtestCount < config.backtest_min) {
    return withoutValue("WARMUP", "INSUFFICIENT_DATA", rest);
  }
  if (isTooOld(input.asOf, at, config.stale_s)) return withoutValue("STALE", "INPUT_TOO_OLD", rest);
  const { z, figures } = measured(backtest, live, config, input.kind === "series" ? 1 : input.horizonDays);
  if (z === null) return withoutValue("WARMUP", "CONSTANT_BASELINE", rest);
  if (!Number.isFinite(z)) return withoutValue("STALE", "MALFORMED_INPUT", rest);
  const rung = ladderRung(z, config);
  return {
    ...rest,
    state: stateOf(rung, effects),
    value: z,
    reason: null,
    observation: input.day,
    rung,
    clears: z > config.clear_at,
    effects,
    figures: { ...figures, backtest_count: backtestCount },
  };
}

function measured(
  backtest: readonly number[] | SeriesSkill,
  live: readonly number[] | SeriesSkill,
  config: ConfigOf<Keys>,
  horizonDays: number,
): { readonly z: number | null; readonly figures: Judgement["figures"] } {
  if ("pairs" in backtest || "pairs" in live) {
    if (!("pairs" in backtest && "pairs" in live)) return { z: Number.NaN, figures: {} };
    const figures = { backtest_correlation: backtest.correlation, live_correlation: live.correlation };
    return { z: seriesDrift(backtest, live), figures };
  }
  if (!allFinite(backtest) || !allFinite(live)) return { z: Number.NaN, figures: {} };
  const drift = driftOf(backtest, live, horizonDays);
  if (drift === null) return { z: null, figures: {} };
  const figures = {
    backtest_mean: drift.backtestMean,
    live_mean: drift.liveMean,
    direction: drift.direction,
    z_iid: drift.z,
    z_hac: drift.zHac,
  };
  // A backtest without skill has no worse side.
  if (drift.direction === 0) return { z: null, figures };
  return { z: config.variance === "hac" ? drift.zHac : drift.z, figures };
}

export const driftMonitor: Watchdog<DriftMonitorInput, Keys, null> = {
  name: "drift_monitor",
  watches: "Whether a strategy's live skill has fallen behind its backtest's.",
  per: ["strategy"],
  subject: subjects.watchdogDrift,
  alarm: "WATCHDOG_DRIFT",
  unit: "z",
  config: keys,
  refuses: ({ threshold, cross_post_at, halt_at, clear_at, live_min, window }) => {
    if (!(halt_at <= cross_post_at && cross_post_at <= threshold && threshold <= clear_at)) {
      return `halt_at ${halt_at}, cross_post_at ${cross_post_at}, threshold ${threshold}, clear_at ${clear_at} must not fall in this order.`;
    }
    return live_min > window ? `live_min ${live_min} is above window ${window}; it could never be judged.` : undefined;
  },
  expectedAlertsPerYear: (config) =>
    config.threshold === -1 && config.window === 60 && config.persistence === 2 ? 1.4 : null,
  emptyMemory: null,
  judge: (input, config, memory, { at }) => ({ judgement: judge(input, config, at), memory }),
};
