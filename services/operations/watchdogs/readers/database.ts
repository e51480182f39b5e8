// Inputs of db_watchdog: rows that two ledgers must both have, how slow statements were since the last look, and dead rows.
import { type Instant, millisecondsBetween } from "../../../../contracts/src/instant.ts";
import type { DbWatchdogInput } from "../../../../core/watchdogs/db-watchdog.ts";
import type { DatabaseCare, StatementTotals, TableRows } from "../../../../ports/database-care.ts";
import type { WatchedScope } from "../../../../ports/watchdog-records.ts";
import type { Reader, Watched } from "../assigned.ts";
import type { Facts } from "./facts.ts";

interface DbConfig {
  readonly dead_rows_min: number;
  readonly dead_share: number;
  readonly samples_min: number;
  readonly slow_ms: number;
}

const samplesMax = 200;
/** So long the server's own vacuum is waited for. */
const patienceMs = 600_000;

const scopeOf = (table: string): WatchedScope => ({ symbol: `table ${table}` });
/** What an injected slow query takes, beside the limit. */
const injectedFactor = 5;

export function databaseReader<Config extends DbConfig>(
  facts: Facts,
  care: DatabaseCare | undefined,
  complain: (sentence: string) => void,
): Reader<DbWatchdogInput, Config> {
  let before: ReadonlyMap<string, StatementTotals> | undefined;
  const aboveSince = new Map<string, Instant>();
  let samples: readonly number[] = [];
  let baseline: readonly number[] = [];

  /** The mean of every statement that ran since the last look is a sample. */
  async function takeSamples(): Promise<void> {
    const found = await care?.statements();
    if (found === undefined) return;
    if (typeof found === "string") return complain(found);
    const now = new Map(found.map((one) => [one.queryId, one]));
    const fresh = [...now.values()].flatMap(({ queryId, calls, totalMs }) => {
      const last = before?.get(queryId);
      const ran = calls - (last?.calls ?? 0);
      return before === undefined || ran <= 0 ? [] : [(totalMs - (last?.totalMs ?? 0)) / ran];
    });
    // What was sampled before is what it is held against.
    baseline = [...baseline, ...samples].slice(-samplesMax);
    samples = fresh;
    before = now;
  }

  async function rows(at: Instant): Promise<readonly Watched<DbWatchdogInput>[]> {
    if (care === undefined) return [];
    const found = await care.rows();
    return found.pairs.map(({ name, source, target }) => ({
      scope: { symbol: name },
      input: { kind: "rows", name, left: source.count, right: target.count, asOf: at },
    }));
  }

  async function queries(at: Instant, config: Config): Promise<readonly Watched<DbWatchdogInput>[]> {
    const injected = (await facts.injections()).some(({ kind }) => kind === "slow_queries");
    await takeSamples();
    const slow = Array.from({ length: config.samples_min }, () => config.slow_ms * injectedFactor);
    const usual = Array.from({ length: config.samples_min }, () => 1);
    const input: DbWatchdogInput = injected
      ? { kind: "queries", samplesMs: slow, baselineMs: usual, asOf: at }
      : { kind: "queries", samplesMs: samples, baselineMs: baseline, asOf: at };
    return [{ scope: { symbol: "queries" }, input, isInjected: injected }];
  }

  async function deadRows(
    at: Instant,
    config: Config,
    isOpen: (scope: WatchedScope) => boolean,
  ): Promise<readonly Watched<DbWatchdogInput>[]> {
    const tables = (await care?.tables()) ?? [];
    const above = tables.filter(({ dead, live }) => dead > config.dead_rows_min + config.dead_share * live);
    for (const table of aboveSince.keys()) if (!above.some((one) => one.table === table)) aboveSince.delete(table);
    for (const { table } of above) if (!aboveSince.has(table)) aboveSince.set(table, at);
    // Small tables that are written all the time are above it between two visits of the server's own vacuum: only what it leaves is reported.
    const isLeft = ({ table, isAutovacuumed }: TableRows): boolean =>
      !isAutovacuumed || millisecondsBetween(aboveSince.get(table) ?? at, at) > patienceMs;
    const reported = tables.filter((one) => (above.includes(one) && isLeft(one)) || isOpen(scopeOf(one.table)));
    return reported.map(({ table, dead, live, vacuumedAt }) => ({
      scope: scopeOf(table),
      input: { kind: "dead_rows", table, dead, live, vacuumedAt: vacuumedAt ?? null, asOf: at },
    }));
  }

  return {
    async read({ at, isDue, config, openedAt }) {
      if (!isDue()) return [];
      return [
        ...(await rows(at)),
        ...(await queries(at, config())),
        ...(await deadRows(at, config(), (scope) => openedAt(scope) !== null)),
      ];
    },
  };
}
