// vpin: the volume-synchronised probability of informed trading in a held symbol. Above its threshold, orders that take liquidity are throttled.
import type { Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type ConfigOf, common, number, whole } from "./config.ts";
import {
  type Bucket,
  bucketsPerBarMax,
  imbalanceOf,
  normalBuyFraction,
  pour,
  rollingDeviation,
  vpinOf,
} from "./vpin-buckets.ts";
import {
  isTooOld,
  type Judged,
  type JudgedAt,
  type Judgement,
  type RungEffect,
  stateOf,
  type Watchdog,
  withoutValue,
} from "./watchdog.ts";

/** A closed bar of `bar_s` seconds with volume. */
export interface VpinBar {
  readonly at: Instant;
  readonly close: number;
  readonly volume: number;
}

export interface VpinInput {
  /** Oldest first. Bars that were judged before are left out here, so they may be handed in again. */
  readonly bars: readonly VpinBar[];
  /** Volume of an average day; null while none is known. */
  readonly dailyVolume: number | null;
  /** When the newest quote arrived; null without any. */
  readonly quotedAt: Instant | null;
}

interface VpinMemory {
  /** The bars it was made with: another length or bucket begins anew. */
  readonly made: string;
  readonly lastBarAt: Instant | null;
  readonly lastClose: number | null;
  /** Price changes from bar to bar, the newest `sigma_bars`. */
  readonly changes: readonly number[];
  /** The bucket being filled; its size stands from its first share on. */
  readonly bucket: Bucket;
  readonly bucketSize: number | null;
  /** Of full buckets, the newest `window_buckets`. */
  readonly imbalances: readonly number[];
  readonly bucketCount: number;
  /** VPIN after each of the newest 250 full buckets, for the empirical percentile. */
  readonly history: readonly number[];
}

const secondsPerDay = 86_400;
/** Fewer bars in a bucket and chance alone exceeds the threshold: with one, 0.50 is expected. */
export const barsPerBucketMin = 5;
const percentileMin = 250;

const keys = {
  ...common(number(0.4, [0.05, 1], "share", "Above this, orders that take liquidity are throttled.")),
  clear_at: number(0.35, [0.01, 1], "share", "Below this it clears."),
  bar_s: number(60, [1, 3_600], "s", "The length of a bar."),
  buckets_per_day: number(50, [1, 17_280], "buckets", "Buckets in a day of average volume."),
  window_buckets: whole(50, [5, 1_000], "buckets", "The buckets that are averaged."),
  sigma_bars: whole(100, [20, 2_000], "bars", "The trailing bars that say what move is usual."),
  sigma_bars_min: whole(20, [5, 2_000], "bars", "The fewest of them."),
};
type Keys = typeof keys;

const effects: readonly RungEffect[] = [
  { rung: 1, effect: { kind: "chat", severity: "warning" } },
  { rung: 1, effect: { kind: "restriction", restriction: "THROTTLE", factor: null } },
];

const emptyMemory: VpinMemory = {
  made: "",
  lastBarAt: null,
  lastClose: null,
  changes: [],
  bucket: { volume: 0, buy: 0 },
  bucketSize: null,
  imbalances: [],
  bucketCount: 0,
  history: [],
};

/** One closed bar further. Bars without volume, with more than there can be, out of order or without a number are not taken. */
function withBar(memory: VpinMemory, bar: VpinBar, dailyVolume: number, config: ConfigOf<Keys>): VpinMemory {
  if (memory.lastBarAt !== null && bar.at <= memory.lastBarAt) return memory;
  if (!(bar.volume > 0 && bar.close > 0) || !Number.isFinite(bar.volume * bar.close)) return memory;
  const next = { ...memory, lastBarAt: bar.at, lastClose: bar.close };
  if (memory.lastClose === null) return next;
  const changes = [...memory.changes, bar.close - memory.lastClose].slice(-config.sigma_bars);
  const deviation = rollingDeviation(changes, config.sigma_bars, config.sigma_bars_min);
  if (deviation === null) return { ...next, changes };
  const buyFraction = normalBuyFraction(changes.at(-1) ?? 0, deviation);
  const bucketSize =
    memory.bucket.volume > 0 && memory.bucketSize !== null ? memory.bucketSize : dailyVolume / config.buckets_per_day;
  if (!(bar.volume <= bucketSize * bucketsPerBarMax)) return memory;
  const { full, partial } = pour(memory.bucket, { volume: bar.volume, buyFraction }, bucketSize);
  return withBuckets({ ...next, changes, bucket: partial, bucketSize }, full, config.window_buckets);
}

function withBuckets(memory: VpinMemory, full: readonly Bucket[], window: number): VpinMemory {
  let { imbalances, history } = memory;
  for (const bucket of full) {
    imbalances = [...imbalances, imbalanceOf(bucket)].slice(-window);
    const value = vpinOf(imbalances, window);
    if (value !== null) history = [...history, value].slice(-percentileMin);
  }
  return { ...memory, imbalances, history, bucketCount: memory.bucketCount + full.length };
}

function remembered(input: VpinInput, config: ConfigOf<Keys>, memory: VpinMemory): VpinMemory {
  const made = `${config.bar_s}/${config.buckets_per_day}/${config.window_buckets}`;
  const begun = memory.made === made ? memory : { ...emptyMemory, made };
  const { dailyVolume } = input;
  if (dailyVolume === null || !(dailyVolume > 0) || !Number.isFinite(dailyVolume)) return begun;
  return input.bars.reduce((sofar, bar) => withBar(sofar, bar, dailyVolume, config), begun);
}

/** The share of earlier readings at or below this one; null with fewer than 250. */
function percentileOf(history: readonly number[], value: number): number | null {
  if (history.length < percentileMin) return null;
  return history.filter((each) => each <= value).length / history.length;
}

function judge(input: VpinInput, config: ConfigOf<Keys>, before: VpinMemory, { at }: JudgedAt): Judged<VpinMemory> {
  const memory = remembered(input, config, before);
  const asOf = memory.lastBarAt ?? input.quotedAt ?? at;
  const rest = { threshold: config.threshold, unit: "share", sampleCount: memory.imbalances.length, asOf };
  if (input.quotedAt === null) return { memory, judgement: withoutValue("STALE", "NO_INPUT", rest) };
  if (isTooOld(input.quotedAt, at, config.stale_s)) {
    return { memory, judgement: withoutValue("STALE", "INPUT_TOO_OLD", rest) };
  }
  const value = vpinOf(memory.imbalances, config.window_buckets);
  if (value === null) return { memory, judgement: withoutValue("WARMUP", "INSUFFICIENT_DATA", rest) };
  const rung = value > config.threshold ? 1 : 0;
  const judgement: Judgement = {
    ...rest,
    state: stateOf(rung, effects),
    value,
    reason: null,
    observation: `bucket-${memory.bucketCount}`,
    rung,
    clears: value < config.clear_at,
    effects,
    figures: {
      percentile: percentileOf(memory.history, value),
      bucket_volume: memory.bucketSize,
      bars_per_bucket: barsPerBucket(config),
      buckets: memory.bucketCount,
    },
  };
  return { memory, judgement };
}

const barsPerBucket = ({ bar_s, buckets_per_day }: ConfigOf<Keys>): number => secondsPerDay / bar_s / buckets_per_day;

export const vpin: Watchdog<VpinInput, Keys, VpinMemory> = {
  name: "vpin",
  watches: "How one-sided the volume in a held symbol is: the probability of informed trading.",
  per: ["symbol"],
  subject: subjects.watchdogVpin,
  alarm: "WATCHDOG_VPIN",
  unit: "share",
  config: keys,
  refuses: (config) => {
    const bars = barsPerBucket(config);
    if (bars < barsPerBucketMin) {
      return `bar_s ${config.bar_s} and buckets_per_day ${config.buckets_per_day} give ${Number(bars.toFixed(2))} bars a bucket; at least ${barsPerBucketMin} are needed, with fewer chance alone exceeds the threshold. Take shorter bars or fewer buckets.`;
    }
    if (config.sigma_bars_min > config.sigma_bars) {
      return `sigma_bars_min ${config.sigma_bars_min} is above sigma_bars ${config.sigma_bars}; it could never be judged.`;
    }
    return config.clear_at > config.threshold
      ? `clear_at ${config.clear_at} is above threshold ${config.threshold}; set it at or below the threshold.`
      : undefined;
  },
  // With 28 bars a bucket chance gives 0.09 with a deviation of 0.01: 0.4 is out of its reach.
  expectedAlertsPerYear: (config) => (barsPerBucket(config) >= barsPerBucketMin && config.threshold >= 0.4 ? 0 : null),
  emptyMemory,
  judge,
};
