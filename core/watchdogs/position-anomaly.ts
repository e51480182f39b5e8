// position_anomaly: whether a position changed by an untypical size. Two deviations happen to one healthy observation in twenty, so it only alerts;
// a change that no fill explains is critical at any size.
import type { Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { mean, isConstant as neverMoved, standardDeviation } from "../stats/moments.ts";
import { median, scaledMad } from "../stats/quantiles.ts";
import { type ConfigOf, common, number, whole } from "./config.ts";
import { allFinite, type Judgement, type RungEffect, stateOf, type Watchdog, withoutValue } from "./watchdog.ts";

/** What happened to one position in one span of `observation_s`. Spans without a fill are zeros, and count. */
export interface PositionChange {
  readonly id: string;
  /** The signed change as a share of NAV, corporate actions taken out. */
  readonly delta: number;
  /** Its size in the fund's currency, for the floor below which nothing is reported. */
  readonly notional: number;
  /** Whether an ADJUSTMENT moved it: no order of ours did. */
  readonly adjusted: boolean;
}

export interface PositionAnomalyInput {
  /** Oldest first; the last is judged against those before it. */
  readonly changes: readonly PositionChange[];
  /** How many of the earlier ones the platform itself saw. Before them a span without a change only says that nobody wrote one down. */
  readonly liveCount: number;
  readonly asOf: Instant;
}

const keys = {
  ...common(number(2, [0.5, 100], "z", "Above this, on either side, it alerts.")),
  observation_s: number(86_400, [1, 604_800], "s", "The span of one observation."),
  min_notional: number(10_000, [0, 1e12], "currency", "Smaller changes are not reported, adjustments excepted."),
  window: whole(60, [5, 1_000], "observations", "The earlier changes that are the baseline."),
  history_min: whole(20, [3, 1_000], "observations", "The fewest of them."),
};
type Keys = typeof keys;

interface DeltaDeviation {
  /** Whether the history never changed. */
  readonly isConstant: boolean;
  /** Infinite when the history never moved and this did. */
  readonly z: number;
  readonly robust: number;
}

/** Null with fewer than `historyMin` earlier changes. */
export function deltaDeviation(delta: number, earlier: readonly number[], historyMin: number): DeltaDeviation | null {
  const [average, deviation, middle, spread] = [
    mean(earlier),
    standardDeviation(earlier),
    median(earlier),
    scaledMad(earlier),
  ];
  if (earlier.length < historyMin || average === null || deviation === null || middle === null || spread === null) {
    return null;
  }
  const isConstant = deviation === 0;
  // The mean of equal changes may be off by a rounding, and one more of them would lie infinitely far from that.
  if (neverMoved([...earlier, delta])) return { isConstant, z: 0, robust: 0 };
  return { isConstant, z: over(delta - average, deviation), robust: over(delta - middle, spread) };
}

function over(distance: number, scale: number): number {
  if (scale > 0) return distance / scale;
  return distance === 0 ? 0 : Math.sign(distance) * Number.POSITIVE_INFINITY;
}

const effects: readonly RungEffect[] = [
  { rung: 1, effect: { kind: "chat", severity: "warning" } },
  { rung: 2, effect: { kind: "chat", severity: "critical" } },
];

/** JSON has no infinity. */
const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

function judge({ changes, liveCount, asOf }: PositionAnomalyInput, config: ConfigOf<Keys>): Judgement {
  const newest = changes.at(-1);
  const earlier = changes.slice(0, -1).slice(-config.window);
  const rest = { threshold: config.threshold, unit: "z", sampleCount: earlier.length, asOf };
  if (newest === undefined) return withoutValue("WARMUP", "INSUFFICIENT_DATA", rest);
  const deltas = earlier.map(({ delta }) => delta);
  if (!allFinite([...deltas, newest.delta, newest.notional])) return withoutValue("STALE", "MALFORMED_INPUT", rest);
  const found = deltaDeviation(newest.delta, deltas, config.history_min);
  // A symbol that was never traded before the platform began is new, not quiet: the first trades of a fresh platform are no anomaly.
  const deviation = found?.isConstant && liveCount < config.history_min ? null : found;
  if (deviation === null && !newest.adjusted) {
    const sampleCount = found === null ? earlier.length : Math.min(liveCount, earlier.length);
    return withoutValue("WARMUP", "INSUFFICIENT_DATA", { ...rest, sampleCount });
  }
  const untypical =
    deviation !== null && Math.abs(deviation.z) > config.threshold && Math.abs(newest.notional) >= config.min_notional;
  const rung = newest.adjusted ? 2 : untypical ? 1 : 0;
  const value = deviation === null ? null : finiteOrNull(deviation.z);
  return {
    ...rest,
    // A change too small to report after none at all is ordinary, and has no value that could read as OK.
    state: rung === 0 && value === null ? "WARMUP" : stateOf(rung, effects),
    value,
    reason: value !== null ? null : deviation === null ? "INSUFFICIENT_DATA" : "CONSTANT_BASELINE",
    observation: newest.id,
    rung,
    clears: rung === 0,
    effects,
    figures: {
      delta: newest.delta,
      notional: newest.notional,
      adjusted: newest.adjusted,
      z_robust: deviation === null ? null : finiteOrNull(deviation.robust),
      mean: mean(deltas),
      deviation: standardDeviation(deltas),
    },
  };
}

export const positionAnomaly: Watchdog<PositionAnomalyInput, Keys, null> = {
  name: "position_anomaly",
  watches: "Whether a strategy's position in a symbol changed by an untypical size.",
  per: ["strategy_symbol"],
  subject: subjects.watchdogPosition,
  alarm: "WATCHDOG_POSITION_ANOMALY",
  unit: "z",
  config: keys,
  refuses: ({ history_min, window }) =>
    history_min > window
      ? `history_min ${history_min} is above window ${window}; it could never be judged.`
      : undefined,
  // 5.2 % of 252 daily observations, of a position that changes every day; neighbouring ones are one episode.
  expectedAlertsPerYear: (config) => (config.threshold === 2 && config.observation_s === 86_400 ? 12.5 : null),
  emptyMemory: null,
  judge: (input, config, memory) => ({ judgement: judge(input, config), memory }),
};
