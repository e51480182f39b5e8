// Checks of promises 5, 8 and 10 about what was put aside: money is held in its lane while others go on, what was parked is tried again when somebody
// asks, and says what came of it; what is discarded is gone.
import { expect } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { BusEvent, DurableOptions } from "../../ports/bus.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { BusCheck, BusFixture } from "./bus-fixture.ts";
import { publish, record, thingOf } from "./bus-kit.ts";
import { thingChanged } from "./subjects.ts";
import { eventually, stays } from "./waiting.ts";

/** Longer than the pause before another try. */
const looksOfRetries = 150;

/** As a fill's fund: what the payload says, also one that matches no schema. */
const lane = (payload: unknown): string | undefined => {
  const key = (payload as { readonly key?: unknown } | undefined)?.key;
  return typeof key === "string" ? key : undefined;
};

const inUnit = <T>(fixture: BusFixture, work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
  fixture.store.transact("conformance.aside", work);
const aside = (fixture: BusFixture, name: string) =>
  inUnit(fixture, async (unit) => (await unit.parked.list(100)).filter(({ subscription }) => subscription === name));
const named = (events: readonly BusEvent[]) => events.map((event) => `${thingOf(event).key}${thingOf(event).n}`);

async function ask(fixture: BusFixture, name: string, eventId: string): Promise<void> {
  await inUnit(fixture, async (unit) => {
    const found = await unit.parked.lock(name, eventId);
    if (found === undefined) throw new Error(`${eventId} is not put aside`);
    await unit.parked.askRetry(name, eventId, { at: found.since, by: "operator:duty", reason: "mended" });
  });
}

export const moneyIsHeldInItsLane: BusCheck = {
  promise: 5,
  sentence:
    "23.5: an event that keeps failing holds its own lane alone, over a restart, and what waits behind it comes after it",
  async run(fixture) {
    const name = "conformance.lanes";
    let isMended = false;
    const before = async (event: BusEvent) => {
      if (thingOf(event).n === 2 && !isMended) throw new Error("planned: not bookable");
    };
    const options = { name, attemptsMax: 2, parks: false, lane };
    const seen = await record(fixture.bus, options, before);
    const ids: string[] = [];
    for (const [key, n] of [
      ["a", 1],
      ["a", 2],
      ["b", 1],
      ["a", 3],
      ["b", 3],
    ] as const) {
      ids.push(await publish(fixture.store, { key, n }));
    }
    await eventually(
      fixture,
      "the other lane",
      () => named(seen.events).includes("b3"),
      () => named(seen.events),
    );
    await eventually(
      fixture,
      "what waits",
      async () => (await aside(fixture, name)).length === 2,
      () => aside(fixture, name),
    );
    expect(named(seen.events)).toEqual(["a1", "b1", "b3"]);
    const held = await aside(fixture, name);
    expect(held.map(({ eventId, state, lane: of }) => [eventId, state, of])).toEqual([
      [ids[1], "HELD", "a"],
      [ids[3], "HELD", "a"],
    ]);
    expect(held[0]).toMatchObject({ error: "planned: not bookable", subject: thingChanged.name });
    expect(fixture.bus.health()).toMatchObject({ connected: true, complaint: expect.stringContaining(ids[1] ?? "?") });
    await seen.subscription.close();
    const again = await record(fixture.bus, options, before);
    await publish(fixture.store, { key: "a", n: 4 });
    await publish(fixture.store, { key: "b", n: 4 });
    await eventually(
      fixture,
      "the other lane again",
      () => named(again.events).includes("b4"),
      () => named(again.events),
    );
    expect(named(again.events).filter((one) => one.startsWith("a"))).toEqual([]);
    expect(fixture.bus.health().complaint).toContain(ids[1] ?? "?");
    // What is held is not finished.
    await stays(fixture, () => again.subscription.caughtUpAt(), undefined);
    isMended = true;
    await eventually(
      fixture,
      "the lane",
      () => named(again.events).includes("a4"),
      () => named(again.events),
    );
    expect(named(again.events).filter((one) => one.startsWith("a"))).toEqual(["a2", "a3", "a4"]);
    await eventually(fixture, "no complaint", () => fixture.bus.health().complaint === undefined);
    expect(await aside(fixture, name)).toEqual([]);
    await publish(fixture.store, { key: "a", n: 5 });
    await eventually(fixture, "what comes after", () => named(again.events).includes("a5"));
    await eventually(fixture, "that all is heard", () => again.subscription.caughtUpAt() !== undefined);
  },
};

export const unreadableMoneyIsHeld: BusCheck = {
  promise: 8,
  sentence:
    "23.5: what carries money and nobody can read is held with its lane and never parked; discarded, it frees the lane; without a lane it is held alone",
  async run(fixture) {
    const name = "conformance.unreadable";
    let reported: readonly (readonly [lane: string, eventId: string])[] | undefined;
    const onHeld: DurableOptions["onHeld"] = (held) => {
      reported = [...held].map(([of, { eventId }]) => [of, eventId]);
    };
    const seen = await record(fixture.bus, { name, parks: false, lane, onHeld });
    const broken = await fixture.injectRaw({ subject: thingChanged.name, key: "a", payload: { key: "a", n: "two" } });
    const nobodys = await fixture.injectRaw({ subject: thingChanged.name, key: "b", payload: ["no", "lane"] });
    const behind = await publish(fixture.store, { key: "a", n: 3 });
    await publish(fixture.store, { key: "b", n: 1 });
    await eventually(
      fixture,
      "the other lane",
      () => named(seen.events).includes("b1"),
      () => named(seen.events),
    );
    await eventually(
      fixture,
      "three held",
      async () => (await aside(fixture, name)).length === 3,
      () => aside(fixture, name),
    );
    const held = await aside(fixture, name);
    expect(held.map(({ eventId, state }) => [eventId, state])).toEqual(
      [broken, nobodys, behind].map((id) => [id, "HELD"]),
    );
    expect(held[0]?.error).toMatch(/schema/);
    await stays(fixture, () => named(seen.events), ["b1"], looksOfRetries);
    expect(reported).toEqual([
      ["a", broken],
      [`event ${nobodys}`, nobodys],
    ]);
    expect(fixture.bus.health().complaint).toBeDefined();
    const how = { at: held[0]?.since ?? (0 as never), by: "operator:duty", reason: "nobody's" };
    await inUnit(fixture, (unit) => unit.parked.discard(name, broken, how));
    await inUnit(fixture, (unit) => unit.parked.discard(name, nobodys, how));
    await eventually(
      fixture,
      "what waited",
      () => named(seen.events).includes("a3"),
      () => named(seen.events),
    );
    await eventually(fixture, "no complaint", () => fixture.bus.health().complaint === undefined);
    await eventually(fixture, "that nothing is held", () => reported?.length === 0);
    expect(await aside(fixture, name)).toEqual([]);
    await seen.subscription.close();
    reported = undefined;
    const again = await record(fixture.bus, { name, parks: false, lane, onHeld });
    await publish(fixture.store, { key: "a", n: 4 });
    await eventually(fixture, "the next", () => named(again.events).includes("a4"));
    expect(reported).toEqual([]);
    expect(await aside(fixture, name)).toEqual([]);
  },
};

export const unreadableMoneyWithoutLanes: BusCheck = {
  promise: 8,
  sentence: "23.5: without lanes a subscription that carries money stops at what nobody can read, and says so",
  async run(fixture) {
    const name = "conformance.stopped";
    const seen = await record(fixture.bus, { name, parks: false });
    await publish(fixture.store, { key: "a", n: 1 });
    const broken = await fixture.injectRaw({ subject: thingChanged.name, key: "a", payload: { key: "a", n: "two" } });
    await publish(fixture.store, { key: "b", n: 3 });
    await eventually(fixture, "the complaint", () => fixture.bus.health().complaint?.includes(broken) === true);
    await stays(fixture, () => named(seen.events), ["a1"]);
    expect(await fixture.parked()).toEqual([]);
  },
};

export const parkedIsTriedWhenAsked: BusCheck = {
  promise: 10,
  sentence:
    "23.5: what was parked is tried again when somebody asks: once, by whoever leads; it is gone when it was handled, and says why when it was not",
  async run(fixture) {
    const name = "conformance.again";
    let isMended = false;
    let tries = 0;
    const before = async (event: BusEvent) => {
      if (thingOf(event).n !== 2) return;
      tries += 1;
      if (!isMended) throw new Error(`planned: try ${tries}`);
    };
    const seen = await record(fixture.bus, { name, attemptsMax: 2 }, before);
    await publish(fixture.store, { key: "k", n: 1 });
    // Now the first one leads.
    await eventually(fixture, "the first event", () => seen.events.length === 1);
    const standby = await fixture.another();
    const other = await record(standby.bus, { name, attemptsMax: 2 });
    const id = await publish(fixture.store, { key: "k", n: 2 });
    await publish(fixture.store, { key: "k", n: 3 });
    await eventually(
      fixture,
      "the next event",
      () => named(seen.events).includes("k3"),
      () => named(seen.events),
    );
    const [parked] = await aside(fixture, name);
    expect(parked).toMatchObject({
      eventId: id,
      state: "PARKED",
      attempts: 2,
      error: "planned: try 2",
      retry: undefined,
    });
    await stays(fixture, () => tries, 2, looksOfRetries);
    await ask(fixture, name, id);
    const tried = async () => (await aside(fixture, name))[0];
    await eventually(fixture, "the failure", async () => (await tried())?.error === "planned: try 3", tried);
    expect(await tried()).toMatchObject({ attempts: 3, retry: undefined, state: "PARKED" });
    await stays(fixture, () => tries, 3, looksOfRetries);
    isMended = true;
    await ask(fixture, name, id);
    await eventually(
      fixture,
      "the success",
      async () => (await aside(fixture, name)).length === 0,
      () => aside(fixture, name),
    );
    expect(tries).toBe(4);
    expect(named(seen.events)).toEqual(["k1", "k3", "k2"]);
    expect(other.events).toEqual([]);
    await publish(fixture.store, { key: "k", n: 4 });
    await eventually(fixture, "the next event again", () => named(seen.events).includes("k4"));
  },
};

export const poisonIsReadAgain: BusCheck = {
  promise: 10,
  sentence:
    "23.5: what nobody can read is read again when somebody asks, and says why it still cannot be; discarded, it is gone for good",
  async run(fixture) {
    const name = "conformance.reread";
    const seen = await record(fixture.bus, { name });
    const id = await fixture.injectRaw({ subject: thingChanged.name, key: "k", payload: { key: "k", n: "two" } });
    await eventually(fixture, "the parked event", async () => (await aside(fixture, name)).length === 1);
    await ask(fixture, name, id);
    const tried = async () => (await aside(fixture, name))[0];
    await eventually(fixture, "the answer", async () => (await tried())?.attempts === 1, tried);
    expect(await tried()).toMatchObject({ retry: undefined, error: expect.stringMatching(/schema/) });
    expect(seen.events).toEqual([]);
    const how = { at: (await tried())?.since ?? (0 as never), by: "operator:duty", reason: "rubbish" };
    await inUnit(fixture, (unit) => unit.parked.discard(name, id, how));
    expect(await aside(fixture, name)).toEqual([]);
    await seen.subscription.close();
    const again = await record(fixture.bus, { name });
    await publish(fixture.store, { key: "k", n: 1 });
    await eventually(fixture, "the next", () => again.events.length === 1);
    expect(await aside(fixture, name)).toEqual([]);
  },
};

export const heldIsRefused: BusCheck = {
  promise: 10,
  sentence:
    "32.5: what was held and is refused when it is tried again leaves its lane and stays listed, whoever asked; what waited behind it comes",
  async run(fixture) {
    const name = "conformance.refused";
    let isJudged = false;
    const before = async (event: BusEvent) => {
      if (thingOf(event).n !== 1) return;
      if (isJudged) throw new Fault("FOREIGN_EVENT_REFUSED", "planned: never", { retry: "never" });
      throw new Error("planned: not yet");
    };
    const seen = await record(fixture.bus, { name, attemptsMax: 1, parks: false, lane }, before);
    const id = await publish(fixture.store, { key: "a", n: 1 });
    await publish(fixture.store, { key: "a", n: 2 });
    const listed = () => aside(fixture, name);
    await eventually(fixture, "what waits", async () => (await listed()).length === 2, listed);
    isJudged = true;
    await ask(fixture, name, id);
    await eventually(
      fixture,
      "what waited",
      () => named(seen.events).includes("a2"),
      () => named(seen.events),
    );
    const isAlone = async () => {
      const rows = await listed();
      return rows.length === 1 && rows[0]?.retry === undefined;
    };
    await eventually(fixture, "the refused one alone", isAlone, listed);
    expect((await listed())[0]).toMatchObject({
      eventId: id,
      state: "PARKED",
      lane: undefined,
      retry: undefined,
      error: "planned: never",
    });
    expect(named(seen.events)).toEqual(["a2"]);
    await eventually(fixture, "no complaint", () => fixture.bus.health().complaint === undefined);
  },
};

export const asideChecks: readonly BusCheck[] = [
  moneyIsHeldInItsLane,
  unreadableMoneyIsHeld,
  unreadableMoneyWithoutLanes,
  parkedIsTriedWhenAsked,
  poisonIsReadAgain,
  heldIsRefused,
];
