// news_spike: whether there is far more news about a held symbol, or about all of them, than in the thirty windows before. The window being judged
// is never part of its own baseline: inside it, no count could exceed 5.3 deviations.
import { type Instant, microsecondsPerSecond } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { poissonLog10Sf } from "../stats/distributions.ts";
import { betaBelow } from "../stats/gamma.ts";
import { mean, standardDeviation } from "../stats/moments.ts";
import { median, scaledMad } from "../stats/quantiles.ts";
import { type ConfigOf, common, number, whole } from "./config.ts";
import {
  allFinite,
  isTooOld,
  type JudgedAt,
  type Judgement,
  type RungEffect,
  stateOf,
  type Watchdog,
  withoutValue,
} from "./watchdog.ts";

interface Counts {
  /** Unique stories in the newest 24 hours. */
  readonly count: number;
  /** The same in each of the windows before, newest last; null where the feed was out, which is not zero. */
  readonly windows: readonly (number | null)[];
  readonly asOf: Instant;
}

export type NewsSpikeInput =
  | (Counts & { readonly kind: "symbol" })
  /** All tracked symbols together, and how many of them are past the threshold in the same window. */
  | (Counts & { readonly kind: "firm"; readonly alerting: number; readonly tracked: number });

const keys = {
  ...common(number(5, [1, 100], "z", "Above this it alerts."), { staleS: 3_600 }),
  windows: whole(30, [5, 365], "windows", "The windows before that are the baseline."),
  cooldown_s: number(3_600, [1, 604_800], "s", "How long a cooldown lasts, from the first alert on."),
  symbols_min: whole(3, [1, 10_000], "symbols", "The fewest alerting symbols that halt the firm."),
  symbols_share: number(0.2, [0, 1], "share", "The smallest share of tracked symbols that halts the firm."),
};
type Keys = typeof keys;

interface CountDeviation {
  /** Null when every earlier count was the same. */
  readonly plain: number | null;
  /** At least a Poisson number's deviation, and one story. */
  readonly floored: number;
  readonly robust: number;
  readonly poissonLog10: number | null;
}

/** How far a count lies above earlier ones; null without two of them. */
export function countDeviation(count: number, earlier: readonly number[]): CountDeviation | null {
  const [average, deviation, middle, spread] = [
    mean(earlier),
    standardDeviation(earlier),
    median(earlier),
    scaledMad(earlier),
  ];
  if (average === null || deviation === null || middle === null || spread === null) return null;
  return {
    plain: deviation > 0 ? (count - average) / deviation : null,
    floored: (count - average) / Math.max(deviation, Math.sqrt(average), 1),
    robust: (count - middle) / Math.max(spread, Math.sqrt(middle), 1),
    poissonLog10: poissonLog10Sf(count, average),
  };
}

/** P(X >= count) of the negative binomial with the baseline's mean and variance; null when it spreads no more than Poisson. */
export function overdispersedTail(count: number, earlier: readonly number[]): number | null {
  const average = mean(earlier) ?? 0;
  const variance = (standardDeviation(earlier) ?? 0) ** 2;
  if (!(variance > average) || !(average > 0)) return null;
  if (count <= 0) return 1;
  const size = (average * average) / (variance - average);
  return betaBelow(count, size, average / (size + average), size / (size + average));
}

const symbolEffects: readonly RungEffect[] = [
  { rung: 1, effect: { kind: "chat", severity: "warning" } },
  { rung: 1, effect: { kind: "restriction", restriction: "COOLDOWN", factor: null } },
];
const firmEffects: readonly RungEffect[] = [
  { rung: 1, effect: { kind: "chat", severity: "critical" } },
  { rung: 1, effect: { kind: "halt", level: "FIRM_HALT" } },
];

/** So many symbols must alert in the same window before the firm is halted: one syndicated story must not. */
const symbolsNeeded = (tracked: number, { symbols_min, symbols_share }: SymbolsConfig): number =>
  Math.max(symbols_min, symbols_share * tracked);
type SymbolsConfig = Pick<ConfigOf<Keys>, "symbols_min" | "symbols_share">;

/** Whether an alert now falls into the cooldown of the first one, which later spikes do not extend. Times and length in one unit. */
export const suppressed = (alertedAt: number | null, at: number, cooldown: number): boolean =>
  alertedAt !== null && at - alertedAt < cooldown;

function judge(input: NewsSpikeInput, config: ConfigOf<Keys>, { at, openedAt }: JudgedAt): Judgement {
  const earlier = input.windows.slice(-config.windows).filter((each) => each !== null);
  const rest = { threshold: config.threshold, unit: "z", sampleCount: earlier.length, asOf: input.asOf };
  if (isTooOld(input.asOf, at, config.stale_s)) return withoutValue("STALE", "INPUT_TOO_OLD", rest);
  if (!allFinite([input.count, ...earlier])) return withoutValue("STALE", "MALFORMED_INPUT", rest);
  const deviation = earlier.length < config.windows ? null : countDeviation(input.count, earlier);
  if (deviation === null) return withoutValue("WARMUP", "INSUFFICIENT_DATA", rest);
  const z = deviation.floored;
  const past = z > config.threshold;
  const wide = input.kind === "symbol" || input.alerting >= symbolsNeeded(input.tracked, config);
  const rung = past && wide ? 1 : 0;
  const cooling = suppressed(openedAt, at, config.cooldown_s * microsecondsPerSecond);
  const effects = input.kind === "symbol" ? symbolEffects : firmEffects;
  return {
    ...rest,
    state: rung === 0 && past ? "WARN" : stateOf(rung, effects),
    value: z,
    reason: null,
    observation: String(input.asOf),
    rung,
    clears: z < config.threshold && !cooling,
    effects,
    figures: {
      count: input.count,
      mean: mean(earlier),
      deviation: standardDeviation(earlier),
      z_robust: deviation.robust,
      poisson_log10_p: deviation.poissonLog10,
      negative_binomial_p: overdispersedTail(input.count, earlier),
      ...(input.kind === "firm" ? { symbols_alerting: input.alerting, symbols_tracked: input.tracked } : {}),
    },
  };
}

export const newsSpike: Watchdog<NewsSpikeInput, Keys, null> = {
  name: "news_spike",
  watches: "Whether news about held symbols is far above its thirty-day average.",
  per: ["symbol", "firm"],
  subject: subjects.watchdogNews,
  alarm: "WATCHDOG_NEWS_SPIKE",
  unit: "z",
  config: keys,
  // Of counts that spread no more than Poisson's; overdispersed ones give about 0.4 a year and symbol.
  expectedAlertsPerYear: ({ threshold, windows }) => (threshold === 5 && windows === 30 ? 0.4 : null),
  emptyMemory: null,
  judge: (input, config, memory, now) => ({ judgement: judge(input, config, now), memory }),
};
