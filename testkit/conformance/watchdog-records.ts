// The suite that every store passes with what watchdogs remember: ports/watchdog-records.ts.
import { expect, it } from "vitest";
import { parse as d } from "../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import type { EpisodesQuery, PnlDay, StoredEpisode, StoredPause, StoredWatch } from "../../ports/watchdog-records.ts";
import { rejection } from "./waiting.ts";

export interface WatchdogFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const at = (second: number) => fromMicroseconds(1_700_000_000_000_000 + second * 1_000_000);

const watch = (symbol: string | undefined, content: unknown): StoredWatch => ({
  watchdog: "vpin",
  scope: symbol === undefined ? {} : { symbol },
  content,
});

const episode = (episodeId: string, second: number, more: Partial<StoredEpisode> = {}): StoredEpisode => ({
  episodeId,
  watchdog: "drift_monitor",
  scope: { fundId: "alpha", strategyId: "alpha-momentum" },
  openedAt: at(second),
  content: { value: -1.25, reason: null },
  ...more,
});

const pause: StoredPause = {
  watchdog: "vpin",
  fundId: "",
  by: "operator:duty",
  reason: "a test",
  at: at(1),
  until: at(3_601),
};

const day = (strategyId: string, name: string, closed: string): PnlDay => ({
  strategyId,
  day: name,
  opened: d("-10.000000000000000001"),
  closed: d(closed),
  nav: d("1000"),
  allocationPct: 0.3,
});

export function watchdogConformance(name: string, open: () => Promise<WatchdogFixture>): void {
  it(`25: watchdogs, ${name}: what is remembered, episodes, pauses and days are kept, and a failed unit leaves nothing`, async () => {
    const { store, close } = await open();
    const doing = <T>(work: (unit: UnitOfWork) => Promise<T>) => store.transact("conformance.watchdogs", work);
    try {
      await doing((unit) => unit.watchdogs.putWatches([watch("MSFT", [1]), watch(undefined, { a: 0.1 })]));
      await doing((unit) => unit.watchdogs.putWatches([watch("MSFT", { bucket: 1e-17, at: null }), watch("AAPL", 3)]));
      const failing = doing(async (unit) => {
        await unit.watchdogs.removeWatches([watch("AAPL", 0)]);
        await unit.watchdogs.putEpisode(episode("e9", 9));
        await unit.watchdogs.putPause(pause);
        await unit.watchdogs.putPnl([day("alpha-momentum", "2026-11-16", "1")]);
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      await doing((unit) => unit.watchdogs.removeWatches([watch(undefined, 0), watch("never", 0)]));
      expect(await doing((unit) => unit.watchdogs.watches())).toEqual([
        watch("AAPL", 3),
        watch("MSFT", { bucket: 1e-17, at: null }),
      ]);
      await episodesAreKept(doing);
      await pausesAndDaysAreKept(doing);
      await injectionsAreKept(doing);
    } finally {
      await close();
    }
  });
}

type Doing = <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>;

async function episodesAreKept(doing: Doing): Promise<void> {
  const cleared = episode("e1", 1, { clearedAt: at(5), content: { value: null } });
  const firm: StoredEpisode = { ...episode("e3", 3), watchdog: "db_watchdog", scope: {} };
  await doing(async (unit) => {
    for (const one of [episode("e1", 1), episode("e2", 2), firm, cleared]) await unit.watchdogs.putEpisode(one);
  });
  const listed = (query: Partial<EpisodesQuery>) =>
    doing((unit) => unit.watchdogs.episodes({ openOnly: false, countMax: 10, ...query }));
  expect(await listed({})).toEqual([firm, episode("e2", 2), cleared]);
  expect(await listed({ countMax: 1 })).toEqual([firm]);
  expect(await listed({ countMax: 1, afterEpisodeId: "e3" })).toEqual([episode("e2", 2)]);
  expect(await listed({ openOnly: true, afterEpisodeId: "e1" }), "after one that is over").toEqual([]);
  expect(await listed({ afterEpisodeId: "e2" })).toEqual([cleared]);
  expect(await listed({ afterEpisodeId: "e9" }), "after none").toEqual([]);
  const twins = [episode("e0", 3), episode("e4", 3)];
  await doing(async (unit) => {
    for (const one of twins) await unit.watchdogs.putEpisode({ ...one, clearedAt: at(9) });
  });
  const ids = async (afterEpisodeId: string) => (await listed({ afterEpisodeId })).map(({ episodeId }) => episodeId);
  expect(await ids("e0"), "of one moment").toEqual(["e3", "e4", "e2", "e1"]);
  expect(await ids("e3")).toEqual(["e4", "e2", "e1"]);
  expect(await listed({ watchdog: "drift_monitor", openOnly: true })).toEqual([episode("e2", 2)]);
  expect(await listed({ fundId: "beta" })).toEqual([]);
  expect(await doing((unit) => unit.watchdogs.lockEpisode("e1"))).toEqual(cleared);
  expect(await doing((unit) => unit.watchdogs.lockEpisode("e9"))).toBeUndefined();
  expect(await doing((unit) => unit.watchdogs.openedSince(at(2)))).toEqual([
    { watchdog: "db_watchdog", scope: {}, count: 1 },
    { watchdog: "drift_monitor", scope: { fundId: "alpha", strategyId: "alpha-momentum" }, count: 3 },
  ]);
}

async function injectionsAreKept(doing: Doing): Promise<void> {
  const skill = { kind: "skill", strategyId: "alpha-momentum", z: -1.2, by: "operator:duty", at: at(1) } as const;
  const slow = { kind: "slow_queries", by: "operator:duty", at: at(2) } as const;
  await doing((unit) => unit.watchdogs.putInjection(slow));
  await doing((unit) => unit.watchdogs.putInjection({ ...skill, z: -2 }));
  await doing((unit) => unit.watchdogs.putInjection(skill));
  expect(await doing((unit) => unit.watchdogs.injections())).toEqual([skill, slow]);
  expect(await doing((unit) => unit.watchdogs.clearInjections())).toBe(2);
  expect(await doing((unit) => unit.watchdogs.injections())).toEqual([]);
}

async function pausesAndDaysAreKept(doing: Doing): Promise<void> {
  await doing((unit) => unit.watchdogs.putPause({ ...pause, reason: "another" }));
  await doing((unit) => unit.watchdogs.putPause(pause));
  expect(await doing((unit) => unit.watchdogs.pauses())).toEqual([pause]);
  expect(await doing((unit) => unit.watchdogs.removePause("vpin", "alpha"))).toBe(false);
  expect(await doing((unit) => unit.watchdogs.removePause("vpin", ""))).toBe(true);
  expect(await doing((unit) => unit.watchdogs.pauses())).toEqual([]);
  await doing((unit) =>
    unit.watchdogs.putPnl([day("b", "2026-11-16", "1"), day("a", "2026-11-15", "2"), day("a", "2026-11-16", "3")]),
  );
  await doing((unit) => unit.watchdogs.putPnl([{ ...day("a", "2026-11-16", "4.5"), opened: d("7"), nav: d("9") }]));
  expect(await doing((unit) => unit.watchdogs.pnl(1))).toEqual([
    day("a", "2026-11-16", "4.5"),
    day("b", "2026-11-16", "1"),
  ]);
  expect((await doing((unit) => unit.watchdogs.pnl(9))).map((one) => one.day)).toEqual([
    ...["2026-11-16", "2026-11-15", "2026-11-16"],
  ]);
}
