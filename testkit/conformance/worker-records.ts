// Checks of the repositories of the risk engine's workers: stops that fired, and differences with brokers.
import { expect } from "vitest";
import type { Decimal } from "../../contracts/src/decimal.ts";
import { parse as d } from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { StoredDifference } from "../../ports/reconcile-records.ts";
import type { StoredStop, WhichEnded } from "../../ports/stop-records.ts";
import type { Store } from "../../ports/store.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { rejection, transactPatiently } from "./waiting.ts";

const at = (second: number): Instant => (second * 1_000_000) as Instant;

function stop(stopId: string, differs: Partial<StoredStop> = {}): StoredStop {
  return {
    stopId,
    fundId: "alpha",
    strategyId: "alpha-momentum",
    symbol: "AAPL",
    openedBy: "paper:1",
    side: "SELL",
    quantity: d("100.5"),
    basisPrice: d("200"),
    triggerPrice: d("190.000000000000000001"),
    observedPrice: d("189.99"),
    observedAt: at(1),
    firedAt: at(2),
    ...differs,
  };
}

function difference(differenceId: string, differs: Partial<StoredDifference> = {}): StoredDifference {
  return {
    differenceId,
    fundId: "alpha",
    account: "alpha",
    broker: "paper",
    symbol: "AAPL",
    ourQuantity: d("10"),
    brokerQuantity: d("-12.5"),
    class: "UNKNOWN",
    status: "SUSPECTED",
    evidence: "We have 10, the broker has -12.5.",
    isAlerted: true,
    firstSeenAt: at(1),
    at: at(1),
    ...differs,
  };
}

const run = <T>(store: Store, work: Parameters<Store["transact"]>[1]): Promise<T> =>
  transactPatiently(store, "conformance.workers", work) as Promise<T>;

export const stopsAreKept: StoreCheck = {
  promise: 1,
  sentence: "a stop fires once per id, is changed in place, and is owed until it has ended",
  async run(fixture) {
    const first = stop("one");
    const other = stop("two", { firedAt: at(1), quantity: d("-3") });
    expect(await run(fixture.store, (unit) => unit.stops.insert(first))).toBe(true);
    expect(await run(fixture.store, (unit) => unit.stops.insert({ ...first, symbol: "MSFT" }))).toBe(false);
    expect(await run(fixture.store, (unit) => unit.stops.insert(other))).toBe(true);
    const failing = fixture.store.transact("conformance.workers", async (unit) => {
      await unit.stops.insert(stop("three"));
      expect((await unit.stops.owed()).length).toBe(3);
      throw new Error("planned");
    });
    await rejection(failing, "the failing work");
    expect(await run(fixture.store, (unit) => unit.stops.owed())).toEqual([other, first]);
    expect(await run(fixture.store, (unit) => unit.stops.ended(at(0), 10))).toEqual([]);
    const attempted: StoredStop = {
      ...first,
      attempt: { number: 1, orderId: "one-1", quantity: d("100.5"), at: at(3) },
    };
    await run(fixture.store, async (unit) => {
      expect(await unit.stops.lock("one")).toEqual(first);
      expect(await unit.stops.lock("nobody")).toBeUndefined();
      await unit.stops.update(attempted);
    });
    const endedHow = { outcome: "EXITED", exitedQuantity: d("3"), at: at(9) } as const;
    const ended: StoredStop = { ...other, ended: endedHow };
    await run(fixture.store, (unit) => unit.stops.update(ended));
    const store = await fixture.reopen();
    expect(await run(store, (unit) => unit.stops.owed())).toEqual([attempted]);
    expect(await run(store, (unit) => unit.stops.find(["two", "one", "nobody"]))).toEqual([ended, attempted]);
    expect(await run(store, (unit) => unit.stops.ended(at(9), 10))).toEqual([ended]);
    expect(await run(store, (unit) => unit.stops.ended(at(10), 10))).toEqual([]);
    expect(await run(store, (unit) => unit.stops.ended(at(9), 0))).toEqual([]);
    // Two of one moment and one before it, of two funds: no page loses or repeats one.
    const over = (stopId: string, fundId: string, second: number): StoredStop => ({
      ...ended,
      stopId,
      fundId,
      ended: { ...endedHow, at: at(second) },
    });
    const more = [over("a", "beta", 9), over("b", "gamma", 8), over("z", "gamma", 9)];
    await run(store, async (unit) => {
      for (const one of more) {
        await unit.stops.insert(one);
        await unit.stops.update(one);
      }
    });
    const page = async (countMax: number, which: WhichEnded = {}) =>
      (await run<readonly StoredStop[]>(store, (unit) => unit.stops.ended(at(8), countMax, which))).map(
        ({ stopId }) => stopId,
      );
    expect(await page(10)).toEqual(["a", "two", "z", "b"]);
    expect(await page(2, { afterStopId: "a" })).toEqual(["two", "z"]);
    expect(await page(10, { afterStopId: "z" })).toEqual(["b"]);
    expect(await page(10, { fundId: "gamma" })).toEqual(["z", "b"]);
    expect(await page(10, { fundId: "gamma", afterStopId: "z" })).toEqual(["b"]);
    expect([await page(10, { afterStopId: "nobody" }), await page(10, { afterStopId: "one" })]).toEqual([[], []]);
  },
};

export const differencesAreKept: StoreCheck = {
  promise: 1,
  sentence: "differences are kept by id, one open one per account and symbol, with what the newest look at each saw",
  async run(fixture) {
    const one = difference("d1");
    const two = difference("d2", { symbol: "MSFT", firstSeenAt: at(2), status: "CONFIRMED" });
    const elsewhere = difference("d3", { account: "beta", fundId: "beta", firstSeenAt: at(3) });
    for (const each of [one, two, elsewhere]) await run(fixture.store, (unit) => unit.reconcile.put(each));
    const twin = run(fixture.store, (unit) => unit.reconcile.put(difference("d4", { status: "CONFIRMED" })));
    expect(await rejection(twin, "a second open difference")).toBeDefined();
    expect(await run(fixture.store, (unit) => unit.reconcile.lockOpen("paper", "alpha"))).toEqual([one, two]);
    const look = { looks: 2, ourQuantity: d("10") as Decimal, brokerQuantity: d("-12.5"), brokerAsOf: at(4) };
    await run(fixture.store, async (unit) => {
      await unit.reconcile.putLook({ ...look, differenceId: "d1" });
      await unit.reconcile.putLook({ ...look, differenceId: "d2", looks: 1, adjustmentId: "a-1" });
      await unit.reconcile.putLook({ ...look, differenceId: "d1", looks: 3 });
    });
    const cleared = { ...one, status: "CLEARED" as const, at: at(8) };
    await run(fixture.store, (unit) => unit.reconcile.put(cleared));
    const store = await fixture.reopen();
    expect(await run(store, (unit) => unit.reconcile.looks(["d2", "d1", "d9"]))).toEqual([
      { ...look, differenceId: "d1", looks: 3 },
      { ...look, differenceId: "d2", looks: 1, adjustmentId: "a-1" },
    ]);
    const list = (query: object) =>
      run(store, (unit) => unit.reconcile.list({ openOnly: false, countMax: 10, ...query }));
    expect(await list({})).toEqual([elsewhere, two, cleared]);
    expect(await list({ countMax: 1 })).toEqual([elsewhere]);
    expect(await list({ countMax: 1, afterDifferenceId: "d3" })).toEqual([two]);
    expect(await list({ fundId: "alpha", afterDifferenceId: "d3" }), "after one of another fund").toEqual([
      two,
      cleared,
    ]);
    expect(await list({ openOnly: true, afterDifferenceId: "d1" }), "after the last").toEqual([]);
    expect(await list({ afterDifferenceId: "d9" }), "after none").toEqual([]);
    expect(await list({ fundId: "alpha", openOnly: true })).toEqual([two]);
    expect(await run(store, (unit) => unit.reconcile.confirmed())).toEqual([two]);
    await run(store, (unit) => unit.reconcile.put(difference("d5", { firstSeenAt: at(9) })));
  },
};

export const agreementsAreKept: StoreCheck = {
  promise: 1,
  sentence: "how far an account agrees is kept by broker and account, the newest only",
  async run(fixture) {
    const agreement = { broker: "paper", account: "alpha", cursor: 7, at: at(1) };
    const of = (store: Store, account: string) => run(store, (unit) => unit.reconcile.agreement("paper", account));
    expect(await of(fixture.store, "alpha")).toBeUndefined();
    await run(fixture.store, (unit) => unit.reconcile.putAgreement(agreement));
    await run(fixture.store, (unit) => unit.reconcile.putAgreement({ ...agreement, cursor: 9 }));
    const store = await fixture.reopen();
    expect(await of(store, "alpha")).toEqual({ ...agreement, cursor: 9 });
    expect(await of(store, "beta")).toBeUndefined();
  },
};

export const workerRecordChecks: readonly StoreCheck[] = [stopsAreKept, differencesAreKept, agreementsAreKept];
