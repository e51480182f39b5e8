// strategy_watchdog: whether a strategy's profit over the last thirty days is where its backtest puts it. Below, it is put into the shadow; above, it
// only alerts, unless `sides` says otherwise.
import type { Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { sum } from "../stats/moments.ts";
import { predictionInterval, sampleOf, standardisedDeviation, twoSidedP } from "../stats/prediction-interval.ts";
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

export interface StrategyWatchdogInput {
  /** Daily profit or loss of the backtest, scaled to the capital allocated now; null without a backtest. */
  readonly backtest: readonly number[] | null;
  /** Of the live strategy, per trading day, in the same currency. */
  readonly live: readonly Dated[];
  readonly asOf: Instant;
}

const keys = {
  ...common(number(0.95, [0.5, 0.999_999], "confidence", "Outside the interval of this confidence it acts."), {
    persistence: 3,
    clearAfter: 5,
    staleS: 518_400,
  }),
  window: whole(30, [2, 365], "days", "The days that are added up."),
  backtest_min: whole(120, [20, 100_000], "days", "The fewest backtest days."),
  sides: word("low", ["low", "both"], "low puts into the shadow below the interval only, both on either side."),
};
type Keys = typeof keys;

const effects: readonly RungEffect[] = [
  { rung: 1, effect: { kind: "chat", severity: "warning" } },
  { rung: 2, effect: { kind: "restriction", restriction: "SHADOW", factor: null } },
];

function judge(input: StrategyWatchdogInput, config: ConfigOf<Keys>, at: Instant): Judgement {
  const live = input.live.slice(-config.window);
  const rest = { threshold: config.threshold, unit: "confidence", sampleCount: live.length, asOf: input.asOf };
  if (input.backtest === null) return withoutValue("WARMUP", "NO_BACKTEST", rest);
  const sample = sampleOf(input.backtest);
  const last = live.at(-1);
  if (sample === null || last === undefined || live.length < config.window || sample.count < config.backtest_min) {
    return withoutValue("WARMUP", "INSUFFICIENT_DATA", rest);
  }
  if (isTooOld(input.asOf, at, config.stale_s)) return withoutValue("STALE", "INPUT_TOO_OLD", rest);
  const profits = live.map(({ value }) => value);
  if (!allFinite(input.backtest) || !allFinite(profits)) return withoutValue("STALE", "MALFORMED_INPUT", rest);
  const profit = sum(profits);
  const z = standardisedDeviation(sample, config.window, profit);
  if (z === null) return withoutValue("WARMUP", "CONSTANT_BASELINE", rest);
  const { lower, upper } = predictionInterval(sample, config.window, config.threshold);
  const value = 1 - twoSidedP(sample, z);
  const low = profit < lower;
  const rung = low || (profit > upper && config.sides === "both") ? 2 : profit > upper ? 1 : 0;
  return {
    ...rest,
    state: stateOf(rung, effects),
    value,
    reason: null,
    observation: last.day,
    rung,
    clears: rung === 0,
    effects,
    figures: { profit, lower, upper, z, side: z < 0 ? "LOW" : "HIGH", backtest_days: sample.count },
  };
}

export const strategyWatchdog: Watchdog<StrategyWatchdogInput, Keys, null> = {
  name: "strategy_watchdog",
  watches: "Whether a strategy's profit over thirty days lies inside the interval that its backtest predicts.",
  per: ["strategy"],
  subject: subjects.watchdogStrategy,
  alarm: "WATCHDOG_STRATEGY",
  unit: "confidence",
  config: keys,
  expectedAlertsPerYear: ({ threshold, window, persistence }) =>
    threshold === 0.95 && window === 30 && persistence === 3 ? 1.1 : null,
  emptyMemory: null,
  judge: (input, config, memory, { at }) => ({ judgement: judge(input, config, at), memory }),
};
