// Checks of promises 4, 5, 8 and 9: a subscriber's trouble stays its own, is tried again, and ends in a parked event that was
// reported instead of a loop; who asks gets what nobody can read, and proof of who published.

import { expect } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { BusEvent } from "../../ports/bus.ts";
import type { BusCheck } from "./bus-fixture.ts";
import { publish, publishMany, range, record, thingOf } from "./bus-kit.ts";
import { conformanceRoot, thingChanged } from "./subjects.ts";
import { eventually, gate, stays } from "./waiting.ts";

export const failingSubscriberIsAlone: BusCheck = {
  promise: 4,
  sentence: "a failing subscriber fails neither the publisher nor another subscription",
  async run(fixture) {
    await fixture.bus.subscribe({ name: "conformance.failing", subjects: [thingChanged.name], attemptsMax: 2 }, () =>
      Promise.reject(new Error("planned: always fails")),
    );
    await fixture.bus.subscribe({ name: "conformance.throwing", subjects: [thingChanged.name], attemptsMax: 2 }, () => {
      throw new Error("planned: throws before it has a promise");
    });
    const healthy = await record(fixture.bus, { name: "conformance.healthy" });
    await publishMany(fixture.store, "k", 1, 10);
    await eventually(fixture, "ten events for the healthy one", () => healthy.events.length >= 10);
    expect(healthy.numbers()).toEqual(range(1, 10));
    expect(fixture.bus.health().connected).toBe(true);
  },
};

export const slowSubscriberIsAlone: BusCheck = {
  promise: 4,
  sentence: "a handler that hangs holds up neither the publisher nor another subscription, and loses nothing",
  async run(fixture) {
    const held = gate();
    const slow = await record(fixture.bus, { name: "conformance.slow", queueMax: 5 }, () => held.opened);
    const quick = await record(fixture.bus, { name: "conformance.quick", queueMax: 5 });
    await publishMany(fixture.store, "k", 1, 60);
    await eventually(
      fixture,
      "sixty events for the quick one",
      () => quick.events.length >= 60,
      () => quick.events.length,
    );
    expect(slow.events.length).toBe(0);
    held.open();
    await eventually(
      fixture,
      "sixty events for the slow one",
      () => slow.events.length >= 60,
      () => slow.events.length,
    );
    expect(slow.numbers()).toEqual(range(1, 60));
    expect(quick.numbers()).toEqual(range(1, 60));
    expect(slow.subscription.droppedCount()).toBe(0);
  },
};

export const triesAgain: BusCheck = {
  promise: 5,
  sentence: "a handler that fails twice and then succeeds has handled the event, before any later one of its key",
  async run(fixture) {
    let failures = 0;
    const seen = await record(fixture.bus, { name: "conformance.flaky", attemptsMax: 3 }, async (event) => {
      if (thingOf(event).n !== 2 || failures >= 2) return;
      failures += 1;
      throw new Error("planned: fails twice");
    });
    await publishMany(fixture.store, "k", 1, 4);
    await eventually(
      fixture,
      "four events",
      () => seen.events.length >= 4,
      () => seen.numbers(),
    );
    expect(failures).toBe(2);
    expect(seen.numbers()).toEqual([1, 2, 3, 4]);
    expect(await fixture.parked()).toEqual([]);
  },
};

export const waitsForLater: BusCheck = {
  promise: 5,
  sentence:
    "an event whose handler finds the store away more often than `attemptsMax` is not parked, and is handled when it is back",
  async run(fixture) {
    let troubles = 0;
    const seen = await record(fixture.bus, { name: "conformance.troubled", attemptsMax: 2 }, async (event) => {
      if (thingOf(event).n !== 2 || troubles >= 4) return;
      troubles += 1;
      throw new Fault("STORE_UNAVAILABLE", "planned: the store is away", { retry: "later" });
    });
    await publishMany(fixture.store, "k", 1, 3);
    await eventually(
      fixture,
      "three events",
      () => seen.events.length >= 3,
      () => seen.numbers(),
    );
    expect(troubles).toBe(4);
    expect(seen.numbers()).toEqual([1, 2, 3]);
    expect(await fixture.parked()).toEqual([]);
  },
};

export const aheadReplacesNothing: BusCheck = {
  promise: 5,
  sentence: "what is shown ahead is handed over as well, in order and once, also when showing it fails",
  async run(fixture) {
    const shown: string[] = [];
    const ahead = async (events: readonly BusEvent[]) => {
      for (const event of events) shown.push(event.id);
      if (shown.length % 2 === 0) throw new Error("planned: not together");
    };
    const seen = await record(fixture.bus, { name: "conformance.ahead", ahead });
    await publishMany(fixture.store, "k", 1, 40);
    await eventually(
      fixture,
      "forty events",
      () => seen.events.length >= 40,
      () => seen.numbers(),
    );
    expect(seen.numbers()).toEqual(range(1, 40));
    const handled = new Set(seen.events.map(({ id }) => id));
    expect(shown.filter((id) => !handled.has(id))).toEqual([]);
    expect(await fixture.parked()).toEqual([]);
  },
};

export const parksAndGoesOn: BusCheck = {
  promise: 5,
  sentence: "an event whose handler keeps failing is tried `attemptsMax` times, parked, reported, and the next goes on",
  async run(fixture) {
    const name = "conformance.parking";
    let tries = 0;
    const seen = await record(fixture.bus, { name, attemptsMax: 3 }, async (event) => {
      if (thingOf(event).n !== 2) return;
      tries += 1;
      throw new Error("planned: never succeeds");
    });
    const ids = await publishMany(fixture.store, "k", 1, 3);
    await eventually(
      fixture,
      "the event after the bad one",
      () => seen.events.length >= 2,
      () => seen.numbers(),
    );
    expect(seen.numbers()).toEqual([1, 3]);
    expect(tries).toBe(3);
    const parked = async () => (await fixture.parked()).filter((one) => one.subscription === name);
    await eventually(fixture, "the report", async () => (await parked()).length >= 1);
    expect((await parked()).map((one) => one.eventId)).toEqual([ids[1]]);
    await eventually(fixture, "the count of finished events", () => seen.subscription.handledCount() === 3);
    await seen.subscription.close();
    const again = await record(fixture.bus, { name, attemptsMax: 3 });
    await publish(fixture.store, { key: "k", n: 4 });
    await eventually(fixture, "the next event", () => again.events.length >= 1);
    expect(again.numbers()).toEqual([4]);
  },
};

export const moneyIsHeld: BusCheck = {
  promise: 5,
  sentence:
    "23.5: a subscription that carries money stops at an event whose handler keeps failing, says so, and goes on behind it also after a restart",
  async run(fixture) {
    const name = "conformance.money";
    let isMended = false;
    let tries = 0;
    const before = async (event: BusEvent) => {
      if (thingOf(event).n !== 2 || isMended) return;
      tries += 1;
      throw new Error("planned: not bookable");
    };
    const options = { name, attemptsMax: 2, parks: false };
    const seen = await record(fixture.bus, options, before);
    const other = await record(fixture.bus, { name: "conformance.beside" });
    const ids = await publishMany(fixture.store, "k", 1, 4);
    await eventually(
      fixture,
      "more tries than `attemptsMax`",
      () => tries >= 5,
      () => tries,
    );
    expect(seen.numbers()).toEqual([1]);
    expect(fixture.bus.health()).toMatchObject({ connected: true, complaint: expect.stringContaining(ids[1] ?? "?") });
    await eventually(fixture, "the other subscription", () => other.events.length === 4);
    await seen.subscription.close();
    expect(fixture.bus.health().complaint).toBeUndefined();
    const tried = tries;
    const again = await record(fixture.bus, options, before);
    await eventually(fixture, "tries after the restart", () => tries > tried + 2);
    expect(again.numbers().filter((n) => n !== 1)).toEqual([]);
    isMended = true;
    await eventually(
      fixture,
      "what was held and what waited behind it",
      () => again.events.length >= 3,
      () => again.numbers(),
    );
    expect(again.numbers().filter((n) => n !== 1)).toEqual([2, 3, 4]);
    await eventually(fixture, "no complaint", () => fixture.bus.health().complaint === undefined);
    expect(await fixture.parked()).toEqual([]);
  },
};

export const poisonIsParked: BusCheck = {
  promise: 5,
  sentence:
    "an event that does not match its subject's schema is parked without being handed over, and the next goes on",
  async run(fixture) {
    const name = "conformance.poison";
    const seen = await record(fixture.bus, { name, attemptsMax: 2 });
    await publish(fixture.store, { key: "k", n: 1 });
    const poison = await fixture.injectRaw({
      subject: thingChanged.name,
      key: "k",
      payload: { key: "k", n: "not a number" },
    });
    await publish(fixture.store, { key: "k", n: 2 });
    await eventually(
      fixture,
      "the event behind the poison",
      () => seen.events.length >= 2,
      () => seen.events,
    );
    await stays(fixture, () => seen.numbers(), [1, 2]);
    const parked = async () => (await fixture.parked()).filter((one) => one.subscription === name);
    await eventually(fixture, "the report", async () => (await parked()).length >= 1);
    expect((await parked()).map((one) => one.eventId)).toEqual([poison]);
  },
};

export const unreadIsHandedOver: BusCheck = {
  promise: 8,
  sentence: "who asks for it is handed what nobody can read, in its place and as it came, while others have it parked",
  async run(fixture) {
    const subjects = [`${conformanceRoot}.>`];
    const shown: BusEvent[] = [];
    const ahead = async (events: readonly BusEvent[]) => void shown.push(...events);
    const malformed = { key: "k", n: "not a number" };
    const ids = [await publish(fixture.store, { key: "k", n: 1 })];
    ids.push(await fixture.injectRaw({ subject: thingChanged.name, key: "k", payload: malformed }));
    const unknown = { subject: `${conformanceRoot}.nobody.knows`, key: "k" };
    ids.push(await fixture.injectRaw({ ...unknown, payload: ["any", "thing"] }));
    ids.push(await publish(fixture.store, { key: "k", n: 2 }));
    const all = await record(fixture.bus, { name: "conformance.unread", subjects, unread: true, ahead });
    const others = await record(fixture.bus, { name: "conformance.read", subjects, attemptsMax: 2 });
    await eventually(fixture, "everything", () => all.events.length >= 4 && others.events.length >= 2, all.ids);
    expect(all.ids()).toEqual(ids);
    const bytesOf = ({ unread }: BusEvent) => JSON.parse(new TextDecoder().decode(unread?.bytes));
    const [first, second, third, last] = all.events as [BusEvent, BusEvent, BusEvent, BusEvent];
    expect([first.unread, last.unread]).toEqual([undefined, undefined]);
    expect(second).toMatchObject({ subject: thingChanged.name, payload: undefined, unread: { kind: "malformed" } });
    expect(second.unread?.reason).toMatch(/schema/);
    expect(third).toMatchObject({ ...unknown, payload: undefined, unread: { kind: "unknown subject" } });
    expect([bytesOf(second), bytesOf(third)]).toEqual([malformed, ["any", "thing"]]);
    expect(shown.filter(({ id }) => !ids.includes(id))).toEqual([]);
    await eventually(fixture, "both reports", async () => (await fixture.parked()).length >= 2, fixture.parked);
    expect((await fixture.parked()).map(({ subscription, eventId }) => [subscription, eventId])).toEqual([
      ["conformance.read", ids[1]],
      ["conformance.read", ids[2]],
    ]);
    expect(others.numbers()).toEqual([1, 2]);
  },
};

export const committedIsProved: BusCheck = {
  promise: 9,
  sentence: "who asks for proof gets what was committed as everybody else does, with its source, and no claim",
  async run(fixture) {
    const plain = await record(fixture.bus, { name: "conformance.plain" });
    const proved = await record(fixture.bus, { name: "conformance.proved", proved: true });
    await publishMany(fixture.store, "k\u00e9 \n", 1, 20);
    await eventually(
      fixture,
      "all twenty, twice",
      () => plain.events.length >= 20 && proved.events.length >= 20,
      () => [plain.numbers(), proved.numbers()],
    );
    expect(proved.events).toEqual(plain.events);
    expect(proved.events.filter(({ claimed, source }) => claimed !== undefined || source === "foreign")).toEqual([]);
  },
};

export const failureChecks: readonly BusCheck[] = [
  failingSubscriberIsAlone,
  slowSubscriberIsAlone,
  triesAgain,
  waitsForLater,
  aheadReplacesNothing,
  parksAndGoesOn,
  moneyIsHeld,
  poisonIsParked,
  unreadIsHandedOver,
  committedIsProved,
];
