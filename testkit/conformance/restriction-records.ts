// Checks of the restrictions' repository: ports/restriction-records.ts.
import { expect } from "vitest";
import { parse as d } from "../../contracts/src/decimal.ts";
import { Defect } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { NewRestriction } from "../../contracts/src/records/restriction.ts";
import type { Store } from "../../ports/store.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { rejection, transactPatiently } from "./waiting.ts";

const at = (second: number): Instant => (second * 1_000_000) as Instant;

const throttle = (restrictionId: string, differs: Partial<NewRestriction> = {}): NewRestriction => ({
  restrictionId,
  kind: "THROTTLE",
  fundId: "alpha",
  symbol: "AAPL",
  watchdog: "vpin",
  episodeId: "e-1",
  since: at(2),
  ...differs,
});

const gross: NewRestriction = {
  restrictionId: "r-gross",
  kind: "GROSS",
  fundId: "beta",
  factor: d("0.25"),
  base: d("123456789.000000000000000001"),
  watchdog: "portfolio_vol_dd",
  episodeId: "e-2",
  since: at(1),
};

const run = <T>(store: Store, work: Parameters<Store["transact"]>[1]): Promise<T> =>
  transactPatiently(store, "conformance.restrictions", work) as Promise<T>;

const open = (store: Store, restriction: NewRestriction) => run(store, (unit) => unit.restrictions.open(restriction));
const listOpen = (store: Store) => run(store, (unit) => unit.restrictions.listOpen());

const restrictionsAreKept: StoreCheck = {
  promise: 1,
  sentence:
    "a restriction is opened once per episode, kind and scope, is in force until it ends, and never begins again",
  async run(fixture) {
    const { store } = fixture;
    const first = throttle("r-1");
    const everywhere = throttle("r-2", { symbol: "SPY 281215C00650000", since: at(3) });
    const { fundId: _none, ...ofAll } = everywhere;
    expect(await open(store, first)).toEqual(first);
    expect(await open(store, gross)).toEqual(gross);
    expect(await open(store, ofAll)).toEqual(ofAll);
    const again = throttle("r-9", { since: at(9) });
    expect(await open(store, again), "the same episode, kind and scope").toEqual(first);
    expect(await listOpen(store)).toEqual([gross, first, ofAll]);
    const ending = { at: at(5), by: "operator:duty", reason: "seen é" };
    const ended = { ...first, ended: ending };
    expect(await run(store, (unit) => unit.restrictions.end(["r-1", "r-8"], ending))).toEqual([ended]);
    const later = { at: at(6), by: "vpin", reason: "cleared" };
    expect(await run(store, (unit) => unit.restrictions.end(["r-1"], later)), "ended once").toEqual([]);
    expect(await open(store, again), "not again in its episode").toEqual(ended);
    const next = throttle("r-3", { episodeId: "e-3", since: at(7) });
    expect(await open(store, next), "the next episode").toEqual(next);
    const reopened = await fixture.reopen();
    expect(await listOpen(reopened)).toEqual([gross, ofAll, next]);
    expect(await run(reopened, (unit) => unit.restrictions.ofEpisode("e-1"))).toEqual([ended, ofAll]);
    expect(await run(reopened, (unit) => unit.restrictions.lock("r-1"))).toEqual(ended);
    expect(await run(reopened, (unit) => unit.restrictions.lock("r-8"))).toBeUndefined();
    const list = (query: { fundId?: string; openOnly: boolean; countMax: number; afterRestrictionId?: string }) =>
      run(reopened, (unit) => unit.restrictions.list(query));
    expect(await list({ openOnly: false, countMax: 10 })).toEqual([next, ofAll, ended, gross]);
    expect(await list({ openOnly: true, fundId: "beta", countMax: 10 })).toEqual([ofAll, gross]);
    expect(await list({ openOnly: true, countMax: 1 })).toEqual([next]);
    const page = (afterRestrictionId: string, openOnly = false) => list({ openOnly, countMax: 2, afterRestrictionId });
    expect(await page("r-3")).toEqual([ofAll, ended]);
    expect(await page("r-1", true), "after one that has ended").toEqual([gross]);
    expect(await page("r-gross")).toEqual([]);
    expect(await page("r-8"), "after none").toEqual([]);
  },
};

const restrictionsFollowTheirUnit: StoreCheck = {
  promise: 2,
  sentence:
    "a restriction of a unit that fails was never opened or ended, and one that would restrict nothing is refused",
  async run({ store }) {
    await open(store, gross);
    const failing = store.transact("conformance.restrictions", async (unit) => {
      await unit.restrictions.open(throttle("r-1"));
      await unit.restrictions.end(["r-gross"], { at: at(5), by: "portfolio_vol_dd", reason: "" });
      throw new Error("a change of mind");
    });
    expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
    expect(await listOpen(store)).toEqual([gross]);
    const { symbol: _none, ...nowhere } = throttle("r-2");
    const { base: _without, ...baseless } = gross;
    const useless = [nowhere, { ...baseless, episodeId: "e-3" }, throttle("r-3", { factor: d("0.5") })];
    for (const each of useless) {
      const refused = await rejection(open(store, each), "one that would restrict nothing");
      expect(refused).toBeInstanceOf(Defect);
    }
    for (const factor of ["0", "1.000000000000000001"]) {
      const refused = await rejection(open(store, { ...gross, episodeId: "e-4", factor: d(factor) }), factor);
      expect(refused).toBeInstanceOf(Defect);
    }
  },
};

export const restrictionRecordChecks: readonly StoreCheck[] = [restrictionsAreKept, restrictionsFollowTheirUnit];
