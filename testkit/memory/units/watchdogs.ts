// The watchdogs' repository in a transaction of the memory store. JSON is kept as text, so that what comes out is what a database would give.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type {
  PnlDay,
  StoredEpisode,
  StoredInjection,
  StoredPause,
  StoredWatch,
  WatchdogRecords,
  WatchedScope,
} from "../../../ports/watchdog-records.ts";
import type { RecordTools } from "../layered-map.ts";
import { pageAfter } from "../page-after.ts";

export interface WatchdogTables {
  readonly watches: Map<string, StoredWatch>;
  readonly episodes: Map<string, StoredEpisode>;
  readonly pauses: Map<string, StoredPause>;
  readonly pnl: Map<string, PnlDay>;
  readonly injections: Map<string, StoredInjection>;
}

export function watchdogTables(): WatchdogTables {
  return { watches: new Map(), episodes: new Map(), pauses: new Map(), pnl: new Map(), injections: new Map() };
}

type Watched = Pick<StoredWatch, "watchdog" | "scope">;

const scopeKey = ({ watchdog, scope }: { readonly watchdog: string; readonly scope: WatchedScope }): string =>
  [watchdog, scope.fundId ?? "", scope.strategyId ?? "", scope.symbol ?? ""].join("\u0000");

const asJson = <Row extends { readonly content: unknown }>(row: Row): Row => ({
  ...row,
  content: parseJson(JSON.stringify(row.content)),
});

export function watchdogChanges(tables: WatchdogTables, { inTurn, lock, table }: RecordTools): WatchdogRecords {
  const watches = table("watchdog_watch", tables.watches);
  const episodes = table("watchdog_episode", tables.episodes);
  const pauses = table("watchdog_pause", tables.pauses);
  const pnl = table("watchdog_pnl", tables.pnl);
  const injections = table("paper_injection", tables.injections);
  const newestFirst = (one: StoredEpisode, other: StoredEpisode): number =>
    other.openedAt - one.openedAt || (one.episodeId < other.episodeId ? -1 : 1);
  const changeWatches = (rows: readonly Watched[], how: (key: string, index: number) => void): Promise<void> =>
    inTurn(async () => {
      for (const [index, row] of rows.entries()) {
        await lock(`watchdog ${scopeKey(row)}`);
        how(scopeKey(row), index);
      }
    });
  const records: WatchdogRecords = {
    watches: () => inTurn(async () => watches.sorted()),
    putWatches: (rows) =>
      changeWatches(rows, (key, index) => {
        const row = rows[index];
        if (row !== undefined) watches.set(key, asJson(row));
      }),
    removeWatches: (rows) => changeWatches(rows, (key) => watches.delete(key)),
    putEpisode: (episode) =>
      inTurn(async () => {
        await lock(`episode ${episode.episodeId}`);
        episodes.set(episode.episodeId, asJson(episode));
      }),
    lockEpisode: (episodeId) =>
      inTurn(async () => {
        await lock(`episode ${episodeId}`);
        return episodes.get(episodeId);
      }),
    episodes: ({ watchdog, fundId, openOnly, countMax, afterEpisodeId }) =>
      inTurn(async () => {
        const asked = episodes
          .sorted()
          .filter((one) => (watchdog ?? one.watchdog) === one.watchdog)
          .filter((one) => (fundId ?? one.scope.fundId) === one.scope.fundId)
          .filter((one) => !openOnly || one.clearedAt === undefined)
          .sort(newestFirst);
        return pageAfter(asked, countMax, afterEpisodeId, (id) => episodes.get(id), newestFirst);
      }),
    openedSince: (from) => inTurn(async () => counted(episodes.sorted().filter(({ openedAt }) => openedAt >= from))),
    pauses: () => inTurn(async () => pauses.sorted()),
    putPause: (pause) =>
      inTurn(async () => {
        await lock(`watchdog pause ${pause.watchdog} ${pause.fundId}`);
        pauses.set(`${pause.watchdog}\u0000${pause.fundId}`, pause);
      }),
    removePause: (watchdog, fundId) =>
      inTurn(async () => {
        await lock(`watchdog pause ${watchdog} ${fundId}`);
        const key = `${watchdog}\u0000${fundId}`;
        if (pauses.get(key) === undefined) return false;
        pauses.delete(key);
        return true;
      }),
    putPnl: (days) =>
      inTurn(async () => {
        for (const day of days) {
          const key = `${day.strategyId}\u0000${day.day}`;
          await lock(`watchdog pnl ${key}`);
          const known = pnl.get(key);
          pnl.set(key, known === undefined ? day : { ...known, closed: day.closed });
        }
      }),
    pnl: (countMax) => inTurn(async () => newestOfEach(pnl.sorted(), countMax)),
    injections: () => inTurn(async () => injections.sorted()),
    putInjection: (injection) =>
      inTurn(async () => {
        await lock(`paper injection ${injection.kind}`);
        injections.set(injection.kind, injection);
      }),
    clearInjections: () =>
      inTurn(async () => {
        const all = injections.sorted();
        for (const { kind } of all) {
          await lock(`paper injection ${kind}`);
          injections.delete(kind);
        }
        return all.length;
      }),
  };
  return records;
}

function counted(episodes: readonly StoredEpisode[]): (Watched & { readonly count: number })[] {
  const byScope = new Map<string, Watched & { readonly count: number }>();
  for (const { watchdog, scope } of episodes) {
    const key = scopeKey({ watchdog, scope });
    byScope.set(key, { watchdog, scope, count: (byScope.get(key)?.count ?? 0) + 1 });
  }
  return [...byScope].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

function newestOfEach(days: readonly PnlDay[], countMax: number): readonly PnlDay[] {
  const byStrategy = new Map<string, PnlDay[]>();
  for (const day of days) byStrategy.set(day.strategyId, [...(byStrategy.get(day.strategyId) ?? []), day]);
  return [...byStrategy.values()].flatMap((all) => all.reverse().slice(0, countMax));
}
