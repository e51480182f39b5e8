// predictive_health: whether a fund's NAV since go-live is where its backtests put it. Both sides warn: a model that earns too much is wrong too.
import type { Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import {
  predictionInterval,
  type Sample,
  sampleOf,
  standardisedDeviation,
  twoSidedP,
} from "../stats/prediction-interval.ts";
import { type ConfigOf, common, number, whole, word } from "./config.ts";
import {
  allFinite,
  type Dated,
  isTooOld,
  type Judgement,
  type RungEffect,
  type Watchdog,
  withoutValue,
} from "./watchdog.ts";

export interface PredictiveHealthInput {
  /** Daily log returns of the fund's backtests, weighted by base allocation; null without any. */
  readonly backtest: readonly number[] | null;
  /** Unit NAV (flows taken out) per trading day: the first is go-live, the running day is the last. */
  readonly unitNav: readonly Dated[];
  readonly asOf: Instant;
}

const keys = {
  ...common(number(0.99, [0.5, 0.999_999], "confidence", "Outside the band of this confidence it warns.")),
  clear_confidence: number(0.95, [0.1, 0.999_999], "confidence", "Inside the band of this confidence it clears."),
  backtest_min: whole(60, [20, 100_000], "days", "The fewest backtest returns."),
  band: word(
    "pointwise",
    ["pointwise", "pathwise"],
    "pointwise holds for a day, pathwise for the whole path since go-live.",
  ),
};
type Keys = typeof keys;

/** A path is as many independent looks as this: 1 % per path lies at 3.4 standard errors, which a day exceeds once in 1,500. */
const looksOfAPath = 15;

interface EnvelopeDay {
  readonly lower: number;
  readonly upper: number;
  readonly z: number | null;
}

/** Band and deviation of the level `days` after the start; levels are relative to the start. */
export function envelopeDay(sample: Sample, days: number, level: number, confidence: number): EnvelopeDay {
  const { lower, upper } = predictionInterval(sample, days, confidence);
  return {
    lower: Math.exp(lower),
    upper: Math.exp(upper),
    z: standardisedDeviation(sample, days, Math.log(level)),
  };
}

const effects: readonly RungEffect[] = [{ rung: 1, effect: { kind: "chat", severity: "warning" } }];

function judge(input: PredictiveHealthInput, config: ConfigOf<Keys>, at: Instant): Judgement {
  const days = input.unitNav.length - 1;
  const rest = { threshold: config.threshold, unit: "confidence", sampleCount: Math.max(0, days), asOf: input.asOf };
  if (input.backtest === null) return withoutValue("WARMUP", "NO_BACKTEST", rest);
  if (isTooOld(input.asOf, at, config.stale_s)) return withoutValue("STALE", "INPUT_TOO_OLD", rest);
  const first = input.unitNav[0];
  const last = input.unitNav.at(-1);
  const sample = sampleOf(input.backtest);
  if (sample === null || first === undefined || last === undefined) {
    return withoutValue("WARMUP", "INSUFFICIENT_DATA", rest);
  }
  if (sample.count < config.backtest_min || days < 1) return withoutValue("WARMUP", "INSUFFICIENT_DATA", rest);
  const level = last.value / first.value;
  if (!allFinite(input.backtest) || !(level > 0) || !Number.isFinite(level)) {
    return withoutValue("STALE", "MALFORMED_INPUT", rest);
  }
  const { lower, upper, z } = envelopeDay(sample, days, level, config.threshold);
  if (z === null) return withoutValue("WARMUP", "CONSTANT_BASELINE", rest);
  const p = Math.min(1, twoSidedP(sample, z) * (config.band === "pathwise" ? looksOfAPath : 1));
  const value = 1 - p;
  const rung = value > config.threshold ? 1 : 0;
  return {
    ...rest,
    state: value > config.clear_confidence ? "WARN" : "OK",
    value,
    reason: null,
    observation: last.day,
    rung,
    clears: value < config.clear_confidence,
    effects,
    figures: { z, p, side: z < 0 ? "LOW" : "HIGH", level, lower, upper, days, backtest_days: sample.count },
  };
}

export const predictiveHealth: Watchdog<PredictiveHealthInput, Keys, null> = {
  name: "predictive_health",
  watches: "Whether a fund's NAV lies inside the envelope that its backtests predict.",
  per: ["fund"],
  subject: subjects.watchdogHealth,
  alarm: "WATCHDOG_PREDICTIVE_HEALTH",
  unit: "confidence",
  config: keys,
  refuses: ({ threshold, clear_confidence }) =>
    clear_confidence > threshold
      ? `clear_confidence ${clear_confidence} is above threshold ${threshold}; set it at or below the threshold.`
      : undefined,
  // Measured over a first year (bench watchdogs): episodes of a healthy fund, not days outside.
  expectedAlertsPerYear: ({ threshold, band }) => {
    if (threshold !== 0.99) return null;
    return band === "pathwise" ? 0.01 : 0.14;
  },
  emptyMemory: null,
  judge: (input, config, memory, { at }) => ({ judgement: judge(input, config, at), memory }),
};
