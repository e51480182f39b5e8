// How often a durable subscription reads while nothing happens, counted in virtual time: seldom while notifications are known to travel, and as often as
// ever from the moment on in which that is not known, behind a hole, and for a minute after it found a row that nobody had notified it of.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { thingChanged } from "../../../testkit/conformance/subjects.ts";
import { noAsideStore } from "../../../testkit/no-aside.ts";
import { noMetrics } from "../../../testkit/no-telemetry.ts";
import { knownSubject } from "../../../testkit/postgres-fixture.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { type Scheduler, scheduler } from "../../../testkit/virtual/scheduler.ts";
import { systemRandom } from "../../system/random.ts";
import { noAlarms } from "../alarms.ts";
import type { Standing } from "./bus-pulse.ts";
import type { BusSession, Leadership } from "./bus-session.ts";
import { type DurableSubscription, openDurable } from "./subscription-durable.ts";
import type { Poked } from "./wake.ts";

const entry = 7n;
let time: Scheduler;
let durable: DurableSubscription;
let pokes: Set<Poked>;
let watchers: Set<(standing: Standing) => void>;
/** Until when notifications are known to travel. */
let provenUntil: () => Instant | undefined;
/** What the next read finds. */
let found: unknown[][];
let reads: number;
let written: number;
let asideLooks: number;

/** A row as the reader gets it: right behind the one before, or behind a hole. */
function rowAt(id: number, before = id - 1): unknown[] {
  const payload = JSON.stringify({ key: "k", n: id });
  return [String(id), `e-${id}`, "1", thingChanged.name, "k", "test", payload, "1", "0", null, String(before), "1"];
}

const leadership: Leadership = {
  cursor: 0n,
  holds: () => true,
  async run(statement) {
    if (statement.name?.startsWith("bus_read") !== true) return { rows: [["9"]] } as never;
    reads += 1;
    return { rows: found } as never;
  },
  async moveCursor() {
    written += 1;
    return true;
  },
  resign: async () => undefined,
};

beforeEach(async () => {
  time = scheduler({ seed: 43 });
  [pokes, watchers, found, reads, written, asideLooks] = [new Set(), new Set(), [], 0, 0, 0];
  provenUntil = () => plusMilliseconds(time.clock.now(), 1_500);
  const session = { opened: async () => "open", lead: async () => leadership } as unknown as BusSession;
  const look = async () => {
    asideLooks += 1;
    return [];
  };
  const pulse = {
    provenUntil: () => provenUntil(),
    watch(_name: string, hear: (standing: Standing) => void) {
      watchers.add(hear);
      return () => void watchers.delete(hear);
    },
  };
  const wake = {
    onPoke(run: Poked) {
      pokes.add(run);
      return () => void pokes.delete(run);
    },
  };
  const context = { ...time, session, entry, pulse, wake, alarms: noAlarms, random: systemRandom(), log: quietLog };
  const options = { name: "test.pace", subjects: [thingChanged.name] };
  durable = openDurable(options, async () => undefined, {
    ...context,
    metrics: noMetrics,
    parking: { ...noAsideStore, due: look },
    subjectByName: knownSubject,
  });
  await pass(100);
});
afterEach(async () => {
  await time.finish("the end", durable.close());
});

const pass = (ms: number): Promise<void> => time.run({ untilMs: time.elapsedMs() + ms });
async function readsIn(ms: number): Promise<number> {
  reads = 0;
  await pass(ms);
  return reads;
}
const ring = (): void => {
  for (const poke of pokes) poke("events", new Set([thingChanged.name]));
};

describe("a subscription at rest", () => {
  it("reads every two seconds while notifications are known to travel, and at once when it is woken", async () => {
    await pass(5_000);
    expect(await readsIn(20_000)).toBe(10);
    ring();
    expect(await readsIn(100)).toBe(1);
  });

  it("reads four times a second where none has come back yet", async () => {
    provenUntil = () => undefined;
    await pass(3_000);
    expect(await readsIn(10_000)).toBe(40);
  });

  it("reads four times a second from the moment on in which notifications are no longer known to travel", async () => {
    await pass(10_000);
    const lostAt = plusMilliseconds(time.clock.now(), 1_500);
    provenUntil = () => lostAt;
    await pass(1_510);
    expect(await readsIn(1_250)).toBe(5);
    expect(await readsIn(10_000)).toBe(40);
    provenUntil = () => plusMilliseconds(time.clock.now(), 1_500);
    await pass(2_000);
    expect(await readsIn(20_000)).toBe(10);
  });

  it("takes a proof that a clock left in the future for none", async () => {
    const then = plusMilliseconds(time.clock.now(), 3_600_000);
    provenUntil = () => then;
    await pass(3_000);
    expect(await readsIn(10_000)).toBe(40);
  });

  it("reads four times a second for a minute after it found a row that nobody had notified it of", async () => {
    await pass(10_000);
    found = [rowAt(1)];
    await pass(2_100);
    found = [];
    expect(await readsIn(10_000)).toBe(40);
    await pass(50_000);
    expect(await readsIn(20_000)).toBe(10);
  });

  it("takes a row whose wake-up comes a moment later for one that it was notified of", async () => {
    await pass(10_000);
    found = [rowAt(1)];
    for (reads = 0; reads === 0; ) await pass(10);
    found = [];
    ring();
    await pass(1_000);
    expect(await readsIn(20_000)).toBe(10);
  });

  it("reads behind a hole as soon as ever", async () => {
    await pass(10_000);
    found = [rowAt(2, 0)];
    ring();
    expect(await readsIn(2_000)).toBeGreaterThan(40);
    found = [];
    await pass(1_000);
    expect(await readsIn(20_000)).toBe(10);
  });
});

describe("what a subscription at rest does beside reading", () => {
  it("writes a cursor that only passed others' rows every five seconds, and one that handled something within one", async () => {
    found = [[...rowAt(1).slice(0, 6), null, "1", "0", null, "0", "1"]];
    ring();
    await pass(100);
    found = [];
    written = 0;
    await pass(4_000);
    expect(written).toBe(0);
    await pass(2_000);
    expect(written).toBe(1);
    found = [rowAt(2)];
    ring();
    await pass(100);
    found = [];
    await pass(1_000);
    expect(written).toBe(2);
  });

  it("looks for what was put aside when the pulse says that there is something, and not before", async () => {
    await pass(20_000);
    expect(asideLooks).toBe(1);
    for (const hear of watchers) hear({ entry, hasAside: true });
    await pass(10);
    expect(asideLooks).toBe(2);
    for (const hear of watchers) hear({ entry, hasAside: false });
    await pass(20_000);
    expect(asideLooks).toBe(2);
  });

  it("ends when the pulse says that its name was forgotten, or entered again by somebody else", async () => {
    for (const hear of watchers) hear({ entry: entry + 1n, hasAside: false });
    await pass(10);
    expect(await readsIn(60_000)).toBe(0);
  });
});
