// Checks of the two small repositories that every unit of work has: handled events and running instances.
import { expect } from "vitest";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Instance, Store } from "../../ports/store.ts";
import { range } from "./bus-kit.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { rejection, transactPatiently } from "./waiting.ts";

const firstTime = (store: Store, subscription: string, eventId: string) =>
  transactPatiently(store, "conformance.handled", (unit) => unit.handled.firstTime(subscription, eventId));

export const firstTimeOnce: StoreCheck = {
  promise: 0,
  sentence: "`firstTime` is true exactly once per subscription and event, and also remembers after a restart",
  async run(fixture) {
    expect(await firstTime(fixture.store, "conformance.a", "event-1")).toBe(true);
    expect(await firstTime(fixture.store, "conformance.a", "event-1")).toBe(false);
    expect(await firstTime(fixture.store, "conformance.b", "event-1")).toBe(true);
    expect(await firstTime(fixture.store, "conformance.a", "event-2")).toBe(true);
    const store = await fixture.reopen();
    expect(await firstTime(store, "conformance.a", "event-1")).toBe(false);
    expect(await firstTime(store, "conformance.a", "event-3")).toBe(true);
    const twice = await store.transact("conformance.twice", async (unit) => [
      await unit.handled.firstTime("conformance.a", "event-4"),
      await unit.handled.firstTime("conformance.a", "event-4"),
    ]);
    expect(twice).toEqual([true, false]);
  },
};

export const firstTimesAreFirstTimes: StoreCheck = {
  promise: 0,
  sentence: "`firstTimes` names those of many whose first time it is, by the same memory as `firstTime`",
  async run(fixture) {
    const firstTimes = (store: Store, ...eventIds: string[]) =>
      transactPatiently(store, "conformance.handled", async (unit) => [
        ...(await unit.handled.firstTimes("conformance.many", eventIds)),
      ]);
    expect(await firstTime(fixture.store, "conformance.many", "event-2")).toBe(true);
    expect((await firstTimes(fixture.store, "event-3", "event-2", "event-1", "event-1")).sort()).toEqual([
      "event-1",
      "event-3",
    ]);
    expect(await firstTime(fixture.store, "conformance.many", "event-3")).toBe(false);
    expect(await firstTime(fixture.store, "conformance.other", "event-3")).toBe(true);
    expect(await firstTimes(fixture.store)).toEqual([]);
    const store = await fixture.reopen();
    expect(await firstTimes(store, "event-1", "event-4")).toEqual(["event-4"]);
    const many = range(1, 200).map((n) => `race-${n}`);
    const answers = await Promise.all(range(1, 4).map(() => firstTimes(store, ...many)));
    expect(answers.flat().sort()).toEqual([...many].sort());
  },
};

export const contentsAreKnown: StoreCheck = {
  promise: 0,
  sentence:
    "`contents` tells a new id from one that said the same and one that said something else, also after a restart, by the memory of `firstTime`",
  async run(fixture) {
    const contents = async (store: Store, ...events: readonly (readonly [string, string])[]) => {
      const hashed = events.map(([eventId, hash]) => ({ eventId, hash }));
      const known = await transactPatiently(store, "conformance.handled", (unit) =>
        unit.handled.contents("conformance.contents", hashed),
      );
      return events.map(([eventId]) => known.get(eventId));
    };
    expect(await contents(fixture.store)).toEqual([]);
    expect(await contents(fixture.store, ["b", "one"], ["a", "two"])).toEqual(["NEW", "NEW"]);
    expect(await firstTime(fixture.store, "conformance.contents", "b")).toBe(false);
    expect(await firstTime(fixture.store, "conformance.contents", "before")).toBe(true);
    const store = await fixture.reopen();
    const again = await contents(store, ["a", "two"], ["b", "two"], ["before", "any"], ["c", "three"]);
    expect(again).toEqual(["SAME", "OTHER", "SAME", "NEW"]);
    // What came first stays.
    expect(await contents(store, ["b", "two"], ["b2", "x"])).toEqual(["OTHER", "NEW"]);
    const many = range(1, 50).map((n) => [`race-${n}`, "same"] as const);
    const answers = await Promise.all(range(1, 4).map(() => contents(store, ...many)));
    expect(answers.flat().filter((known) => known === "NEW")).toHaveLength(many.length);
    expect(new Set(answers.flat())).toEqual(new Set(["NEW", "SAME"]));
  },
};

export const firstTimeUnderConcurrency: StoreCheck = {
  promise: 0,
  sentence: "of many transactions that ask `firstTime` at once, exactly one is told that it is the first",
  async run(fixture) {
    for (const eventId of ["event-1", "event-2", "event-3"]) {
      const answers = await Promise.all(range(1, 16).map(() => firstTime(fixture.store, "conformance.race", eventId)));
      expect(answers.filter((first) => first).length).toBe(1);
    }
  },
};

export const firstTimeRollsBack: StoreCheck = {
  promise: 2,
  sentence: "a first time whose transaction was rolled back did not happen, also for one who waited for it",
  async run(fixture) {
    const failing = fixture.store.transact("conformance.first", async (unit) => {
      expect(await unit.handled.firstTime("conformance.a", "event-1")).toBe(true);
      throw new Error("planned");
    });
    const waiting = firstTime(fixture.store, "conformance.a", "event-1");
    await rejection(failing, "the failing work");
    expect(await waiting).toBe(true);
    expect(await firstTime(fixture.store, "conformance.a", "event-1")).toBe(false);
  },
};

function instance(incarnation: string, startedAt: number, leaseUntil: number): Instance {
  return {
    service: "riskengine",
    incarnation,
    host: "here",
    pid: 4_321,
    startedAt: startedAt as Instant,
    leaseUntil: leaseUntil as Instant,
  };
}

const secondUs = 1_000_000;

export const instancesLive: StoreCheck = {
  promise: 0,
  sentence: "an instance is alive from its registration until its lease runs out or it retires, oldest first",
  async run(fixture) {
    const alive = async (at: number) => {
      const found = await fixture.store.transact("conformance.alive", (unit) => unit.instances.alive(at as Instant));
      return found.map((one) => one.incarnation);
    };
    const older = instance("older", 10 * secondUs, 20 * secondUs);
    const younger = instance("younger", 11 * secondUs, 30 * secondUs);
    await fixture.store.transact("conformance.register", (unit) => unit.instances.register(younger));
    await fixture.store.transact("conformance.register", (unit) => unit.instances.register(older));
    expect(await alive(12 * secondUs)).toEqual(["older", "younger"]);
    expect(await alive(25 * secondUs)).toEqual(["younger"]);
    const renew = (incarnation: string, until: number) =>
      fixture.store.transact("conformance.renew", (unit) => unit.instances.renew(incarnation, until as Instant));
    expect(await renew("older", 40 * secondUs)).toBe(true);
    expect(await renew("nobody", 40 * secondUs)).toBe(false);
    expect(await alive(35 * secondUs)).toEqual(["older"]);
    const found = await fixture.store.transact("conformance.alive", (unit) =>
      unit.instances.alive((35 * secondUs) as Instant),
    );
    expect(found).toEqual([{ ...older, leaseUntil: 40 * secondUs }]);
    const store = await fixture.reopen();
    await store.transact("conformance.retire", (unit) => unit.instances.retire("older"));
    const after = await store.transact("conformance.alive", (unit) => unit.instances.alive((12 * secondUs) as Instant));
    expect(after.map((one) => one.incarnation)).toEqual(["younger"]);
    const renewed = await store.transact("conformance.renew", (unit) =>
      unit.instances.renew("older", (50 * secondUs) as Instant),
    );
    expect(renewed).toBe(false);
  },
};

export const instancesRollBack: StoreCheck = {
  promise: 2,
  sentence: "a registration is seen by its own transaction at once, and by nobody when that is rolled back",
  async run(fixture) {
    const at = (12 * secondUs) as Instant;
    const failing = fixture.store.transact("conformance.register", async (unit) => {
      await unit.instances.register(instance("ghost", 10 * secondUs, 20 * secondUs));
      expect((await unit.instances.alive(at)).length).toBe(1);
      throw new Error("planned");
    });
    expect(await rejection(failing, "the failing work")).toMatchObject({ message: "planned" });
    expect(await fixture.store.transact("conformance.alive", (unit) => unit.instances.alive(at))).toEqual([]);
  },
};

export const instancesAreLostOnce: StoreCheck = {
  promise: 0,
  sentence: "an instance whose lease ran out is declared lost once ever, and is unknown from then on",
  async run(fixture) {
    const at = (25 * secondUs) as Instant;
    const lost = (store: Store) =>
      transactPatiently(store, "conformance.lost", async (unit) => {
        const found = await unit.instances.declareLost(at);
        return found.map((one) => one.incarnation);
      });
    await fixture.store.transact("conformance.register", async (unit) => {
      await unit.instances.register(instance("silent", 10 * secondUs, 20 * secondUs));
      await unit.instances.register(instance("lively", 11 * secondUs, 30 * secondUs));
      await unit.instances.register(instance("retired", 12 * secondUs, 20 * secondUs));
      await unit.instances.retire("retired");
    });
    const failing = fixture.store.transact("conformance.lost", async (unit) => {
      expect((await unit.instances.declareLost(at)).length).toBe(1);
      throw new Error("planned");
    });
    expect(await rejection(failing, "the failing work")).toMatchObject({ message: "planned" });
    const answers = await Promise.all(range(1, 6).map(() => lost(fixture.store)));
    expect(answers.flat()).toEqual(["silent"]);
    const store = await fixture.reopen();
    expect(await lost(store)).toEqual([]);
    const renewed = await store.transact("conformance.renew", (unit) =>
      unit.instances.renew("silent", (40 * secondUs) as Instant),
    );
    expect(renewed).toBe(false);
  },
};

export const lostMayReturn: StoreCheck = {
  promise: 0,
  sentence: "an instance that was declared lost or retired may register again, and is renewed and lost like any other",
  async run(fixture) {
    const { store } = fixture;
    const silent = instance("silent", 10 * secondUs, 20 * secondUs);
    const register = (leaseUntil: number) =>
      store.transact("conformance.register", (unit) =>
        unit.instances.register({ ...silent, leaseUntil: leaseUntil as Instant }),
      );
    const lost = (at: number) =>
      store.transact("conformance.lost", async (unit) => {
        const found = await unit.instances.declareLost(at as Instant);
        return found.map((one) => one.incarnation);
      });
    await register(20 * secondUs);
    expect(await lost(25 * secondUs)).toEqual(["silent"]);
    await register(40 * secondUs);
    const renewed = await store.transact("conformance.renew", (unit) =>
      unit.instances.renew("silent", (50 * secondUs) as Instant),
    );
    expect(renewed).toBe(true);
    expect(await lost(45 * secondUs)).toEqual([]);
    expect(await lost(55 * secondUs)).toEqual(["silent"]);
    await register(70 * secondUs);
    await store.transact("conformance.retire", (unit) => unit.instances.retire("silent"));
    await register(80 * secondUs);
    const alive = await store.transact("conformance.alive", (unit) => unit.instances.alive((75 * secondUs) as Instant));
    expect(alive.map((one) => one.incarnation)).toEqual(["silent"]);
  },
};

export const configurationIsKept: StoreCheck = {
  promise: 1,
  sentence:
    "the configuration of the last start is kept by service, replaced key by key, and comes in order of its paths",
  async run(fixture) {
    const value = (path: string, shown: string) => ({ path, shown, digest: `sha256:${shown}` });
    const of = (store: Store, service: string) =>
      transactPatiently(store, "conformance.look", (unit) => unit.configuration.lock(service));
    await fixture.store.transact("conformance.put", async (unit) => {
      expect(await unit.configuration.lock("one")).toEqual([]);
      await unit.configuration.put("one", [value("b", "1"), value("a.B", "2"), value("a.a", "3")]);
      await unit.configuration.put("other", [value("a.a", "9")]);
    });
    const failing = fixture.store.transact("conformance.put", async (unit) => {
      await unit.configuration.remove("one", ["b"]);
      throw new Error("planned");
    });
    await rejection(failing, "the failing work");
    expect(await of(fixture.store, "one")).toEqual([value("a.B", "2"), value("a.a", "3"), value("b", "1")]);
    await fixture.store.transact("conformance.put", async (unit) => {
      await unit.configuration.put("one", [value("b", "5")]);
      await unit.configuration.remove("one", ["a.a", "no such key"]);
    });
    const store = await fixture.reopen();
    expect(await of(store, "one")).toEqual([value("a.B", "2"), value("b", "5")]);
    expect(await of(store, "other")).toEqual([value("a.a", "9")]);
  },
};

export const recordChecks: readonly StoreCheck[] = [
  configurationIsKept,
  firstTimeOnce,
  firstTimesAreFirstTimes,
  contentsAreKnown,
  firstTimeUnderConcurrency,
  firstTimeRollsBack,
  instancesLive,
  instancesRollBack,
  instancesAreLostOnce,
  lostMayReturn,
];
