// A durable subscription's place in the stream: it never goes back, it is trusted only while the stream still holds that very
// message, and a name that somebody forgot ends whoever runs under it.
import { AckPolicy, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import { publish, publishMany, range, record } from "../../testkit/conformance/bus-kit.ts";
import { pearRed } from "../../testkit/conformance/subjects.ts";
import { eventually, stays } from "../../testkit/conformance/waiting.ts";
import { type NatsPlatform, openNatsPlatform } from "../../testkit/nats-fixture.ts";
import { noMetrics } from "../../testkit/no-telemetry.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { startTrim } from "../postgres/bus/trim.ts";
import { openPool } from "../postgres/connection.ts";
import { systemClock } from "../system/clock.ts";
import { systemTimers } from "../system/timers.ts";
import { generationName, recordedPlace } from "./consumer-list.ts";
import { oldestStored, trimStream } from "./trim.ts";

const real = {};
const streamName = "PORTCULLIS";
let fixture: NatsPlatform;
let foreign: NatsConnection;

beforeEach(async () => {
  fixture = await openNatsPlatform();
  foreign = await connect({ servers: fixture.server.url, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
});

afterEach(async () => {
  await foreign.close();
  await fixture.close();
});

async function consumers() {
  const manager = await jetstreamManager(foreign);
  const found = [];
  for await (const info of manager.consumers.list(streamName)) found.push(info);
  return found;
}

test("an idle subscription that closes keeps the place that trimming has followed: nothing was missed", async () => {
  const process = await fixture.process("first");
  const relay = await process.startRelay();
  const narrow = { name: "test.narrow", subjects: [pearRed.name] };
  const first = await record(process.bus, narrow);
  await publishMany(process.store, "k", 1, 20);
  await eventually(real, "all stored", () => relay.publishedCount() === 20);
  await eventually(real, "the place", async () =>
    (await consumers()).every((each) => recordedPlace(each).sequence === 20),
  );
  expect(await trimStream(process.link, { streamName, now: systemClock().now(), keepMs: 0 })).toBe(19);
  await first.subscription.close();
  expect((await consumers()).map((each) => recordedPlace(each).sequence)).toEqual([20]);
  const second = await record(process.bus, narrow);
  await publish(process.store, { key: "k", n: 21 }, pearRed);
  await eventually(real, "the one for it", () => second.events.length >= 1);
  await expect.poll(() => process.bus.health()).toEqual({ connected: true });
});

test("a place is gone back from when the stream holds another message under its number, and trusted when it does not", async () => {
  const process = await fixture.process("first");
  const relay = await process.startRelay();
  await publishMany(process.store, "k", 1, 12);
  await eventually(real, "all stored", () => relay.publishedCount() === 12);
  const manager = await jetstreamManager(foreign);
  const stored = (await manager.streams.getMessage(streamName, { seq: 10 }))?.time.getTime() ?? 0;
  const place = async (name: string, storedAtMs: number): Promise<void> => {
    await manager.consumers.add(streamName, {
      durable_name: generationName(name, 7),
      description: `cursor 10 stored ${storedAtMs}`,
      ack_policy: AckPolicy.Explicit,
    });
  };
  // Its tenth message was stored a minute ago; what is there now came later, after the stream had lost its end.
  await place("test.lost", stored - 60_000);
  await place("test.kept", stored);
  const [lost, kept] = [
    await record(process.bus, { name: "test.lost" }),
    await record(process.bus, { name: "test.kept" }),
  ];
  await eventually(real, "everything again", () => lost.events.length >= 12, lost.numbers);
  await eventually(real, "the rest", () => kept.events.length >= 2, kept.numbers);
  expect(lost.numbers()).toEqual(range(1, 12));
  expect(kept.numbers()).toEqual([11, 12]);
  await publish(process.store, { key: "k", n: 13 });
  await eventually(real, "the next", () => lost.events.length >= 13 && kept.events.length >= 3);
  await expect.poll(() => process.bus.health()).toEqual({ connected: true });
});

test("what a subscription records carries the time of the message", async () => {
  const process = await fixture.process("first");
  await process.startRelay();
  const seen = await record(process.bus, { name: "test.timed" });
  await publishMany(process.store, "k", 1, 3);
  await eventually(real, "three events", () => seen.events.length >= 3);
  await seen.subscription.close();
  const manager = await jetstreamManager(foreign);
  const message = await manager.streams.getMessage(streamName, { seq: 3 });
  const [place] = (await consumers()).map(recordedPlace);
  expect(place?.sequence).toBe(3);
  expect(Math.abs((place?.storedAtMs ?? 0) - (message?.time.getTime() ?? 0))).toBeLessThanOrEqual(1);
});

test("forgetting a name ends who handles elsewhere and who stands by, and leaves no consumer behind", async () => {
  const [first, second, third] = await Promise.all(["first", "second", "third"].map((each) => fixture.process(each)));
  if (first === undefined || second === undefined || third === undefined) throw new Error("three were asked for");
  await first.startRelay();
  const name = "test.forgotten";
  const leading = await record(second.bus, { name });
  await publishMany(first.store, "k", 1, 3);
  await eventually(real, "three events", () => leading.events.length >= 3);
  const standing = await record(third.bus, { name });
  await first.bus.forget(name);
  for (const process of [second, third])
    await eventually(
      real,
      "the end",
      () => /was forgotten/.test(process.bus.health().complaint ?? ""),
      () => process.bus.health(),
    );
  await publishMany(first.store, "k", 4, 5);
  await stays(real, () => [leading.numbers(), standing.numbers()], [[1, 2, 3], []]);
  expect(await consumers()).toEqual([]);
  await leading.subscription.close();
  await expect.poll(() => second.bus.health()).toEqual({ connected: true });
  const anew = await record(second.bus, { name });
  await eventually(real, "everything that is kept", () => anew.events.length >= 5, anew.numbers);
  expect(anew.numbers()).toEqual(range(1, 5));
});

test("handled ids stay known while NATS can still hand over their events, and while it cannot say", async () => {
  const process = await fixture.process("first");
  const relay = await process.startRelay();
  const id = await publish(process.store, { key: "k", n: 1 });
  await eventually(real, "one stored", () => relay.publishedCount() === 1);
  await process.store.transact("test.handle", async (unit) => void (await unit.handled.firstTime("test.late", id)));
  const pool = openPool(fixture.database.address.app, { log: quietLog, applicationName: "history test", sizeMax: 1 });
  await fixture.sql("update outbox set at_us = at_us - 3600000000");
  // Three days later: the outbox is trimmed behind the relay, the stream still keeps the event for who was away.
  const clock = { now: () => plusMilliseconds(systemClock().now(), 3 * 86_400_000) };
  const historyFloor = () => oldestStored(process.link, streamName, clock);
  const ports = { clock, timers: systemTimers(), log: quietLog, metrics: noMetrics };
  const trim = startTrim({ ...ports, pool, historyFloor });
  const known = async () => (await fixture.sql("select 1 from handled_event")).length;
  try {
    await eventually(real, "the outbox is trimmed", async () => {
      await trim.round();
      return (await fixture.sql("select 1 from outbox")).length === 0;
    });
    expect(await known()).toBe(1);
    await fixture.server.kill();
    await eventually(real, "the outage", () => !process.link.health().connected);
    await trim.round();
    expect(await known()).toBe(1);
    await fixture.server.restart();
    await eventually(real, "the server", () => process.link.health().connected);
    await process.link.manager.streams.purge(streamName);
    await trim.round();
    expect(await known()).toBe(0);
  } finally {
    await trim.close();
    await pool.end();
  }
});
