// db_watchdog: whether the ledgers hold the same number of rows, whether queries have become slow, and whether dead rows wait to be vacuumed. Each is
// judged by itself; a count that failed is an alert, never "equal".
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { nearestRank } from "../stats/quantiles.ts";
import { type ConfigOf, common, number, whole } from "./config.ts";
import {
  allFinite,
  isTooOld,
  type Judged,
  type JudgedAt,
  type Judgement,
  type RungEffect,
  stateOf,
  type Watchdog,
  withoutValue,
} from "./watchdog.ts";

/** Two ledgers of the same facts, counted at one snapshot; null where the count failed. */
interface RowsInput {
  readonly kind: "rows";
  readonly name: string;
  readonly left: number | null;
  readonly right: number | null;
  readonly asOf: Instant;
}

/** Mean times of queries per interval, and those of the baseline before them. */
interface QueriesInput {
  readonly kind: "queries";
  readonly samplesMs: readonly number[];
  readonly baselineMs: readonly number[];
  readonly asOf: Instant;
}

interface DeadRowsInput {
  readonly kind: "dead_rows";
  readonly table: string;
  readonly dead: number;
  readonly live: number;
  /** Null when it never was. */
  readonly vacuumedAt: Instant | null;
  readonly asOf: Instant;
}

export type DbWatchdogInput = RowsInput | QueriesInput | DeadRowsInput;

interface DbMemory {
  /** Since when the counts differ; null while they do not. */
  readonly differsSince: Instant | null;
}

const keys = {
  ...common(whole(0, [0, 1_000_000], "rows", "Larger differences between ledgers alert.")),
  lag_s: number(60, [0, 86_400], "s", "A difference may last so long: one ledger follows the other."),
  slow_ms: number(200, [1, 600_000], "ms", "Faster than this is never slow."),
  slow_ratio: number(2, [1, 100], "x", "Slow is above this multiple of the baseline's p95."),
  samples_min: whole(20, [5, 10_000], "samples", "The fewest samples of queries."),
  dead_rows_min: whole(50, [0, 1_000_000_000], "rows", "Dead rows below this are left alone."),
  dead_share: number(0.2, [0, 10], "share", "Dead rows beside live ones, on top of dead_rows_min."),
  vacuum_every_s: number(3_600, [60, 604_800], "s", "A table is vacuumed at most this often."),
};
type Keys = typeof keys;
type Config = ConfigOf<Keys>;

interface Slowness {
  readonly p95: number;
  readonly baselineP95: number;
  /** Above this the queries are slow. */
  readonly limit: number;
}

/** Null with too few samples on either side. */
export function slownessOf(
  samplesMs: readonly number[],
  baselineMs: readonly number[],
  { samples_min, slow_ms, slow_ratio }: Pick<Config, "samples_min" | "slow_ms" | "slow_ratio">,
): Slowness | null {
  const [p95, baselineP95] = [nearestRank(samplesMs, 0.95), nearestRank(baselineMs, 0.95)];
  if (samplesMs.length < samples_min || p95 === null || baselineP95 === null) return null;
  return { p95, baselineP95, limit: Math.max(slow_ms, slow_ratio * baselineP95) };
}

/** PostgreSQL's own rule for when a table has enough dead rows. */
export const deadRowsLimit = (live: number, config: Pick<Config, "dead_rows_min" | "dead_share">): number =>
  config.dead_rows_min + config.dead_share * live;

const alertOnly: readonly RungEffect[] = [{ rung: 1, effect: { kind: "chat", severity: "warning" } }];

function judgeRows(input: RowsInput, config: Config, before: DbMemory): Judged<DbMemory> {
  const { name, left, right, asOf } = input;
  const rest = { threshold: config.threshold, unit: "rows", sampleCount: 1, asOf };
  const observed = { observation: String(asOf), effects: alertOnly };
  if (left === null || right === null || !allFinite([left, right])) {
    const failed: Judgement = {
      ...withoutValue("STALE", "COUNT_FAILED", { ...rest, figures: { ledgers: name, left, right } }),
      ...observed,
      state: "WARN",
      rung: 1,
    };
    return { judgement: failed, memory: before };
  }
  const difference = left - right;
  const differs = Math.abs(difference) > config.threshold;
  const differsSince = differs ? (before.differsSince ?? asOf) : null;
  const lasted = differsSince !== null && millisecondsBetween(differsSince, asOf) >= config.lag_s * 1_000;
  const rung = lasted ? 1 : 0;
  const judgement: Judgement = {
    ...rest,
    ...observed,
    state: differs && !lasted ? "OK" : stateOf(rung, alertOnly),
    value: Math.abs(difference),
    reason: null,
    rung,
    clears: !differs,
    figures: { ledgers: name, left, right, difference, lag_s: config.lag_s },
  };
  return { judgement, memory: { differsSince } };
}

function judgeQueries({ samplesMs, baselineMs, asOf }: QueriesInput, config: Config): Judgement {
  const rest = { threshold: config.slow_ms, unit: "ms", sampleCount: samplesMs.length, asOf };
  if (!allFinite(samplesMs) || !allFinite(baselineMs)) return withoutValue("STALE", "MALFORMED_INPUT", rest);
  const slowness = slownessOf(samplesMs, baselineMs, config);
  if (slowness === null) return withoutValue("WARMUP", "INSUFFICIENT_DATA", rest);
  const { p95, baselineP95, limit } = slowness;
  const rung = p95 > limit ? 1 : 0;
  return {
    ...rest,
    threshold: limit,
    state: stateOf(rung, alertOnly),
    value: p95,
    reason: null,
    observation: String(asOf),
    rung,
    clears: p95 < 0.9 * limit,
    effects: alertOnly,
    figures: { p95_ms: p95, baseline_p95_ms: baselineP95, p50_ms: nearestRank(samplesMs, 0.5) },
  };
}

function judgeDeadRows({ table, dead, live, vacuumedAt, asOf }: DeadRowsInput, config: Config): Judgement {
  const limit = deadRowsLimit(live, config);
  const rest = { threshold: limit, unit: "rows", sampleCount: 1, asOf };
  if (!allFinite([dead, live])) return withoutValue("STALE", "MALFORMED_INPUT", rest);
  const rung = dead > limit ? 1 : 0;
  const due = vacuumedAt === null || millisecondsBetween(vacuumedAt, asOf) >= config.vacuum_every_s * 1_000;
  const vacuum: readonly RungEffect[] = due ? [{ rung: 1, effect: { kind: "vacuum", tables: [table] } }] : [];
  const effects = [...alertOnly, ...vacuum];
  return {
    ...rest,
    state: stateOf(rung, effects),
    value: dead,
    reason: null,
    observation: String(asOf),
    rung,
    clears: rung === 0,
    effects,
    figures: { table, dead, live, limit, vacuum_due: due },
  };
}

function judge(input: DbWatchdogInput, config: Config, memory: DbMemory, { at }: JudgedAt): Judged<DbMemory> {
  if (isTooOld(input.asOf, at, config.stale_s)) {
    const rest = { threshold: config.threshold, unit: "rows", sampleCount: 0, asOf: input.asOf };
    return { memory, judgement: withoutValue("STALE", "INPUT_TOO_OLD", rest) };
  }
  if (input.kind === "rows") return judgeRows(input, config, memory);
  const judgement = input.kind === "queries" ? judgeQueries(input, config) : judgeDeadRows(input, config);
  return { memory, judgement };
}

export const dbWatchdog: Watchdog<DbWatchdogInput, Keys, DbMemory> = {
  name: "db_watchdog",
  watches: "Whether the ledgers' rows agree, queries are as fast as they were and dead rows are vacuumed.",
  per: ["firm"],
  subject: subjects.watchdogDb,
  alarm: "WATCHDOG_DB",
  unit: "rows",
  config: keys,
  expectedAlertsPerYear: () => 0,
  emptyMemory: { differsSince: null },
  judge,
};
