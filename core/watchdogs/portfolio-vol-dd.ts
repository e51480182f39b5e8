// portfolio_vol_dd: whether a fund moves far more than it was built to. Both estimators must say so: alone, the twenty-day one fires on a fund of
// fat-tailed returns every second year.
import type { Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { drawdowns } from "../stats/drawdowns.ts";
import { type ConfigOf, common, number, whole } from "./config.ts";
import { simpleVolatility, volatilityInterval, weightedVolatilities } from "./realised-volatility.ts";
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

export interface PortfolioVolDdInput {
  /** Daily returns of unit NAV, oldest first, the running day last. */
  readonly returns: readonly Dated[];
  /** Annual volatility of the fund's backtests; null without one. */
  readonly backtestVolatility: number | null;
  /** 252 for exchanges, 365 for what trades every day. */
  readonly periodsPerYear: number;
  readonly asOf: Instant;
}

const keys = {
  ...common(number(1.5, [1, 20], "x target", "Above this multiple of the target in both estimators it acts."), {
    staleS: 518_400,
  }),
  clear_at: number(1.2, [0.1, 20], "x target", "Below this in both it clears."),
  target_vol: number(0, [0, 10], "per year", "The annual volatility it was built for; 0 takes the backtest's."),
  window: whole(20, [5, 500], "days", "The days of the simple estimator."),
  decay: number(0.94, [0.5, 0.999], "a day", "The weight that a day keeps in the other."),
  factor_min: number(0.25, [0.01, 1], "share", "Gross exposure is never cut below this share."),
};
type Keys = typeof keys;

/** Target over realised, between the floor and one. */
export const grossFactor = (target: number, realised: number, floor: number): number =>
  Math.min(1, Math.max(floor, target / realised));

function judge(input: PortfolioVolDdInput, config: ConfigOf<Keys>, at: Instant): Judgement {
  const returns = input.returns.map(({ value }) => value);
  const last = input.returns.at(-1);
  const rest = { threshold: config.threshold, unit: "x target", sampleCount: returns.length, asOf: input.asOf };
  const target = config.target_vol > 0 ? config.target_vol : input.backtestVolatility;
  if (target === null || !(target > 0)) return withoutValue("WARMUP", "NO_BACKTEST", rest);
  if (!allFinite(returns)) return withoutValue("STALE", "MALFORMED_INPUT", rest);
  const simple = simpleVolatility(returns, config.window, input.periodsPerYear);
  const weighted = weightedVolatilities(returns, config.decay, input.periodsPerYear).at(-1);
  if (simple === null || weighted === undefined || last === undefined) {
    return withoutValue("WARMUP", "INSUFFICIENT_DATA", rest);
  }
  if (isTooOld(input.asOf, at, config.stale_s)) return withoutValue("STALE", "INPUT_TOO_OLD", rest);
  const value = Math.min(simple, weighted) / target;
  const rung = value > config.threshold ? 1 : 0;
  const factor = rung === 0 ? 1 : grossFactor(target, simple, config.factor_min);
  const effects: readonly RungEffect[] = [
    { rung: 1, effect: { kind: "chat", severity: "warning" } },
    { rung: 1, effect: { kind: "restriction", restriction: "GROSS", factor } },
    { rung: 1, effect: { kind: "restriction", restriction: "ALLOCATION", factor } },
  ];
  const { lower, upper } = volatilityInterval(simple, config.window, 0.95);
  return {
    ...rest,
    state: stateOf(rung, effects),
    value,
    reason: null,
    observation: last.day,
    rung,
    clears: Math.max(simple, weighted) / target < config.clear_at,
    effects,
    figures: {
      target,
      simple_vol: simple,
      ewma_vol: weighted,
      simple_vol_lower_95: lower,
      simple_vol_upper_95: upper,
      factor,
      drawdown: drawdowns(returns).at(-1) ?? null,
    },
  };
}

export const portfolioVolDd: Watchdog<PortfolioVolDdInput, Keys, null> = {
  name: "portfolio_vol_dd",
  watches: "Whether a fund's realised volatility is far above its target.",
  per: ["fund"],
  subject: subjects.watchdogVolDd,
  alarm: "WATCHDOG_PORTFOLIO_VOL_DD",
  unit: "x target",
  config: keys,
  refuses: ({ clear_at, threshold }) =>
    clear_at > threshold
      ? `clear_at ${clear_at} is above threshold ${threshold}; set it at or below the threshold.`
      : undefined,
  // Of normal returns on target; fat tails (t4) give about half an episode a year.
  expectedAlertsPerYear: ({ threshold, window }) => (threshold === 1.5 && window === 20 ? 0.013 : null),
  emptyMemory: null,
  judge: (input, config, memory, { at }) => ({ judgement: judge(input, config, at), memory }),
};
