// Checks of promise 7 and of the lossy path: ephemeral queues drop by their named policy and count it, marks are
// conflated, closing waits for the event in hand, and health tells the truth.
import { expect } from "vitest";
import type { BusEvent, OverflowPolicy, Subscription } from "../../ports/bus.ts";
import type { BusCheck, BusFixture } from "./bus-fixture.ts";
import { publish, publishMany, range, record, thingOf } from "./bus-kit.ts";
import { markMoved, type Thing, thingChanged } from "./subjects.ts";
import { eventually, gate, holdsWithin, rejection, stays } from "./waiting.ts";

interface Listener {
  readonly things: Thing[];
  readonly subscription: Subscription;
  release(): void;
}

/** Listens with a handler that keeps its first event in hand until it is released. */
async function listenHeld(fixture: BusFixture, overflow: OverflowPolicy, queueMax: number): Promise<Listener> {
  const held = gate();
  const things: Thing[] = [];
  const subscription = await fixture.bus.listen(
    { subjects: [thingChanged.name], queueMax, overflow },
    async (event) => {
      things.push(thingOf(event));
      await held.opened;
    },
  );
  return { things, subscription, release: held.open };
}

export const listenerHearsCommitted: BusCheck = {
  promise: 7,
  sentence: "an ephemeral subscription hears what is committed while it is open, and nothing from before or after",
  async run(fixture) {
    await publishMany(fixture.store, "k", 1, 2);
    const events: BusEvent[] = [];
    const subscription = await fixture.bus.listen(
      { subjects: [thingChanged.name], queueMax: 100, overflow: "drop-oldest" },
      async (event) => {
        events.push(event);
      },
    );
    const ids = await publishMany(fixture.store, "k", 3, 5);
    await eventually(fixture, "three events", () => events.length >= 3);
    await subscription.close();
    await publishMany(fixture.store, "k", 6, 6);
    await stays(fixture, () => events.map((event) => event.id), ids);
  },
};

export const dropsTheOldest: BusCheck = {
  promise: 7,
  sentence: "a full ephemeral queue with `drop-oldest` keeps the newest and counts what it dropped",
  async run(fixture) {
    const listener = await listenHeld(fixture, "drop-oldest", 3);
    await publish(fixture.store, { key: "k", n: 0 });
    await eventually(fixture, "the event in hand", () => listener.things.length >= 1);
    await publishMany(fixture.store, "k", 1, 12);
    await eventually(
      fixture,
      "the drops",
      () => listener.subscription.droppedCount() >= 9,
      () => listener.subscription.droppedCount(),
    );
    listener.release();
    await eventually(fixture, "the newest", () => listener.things.at(-1)?.n === 12);
    expect(listener.things.map((thing) => thing.n)).toEqual([0, 10, 11, 12]);
    expect(listener.subscription.droppedCount()).toBe(9);
  },
};

export const keepsTheNewestPerKey: BusCheck = {
  promise: 7,
  sentence: "a full ephemeral queue with `keep-newest-per-key` never drops a quiet key for the sake of a loud one",
  async run(fixture) {
    const listener = await listenHeld(fixture, "keep-newest-per-key", 2);
    await publish(fixture.store, { key: "loud", n: 0 });
    await eventually(fixture, "the event in hand", () => listener.things.length >= 1);
    await publish(fixture.store, { key: "quiet", n: 100 });
    await publishMany(fixture.store, "loud", 1, 12);
    await eventually(fixture, "drops", () => listener.subscription.droppedCount() >= 10);
    listener.release();
    const newest = () => listener.things.some((thing) => thing.key === "loud" && thing.n === 12);
    await eventually(fixture, "the newest of the loud key", newest, () => listener.things);
    expect(listener.things.filter((thing) => thing.key === "quiet").map((thing) => thing.n)).toEqual([100]);
    const loud = listener.things.filter((thing) => thing.key === "loud").map((thing) => thing.n);
    expect(loud).toEqual([...loud].sort((a, b) => a - b));
    expect(listener.things.length).toBeLessThanOrEqual(4);
  },
};

export const conflatesBroadcasts: BusCheck = {
  promise: 7,
  sentence: "broadcasts of one burst are conflated to the newest per key and heard by every process",
  async run(fixture) {
    const peer = await fixture.another();
    const heard: Record<"here" | "there", Thing[]> = { here: [], there: [] };
    // A queue that keeps everything, so that what is missing was conflated by the sender.
    const options = { subjects: [markMoved.name], queueMax: 1_000, overflow: "drop-oldest" } as const;
    await fixture.bus.listen(options, async (event) => void heard.here.push(thingOf(event)));
    await peer.bus.listen(options, async (event) => void heard.there.push(thingOf(event)));
    const newest = (things: Thing[], key: string) => things.filter((thing) => thing.key === key).at(-1)?.n;
    let last = 0;
    const arrived = () =>
      [heard.here, heard.there].every((things) => ["AAPL", "MSFT"].every((key) => newest(things, key) === last));
    // A mark may be lost, so a burst that did not arrive is followed by another.
    for (let burst = 1; burst <= 5 && !arrived(); burst += 1) {
      for (let n = 1; n <= 100; n += 1) {
        last = burst * 1_000 + n;
        for (const key of ["AAPL", "MSFT"]) fixture.bus.broadcast(markMoved, { key, n: last });
      }
      await holdsWithin(fixture, 2_000, arrived);
    }
    expect(arrived()).toBe(true);
    for (const things of [heard.here, heard.there]) {
      expect(things.length).toBeLessThan(100);
      const aapl = things.filter((thing) => thing.key === "AAPL").map((thing) => thing.n);
      expect(aapl).toEqual([...aapl].sort((a, b) => a - b));
    }
  },
};

export const closeWaitsForTheOneInHand: BusCheck = {
  promise: 7,
  sentence: "closing a subscription takes no new event, waits for the one in hand and keeps its place",
  async run(fixture) {
    const held = gate();
    const started: number[] = [];
    const first = await record(fixture.bus, { name: "conformance.closing" }, async (event) => {
      started.push(thingOf(event).n);
      await held.opened;
    });
    await publishMany(fixture.store, "k", 1, 3);
    await eventually(fixture, "the event in hand", () => started.length >= 1);
    let closed = false;
    const closing = first.subscription.close().then(() => {
      closed = true;
    });
    await stays(fixture, () => closed, false);
    held.open();
    await closing;
    await stays(fixture, () => [first.numbers(), started], [[1], [1]]);
    const second = await record(fixture.bus, { name: "conformance.closing" });
    await eventually(fixture, "the two that were left", () => second.events.length >= 2);
    expect(second.numbers()).toEqual(range(2, 3));
  },
};

export const healthIsTruthful: BusCheck = {
  promise: 7,
  sentence: "health says connected while it is, says why when it is not, and a closed bus refuses work",
  async run(fixture) {
    const seen = await record(fixture.bus, { name: "conformance.health" });
    expect(fixture.bus.health()).toEqual({ connected: true });
    if (fixture.outage !== undefined) {
      const restore = await fixture.outage();
      await eventually(fixture, "the complaint", () => !fixture.bus.health().connected);
      expect(fixture.bus.health().complaint ?? "").not.toBe("");
      await restore();
      await eventually(fixture, "the connection", () => fixture.bus.health().connected);
      await publish(fixture.store, { key: "k", n: 1 });
      await eventually(fixture, "an event after the outage", () => seen.numbers().includes(1));
    }
    await fixture.bus.close();
    await fixture.bus.close();
    const health = fixture.bus.health();
    expect(health.connected).toBe(false);
    expect(health.complaint ?? "").not.toBe("");
    await rejection(
      fixture.bus.subscribe({ name: "conformance.too-late", subjects: [thingChanged.name] }, () => Promise.resolve()),
      "subscribing on a closed bus",
    );
  },
};

export const queueChecks: readonly BusCheck[] = [
  listenerHearsCommitted,
  dropsTheOldest,
  keepsTheNewestPerKey,
  conflatesBroadcasts,
  closeWaitsForTheOneInHand,
  healthIsTruthful,
];
