// The watchdogs' repository in a transaction: what each remembers, episodes, pauses, and profit or loss by the day.
import { format, parse } from "../../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { WatchdogName } from "../../../contracts/src/records/values.ts";
import type {
  InjectionKind,
  PnlDay,
  StoredEpisode,
  StoredInjection,
  StoredPause,
  StoredWatch,
  WatchdogRecords,
  WatchedScope,
} from "../../../ports/watchdog-records.ts";
import type { Sql } from "../store-transaction.ts";

interface ScopeRow {
  readonly watchdog: WatchdogName;
  readonly fund_id: string;
  readonly strategy_id: string;
  readonly symbol: string;
}

interface EpisodeRow extends ScopeRow {
  readonly episode_id: string;
  readonly opened_us: string;
  readonly cleared_us: string | null;
  readonly content: unknown;
}

type WatchPart = Pick<WatchdogRecords, "watches" | "putWatches" | "removeWatches">;
type EpisodePart = Pick<WatchdogRecords, "putEpisode" | "lockEpisode" | "episodes" | "openedSince">;
type PausePart = Pick<WatchdogRecords, "pauses" | "putPause" | "removePause">;

const scopeColumns = "watchdog, fund_id, strategy_id, symbol";
const episodeColumns = `episode_id, ${scopeColumns}, opened_us, cleared_us, content`;

export function watchdogRecords(sql: Sql): WatchdogRecords {
  return {
    ...watchRecords(sql),
    ...episodeRecords(sql),
    ...pauseRecords(sql),
    ...pnlRecords(sql),
    ...injectionRecords(sql),
  };
}

function watchRecords(sql: Sql): WatchPart {
  return {
    async watches() {
      const found = await sql.read({
        text: `select ${scopeColumns}, content from watchdog_watch order by ${scopeColumns}`,
      });
      return (found.rows as readonly (ScopeRow & { readonly content: unknown })[]).map((row) => ({
        ...scopeOf(row),
        content: row.content,
      }));
    },
    async putWatches(watches) {
      if (watches.length === 0) return;
      await sql.write({
        name: "watchdog_watch_put",
        text: `insert into watchdog_watch (${scopeColumns}, content)
               select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::json[])
               on conflict (${scopeColumns}) do update set content = excluded.content`,
        values: [...scopeArrays(watches), watches.map(({ content }) => JSON.stringify(content))],
      });
    },
    async removeWatches(watches) {
      if (watches.length === 0) return;
      await sql.write({
        text: `delete from watchdog_watch where (${scopeColumns}) in (
                 select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]))`,
        values: scopeArrays(watches),
      });
    },
  };
}

function episodeRecords(sql: Sql): EpisodePart {
  return {
    async putEpisode({ episodeId, openedAt, clearedAt, content, ...watched }) {
      await sql.write({
        name: "watchdog_episode_put",
        text: `insert into watchdog_episode (${episodeColumns}) values ($1, $2, $3, $4, $5, $6, $7, $8)
               on conflict (episode_id) do update set cleared_us = excluded.cleared_us, content = excluded.content`,
        values: [episodeId, ...scopeValues(watched), openedAt, clearedAt ?? null, JSON.stringify(content)],
      });
    },
    async lockEpisode(episodeId) {
      const found = await sql.write({
        text: `select ${episodeColumns} from watchdog_episode where episode_id = $1 for update`,
        values: [episodeId],
      });
      const [row] = found.rows as readonly EpisodeRow[];
      return row === undefined ? undefined : episodeOf(row);
    },
    async episodes({ watchdog, fundId, openOnly, countMax, afterEpisodeId }) {
      const found = await sql.read({
        text: `select ${episodeColumns} from watchdog_episode
               where ($1::text is null or watchdog = $1) and ($2::text is null or fund_id = $2)
                 and (not $3::boolean or cleared_us is null)
                 and ($5::text is null or (-opened_us, episode_id)
                   > (select -opened_us, episode_id from watchdog_episode where episode_id = $5))
               order by opened_us desc, episode_id limit $4`,
        values: [watchdog ?? null, fundId ?? null, openOnly, countMax, afterEpisodeId ?? null],
      });
      return (found.rows as readonly EpisodeRow[]).map(episodeOf);
    },
    async openedSince(from) {
      const found = await sql.read({
        text: `select ${scopeColumns}, count(*) as count from watchdog_episode where opened_us >= $1
               group by ${scopeColumns} order by ${scopeColumns}`,
        values: [from],
      });
      return (found.rows as readonly (ScopeRow & { readonly count: string })[]).map((row) => ({
        ...scopeOf(row),
        count: Number(row.count),
      }));
    },
  };
}

function pauseRecords(sql: Sql): PausePart {
  return {
    async pauses() {
      const found = await sql.read({
        text: "select watchdog, fund_id, by, reason, at_us, until_us from watchdog_pause order by watchdog, fund_id",
      });
      return found.rows.map(
        (row): StoredPause => ({
          watchdog: row.watchdog,
          fundId: row.fund_id,
          by: row.by,
          reason: row.reason,
          at: fromMicroseconds(Number(row.at_us)),
          until: fromMicroseconds(Number(row.until_us)),
        }),
      );
    },
    async putPause({ watchdog, fundId, by, reason, at, until }) {
      await sql.write({
        text: `insert into watchdog_pause (watchdog, fund_id, by, reason, at_us, until_us) values ($1, $2, $3, $4, $5, $6)
               on conflict (watchdog, fund_id) do update set by = excluded.by, reason = excluded.reason,
                 at_us = excluded.at_us, until_us = excluded.until_us`,
        values: [watchdog, fundId, by, reason, at, until],
      });
    },
    async removePause(watchdog, fundId) {
      const removed = await sql.write({
        text: "delete from watchdog_pause where watchdog = $1 and fund_id = $2",
        values: [watchdog, fundId],
      });
      return removed.rowCount === 1;
    },
  };
}

function pnlRecords(sql: Sql): Pick<WatchdogRecords, "putPnl" | "pnl"> {
  const columns = "strategy_id, day, opened, closed, nav, allocation_pct";
  return {
    async putPnl(days) {
      if (days.length === 0) return;
      await sql.write({
        name: "watchdog_pnl_put",
        text: `insert into watchdog_pnl (${columns})
               select * from unnest($1::text[], $2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::float8[])
               on conflict (strategy_id, day) do update set closed = excluded.closed`,
        values: [
          days.map(({ strategyId }) => strategyId),
          days.map(({ day }) => day),
          days.map(({ opened }) => format(opened)),
          days.map(({ closed }) => format(closed)),
          days.map(({ nav }) => format(nav)),
          days.map(({ allocationPct }) => allocationPct),
        ],
      });
    },
    async pnl(countMax) {
      const found = await sql.read({
        name: "watchdog_pnl",
        text: `select ${columns} from (
                 select *, row_number() over (partition by strategy_id order by day desc) as place from watchdog_pnl) as days
               where place <= $1 order by strategy_id, day desc`,
        values: [countMax],
      });
      return found.rows.map(
        (row): PnlDay => ({
          strategyId: row.strategy_id,
          day: row.day,
          allocationPct: row.allocation_pct,
          opened: parse(row.opened),
          closed: parse(row.closed),
          nav: parse(row.nav),
        }),
      );
    },
  };
}

type InjectionPart = Pick<WatchdogRecords, "injections" | "putInjection" | "clearInjections">;

function injectionRecords(sql: Sql): InjectionPart {
  return {
    async injections() {
      const found = await sql.read({
        name: "paper_injections",
        text: "select kind, strategy_id, z, by, at_us from paper_injection order by kind",
      });
      return found.rows.map(
        (row): StoredInjection => ({
          kind: row.kind as InjectionKind,
          ...(row.strategy_id === null ? {} : { strategyId: row.strategy_id }),
          ...(row.z === null ? {} : { z: row.z }),
          by: row.by,
          at: fromMicroseconds(Number(row.at_us)),
        }),
      );
    },
    async putInjection({ kind, strategyId, z, by, at }) {
      await sql.write({
        text: `insert into paper_injection (kind, strategy_id, z, by, at_us) values ($1, $2, $3, $4, $5)
               on conflict (kind) do update set strategy_id = excluded.strategy_id, z = excluded.z, by = excluded.by,
                 at_us = excluded.at_us`,
        values: [kind, strategyId ?? null, z ?? null, by, at],
      });
    },
    async clearInjections() {
      const removed = await sql.write({ text: "delete from paper_injection" });
      return removed.rowCount ?? 0;
    },
  };
}

type Watched = Pick<StoredWatch, "watchdog" | "scope">;

function scopeValues({ watchdog, scope }: Watched): string[] {
  return [watchdog, scope.fundId ?? "", scope.strategyId ?? "", scope.symbol ?? ""];
}

function scopeArrays(watches: readonly Watched[]): string[][] {
  const rows = watches.map(scopeValues);
  return [0, 1, 2, 3].map((column) => rows.map((row) => row[column] ?? ""));
}

function scopeOf(row: ScopeRow): Watched {
  const scope: WatchedScope = {
    ...(row.fund_id === "" ? {} : { fundId: row.fund_id }),
    ...(row.strategy_id === "" ? {} : { strategyId: row.strategy_id }),
    ...(row.symbol === "" ? {} : { symbol: row.symbol }),
  };
  return { watchdog: row.watchdog, scope };
}

function episodeOf(row: EpisodeRow): StoredEpisode {
  return {
    episodeId: row.episode_id,
    ...scopeOf(row),
    openedAt: fromMicroseconds(Number(row.opened_us)),
    ...(row.cleared_us === null ? {} : { clearedAt: fromMicroseconds(Number(row.cleared_us)) }),
    content: row.content,
  };
}
