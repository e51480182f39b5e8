// Checks of promise 3 and of the trap behind promise 1: a transaction that took its number early and commits late must
// neither be passed by the reader nor break the order within a key.
import { expect } from "vitest";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Store } from "../../ports/store.ts";
import type { BusCheck, BusFixture, HeldEvent } from "./bus-fixture.ts";
import { publish, record, thingOf } from "./bus-kit.ts";
import { thingChanged } from "./subjects.ts";
import { eventually, gate, holdsWithin, transactPatiently } from "./waiting.ts";

/** A transaction that has published and is slow to end. */
async function holdEvent(
  fixture: BusFixture,
  payload: { readonly key: string; readonly n: number },
): Promise<HeldEvent> {
  if (fixture.holdEvent !== undefined)
    return fixture.holdEvent({ subject: thingChanged.name, key: payload.key, payload });
  const published = gate();
  const ended = gate();
  let rollsBack = false;
  const late = fixture.store.transact("conformance.late", async (unit) => {
    await unit.events.publish(thingChanged, payload);
    published.open();
    await ended.opened;
    if (rollsBack) throw new Error("planned");
  });
  await published.opened;
  return {
    async commit() {
      ended.open();
      await late;
    },
    async rollback() {
      rollsBack = true;
      ended.open();
      await expect(late).rejects.toThrow("planned");
    },
  };
}

/** Catches a reader that remembers the highest id it has seen: it would pass the late transaction's event for ever. */
export const lateCommit: BusCheck = {
  promise: 1,
  sentence: "an event whose transaction commits late is delivered, although later ones were committed before it",
  async run(fixture) {
    const seen = await record(fixture.bus, { name: "conformance.late-commit" });
    await publish(fixture.store, { key: "before", n: 1 });
    await eventually(fixture, "the event before", () => seen.events.length >= 1);
    const late = await holdEvent(fixture, { key: "late", n: 2 });
    await publish(fixture.store, { key: "early", n: 3 });
    await publish(fixture.store, { key: "early", n: 4 });
    // A reader may hold these two back until the late transaction has ended; one that hands them over now must remember it.
    await holdsWithin(fixture, 500, () => seen.events.length >= 3);
    await late.commit();
    await publish(fixture.store, { key: "after", n: 5 });
    await eventually(
      fixture,
      "the late event and all others",
      () => seen.events.length >= 5,
      () => seen.numbers(),
    );
    expect([...seen.numbers()].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    const early = seen.events.filter((event) => event.key === "early").map((event) => thingOf(event).n);
    expect(early).toEqual([3, 4]);
  },
};

export const lateRollback: BusCheck = {
  promise: 1,
  sentence: "a transaction that published early and is rolled back late holds nobody back for ever",
  async run(fixture) {
    const seen = await record(fixture.bus, { name: "conformance.late-rollback" });
    const late = await holdEvent(fixture, { key: "late", n: 1 });
    await publish(fixture.store, { key: "early", n: 2 });
    await late.rollback();
    await eventually(fixture, "the event beside it", () => seen.events.length >= 1);
    expect(seen.numbers()).toEqual([2]);
  },
};

const keys = ["red", "green", "blue"] as const;
const writers = 6;
const rounds = 8;

async function registerRows(store: Store): Promise<void> {
  await store.transact("conformance.rows", async (unit) => {
    for (const key of keys) {
      await unit.instances.register({
        service: "conformance",
        incarnation: `row-${key}`,
        host: "here",
        pid: 1,
        startedAt: 1_000_000 as Instant,
        leaseUntil: 2_000_000 as Instant,
      });
    }
  });
}

export const commitOrderPerKey: BusCheck = {
  promise: 3,
  sentence: "events with one key arrive in commit order, one at a time, while many write at once",
  async run(fixture) {
    await registerRows(fixture.store);
    let inHand = 0;
    let inHandMax = 0;
    const seen = await record(fixture.bus, { name: "conformance.order" }, async () => {
      inHand += 1;
      inHandMax = Math.max(inHandMax, inHand);
      await Promise.resolve();
      inHand -= 1;
    });
    const peer = await fixture.another();
    const counters = new Map<string, number>();
    const committed = new Map<string, number[]>(keys.map((key) => [key, []]));
    const write = async (writer: number) => {
      const store = writer % 2 === 0 ? fixture.store : peer.store;
      for (let round = 0; round < rounds; round += 1) {
        const key = keys[(writer + round) % keys.length] ?? "red";
        const n = await transactPatiently(store, "conformance.ordered", async (unit) => {
          // Whoever changes the row of the key goes alone until its commit, so this counter runs in commit order.
          await unit.instances.renew(`row-${key}`, (3_000_000 + round) as Instant);
          const next = (counters.get(key) ?? 0) + 1;
          counters.set(key, next);
          await unit.events.publish(thingChanged, { key, n: next });
          return next;
        });
        committed.get(key)?.push(n);
      }
    };
    await Promise.all(Array.from({ length: writers }, (_unused, writer) => write(writer)));
    const total = writers * rounds;
    await eventually(
      fixture,
      `${total} events`,
      () => seen.events.length >= total,
      () => seen.events.length,
    );
    for (const key of keys) {
      const arrived = seen.events.filter((event) => event.key === key).map((event) => thingOf(event).n);
      const wanted = [...(committed.get(key) ?? [])].sort((a, b) => a - b);
      expect(arrived).toEqual(wanted);
    }
    expect(inHandMax).toBe(1);
  },
};

export const orderWithinOneTransaction: BusCheck = {
  promise: 3,
  sentence: "events of one transaction with one key arrive in the order in which they were published",
  async run(fixture) {
    const seen = await record(fixture.bus, { name: "conformance.one-transaction" });
    await fixture.store.transact("conformance.batch", async (unit) => {
      for (let n = 1; n <= 20; n += 1) await unit.events.publish(thingChanged, { key: "k", n });
    });
    await eventually(fixture, "twenty events", () => seen.events.length >= 20);
    expect(seen.numbers()).toEqual(Array.from({ length: 20 }, (_unused, index) => index + 1));
  },
};

export const orderChecks: readonly BusCheck[] = [
  lateCommit,
  lateRollback,
  commitOrderPerKey,
  orderWithinOneTransaction,
];
