// Checks of promise 10: up to which moment a durable subscription has heard everything. Whoever frees something because nothing was heard of it
// relies on this, so it may be late and never early.
import { expect } from "vitest";
import type { BusCheck } from "./bus-fixture.ts";
import { publish, record, thingOf } from "./bus-kit.ts";
import { thingChanged } from "./subjects.ts";
import { eventually, gate, pass } from "./waiting.ts";

/** Longer than any transport takes to look again. */
const aWhileMs = 2_300;

export const neverAheadOfWhatIsFinished: BusCheck = {
  promise: 10,
  sentence: "the caught-up time passes what is finished, stands still while an event is in hand, and goes on after it",
  async run(fixture) {
    const gates = new Map([
      [2, gate()],
      [3, gate()],
    ]);
    let inHand = 0;
    const seen = await record(fixture.bus, { name: "conformance.caught-up" }, async (event) => {
      inHand = thingOf(event).n;
      await gates.get(inHand)?.opened;
    });
    const { caughtUpAt } = seen.subscription;
    await publish(fixture.store, { key: "k", n: 1 });
    await eventually(
      fixture,
      "the first event to be passed",
      () => (caughtUpAt() ?? 0) > (seen.events[0]?.at ?? Infinity),
    );
    await publish(fixture.store, { key: "k", n: 2 });
    await eventually(fixture, "the second event", () => inHand === 2);
    // Committed while the second is in hand, so that whatever reads it does so later than it was made.
    await publish(fixture.store, { key: "k", n: 3 });
    await pass(fixture, 50);
    gates.get(2)?.open();
    await eventually(fixture, "the third event", () => inHand === 3);
    for (let n = 0; n < 10; n += 1) {
      caughtUpAt();
      await pass(fixture, aWhileMs / 10);
    }
    const stood = caughtUpAt() ?? 0;
    gates.get(3)?.open();
    await eventually(fixture, "all three events", () => seen.events.length >= 3);
    const third = seen.events[2]?.at ?? 0;
    expect(stood).toBeLessThanOrEqual(third);
    await eventually(fixture, "the third event to be passed", () => (caughtUpAt() ?? 0) > third);
  },
};

export const standsStillWhileAway: BusCheck = {
  promise: 10,
  sentence: "the caught-up time stands still while the transport is away, and nobody can say it of an ephemeral one",
  async run(fixture) {
    const listening = await fixture.bus.listen(
      { subjects: [thingChanged.name], queueMax: 100, overflow: "drop-oldest" },
      async () => undefined,
    );
    const seen = await record(fixture.bus, { name: "conformance.away" });
    const { caughtUpAt } = seen.subscription;
    await publish(fixture.store, { key: "a", n: 1 });
    await eventually(
      fixture,
      "the first event to be passed",
      () => (caughtUpAt() ?? 0) > (seen.events[0]?.at ?? Infinity),
    );
    expect(listening.caughtUpAt()).toBeUndefined();
    if (fixture.outage === undefined) return;
    const other = await fixture.another();
    const comeBack = await fixture.outage();
    await pass(fixture, 50);
    await publish(other.store, { key: "b", n: 2 });
    for (let n = 0; n < 10; n += 1) {
      caughtUpAt();
      await pass(fixture, aWhileMs / 10);
    }
    const stood = caughtUpAt() ?? 0;
    await comeBack();
    await eventually(fixture, "the second event", () => seen.events.length >= 2);
    const second = seen.events[1]?.at ?? 0;
    expect(stood).toBeLessThanOrEqual(second);
    await eventually(fixture, "the second event to be passed", () => (caughtUpAt() ?? 0) > second);
  },
};

export const caughtUpChecks: readonly BusCheck[] = [neverAheadOfWhatIsFinished, standsStillWhileAway];
