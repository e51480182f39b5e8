// Checks of promises 4 and 5: conflicts are tried again within a bound, and the order of events is the order of the
// transactions that made them.
import { expect } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Instance, Store } from "../../ports/store.ts";
import { range } from "./bus-kit.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { numbers } from "./store-transactions.ts";
import { thingChanged } from "./subjects.ts";
import { gate, rejection, transactPatiently } from "./waiting.ts";

function row(incarnation: string): Instance {
  return {
    service: "conformance",
    incarnation,
    host: "here",
    pid: 1,
    startedAt: 1_000_000 as Instant,
    leaseUntil: 2_000_000 as Instant,
  };
}

async function registerRows(store: Store, names: readonly string[]): Promise<void> {
  await store.transact("conformance.rows", async (unit) => {
    for (const name of names) await unit.instances.register(row(name));
  });
}

export const conflictIsRetried: StoreCheck = {
  promise: 4,
  sentence: "a serialization failure is tried again, and what the failed tries wrote is gone",
  async run(fixture) {
    await fixture.conflictNext(fixture.attemptsMax - 1);
    let runs = 0;
    await fixture.store.transact("conformance.retried", async (unit) => {
      runs += 1;
      await unit.events.publish(thingChanged, { key: "k", n: runs });
    });
    expect(runs).toBe(fixture.attemptsMax);
    expect(await numbers(fixture)).toEqual([fixture.attemptsMax]);
  },
};

export const exhaustionIsAFault: StoreCheck = {
  promise: 4,
  sentence: "conflicts beyond the bound are STORE_CONFLICT, nothing remains, and the next transaction is not affected",
  async run(fixture) {
    await fixture.conflictNext(fixture.attemptsMax);
    let runs = 0;
    const failing = fixture.store.transact("conformance.exhausted", async (unit) => {
      runs += 1;
      await unit.events.publish(thingChanged, { key: "k", n: runs });
    });
    const fault = await rejection(failing, "the exhausted transaction");
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ code: "STORE_CONFLICT" });
    expect((fault as Fault).retry).not.toBe("never");
    expect(runs).toBe(fixture.attemptsMax);
    expect(await numbers(fixture)).toEqual([]);
    await fixture.store.transact("conformance.next", (unit) => unit.events.publish(thingChanged, { key: "k", n: 9 }));
    expect(await numbers(fixture)).toEqual([9]);
  },
};

export const deadlockIsRetried: StoreCheck = {
  promise: 4,
  sentence: "two transactions that wait for each other both commit in the end",
  async run(fixture) {
    await registerRows(fixture.store, ["row-a", "row-b"]);
    const reached = { "row-a": gate(), "row-b": gate() };
    const cross = (first: "row-a" | "row-b", second: "row-a" | "row-b", n: number) =>
      transactPatiently(fixture.store, "conformance.deadlock", async (unit) => {
        await unit.instances.renew(first, (3_000_000 + n) as Instant);
        reached[first].open();
        await reached[second].opened;
        await unit.instances.renew(second, (3_000_000 + n) as Instant);
        await unit.events.publish(thingChanged, { key: "k", n });
      });
    await Promise.all([cross("row-a", "row-b", 1), cross("row-b", "row-a", 2)]);
    expect((await numbers(fixture)).sort()).toEqual([1, 2]);
  },
};

export const eventsFollowTheTransactions: StoreCheck = {
  promise: 5,
  sentence: "events of transactions that touched the same row are ordered as the transactions were",
  async run(fixture) {
    await registerRows(fixture.store, ["row-shared"]);
    let counter = 0;
    const committed: number[] = [];
    const write = async () => {
      for (let round = 0; round < 5; round += 1) {
        const n = await transactPatiently(fixture.store, "conformance.ordered", async (unit) => {
          await unit.instances.renew("row-shared", (3_000_000 + round) as Instant);
          // Whoever changed the row goes alone until its commit, so this counter runs in the order of the transactions.
          counter += 1;
          const mine = counter;
          await unit.events.publish(thingChanged, { key: "k", n: mine });
          return mine;
        });
        committed.push(n);
      }
    };
    await Promise.all(range(1, 6).map(write));
    expect(await numbers(fixture)).toEqual([...committed].sort((a, b) => a - b));
    expect(committed.length).toBe(30);
  },
};

export const conflictChecks: readonly StoreCheck[] = [
  conflictIsRetried,
  exhaustionIsAFault,
  deadlockIsRetried,
  eventsFollowTheTransactions,
];
