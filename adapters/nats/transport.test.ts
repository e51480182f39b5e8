// What only the NATS transport has: foreign publishers, a server that is killed, a relay that crashes, a stream that is full,
// trimmed, purged by somebody or set up wrongly.
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { everySubject } from "../../contracts/src/subjects.ts";
import { publish, publishMany, range, record, thingOf } from "../../testkit/conformance/bus-kit.ts";
import { conformanceRoot, markMoved, thingChanged } from "../../testkit/conformance/subjects.ts";
import { eventually, pass, stays } from "../../testkit/conformance/waiting.ts";
import { type NatsPlatform, openNatsPlatform, testStream } from "../../testkit/nats-fixture.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { systemClock } from "../system/clock.ts";
import { connectNats } from "./connect.ts";
import type { LeadRelay } from "./relay.ts";
import { ensureStream } from "./stream.ts";
import { trimStream } from "./trim.ts";
import { positionOf } from "./wire.ts";

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

async function streamState() {
  const manager = await jetstreamManager(foreign);
  return (await manager.streams.info(streamName)).state;
}

async function parkedRows() {
  return fixture.sql<{ subscription: string; event_id: string; error: string; attempts: number }>(
    "select subscription, event_id, error, attempts from parked_event order by parked_us",
  );
}

test("a foreign program's plain JSON is received like our own", async () => {
  const process = await fixture.process("first");
  await process.startRelay();
  const seen = await record(process.bus, { name: "test.foreign" });
  const sentAtMs = Date.now();
  foreign.publish(thingChanged.name, JSON.stringify({ key: "their key", n: 1 }));
  await publish(process.store, { key: "k", n: 2 });
  await eventually(real, "both events", () => seen.events.length >= 2, seen.numbers);
  const theirs = seen.events.find((event) => thingOf(event).n === 1);
  expect(theirs).toMatchObject({ subject: thingChanged.name, key: "their key", source: "foreign" });
  expect(theirs?.id).toMatch(/^nats:PORTCULLIS:\d+:\d+$/);
  // The server's clock is this machine's, read between the two readings here.
  expect((theirs?.at ?? 0) / 1_000).toBeGreaterThanOrEqual(sentAtMs);
  expect((theirs?.at ?? 0) / 1_000).toBeLessThan(Date.now() + 1);
});

test("foreign rubbish and unknown subjects are parked at once, and the rest goes on", async () => {
  const process = await fixture.process("first");
  await process.startRelay();
  const seen = await record(process.bus, { name: "test.rubbish", subjects: [`${conformanceRoot}.>`] });
  foreign.publish(thingChanged.name, "{ this is no JSON");
  foreign.publish(thingChanged.name, new Uint8Array([0xff, 0xfe, 0x00]));
  foreign.publish(`${conformanceRoot}.nobody.knows`, "{}");
  foreign.publish(markMoved.name, JSON.stringify({ key: "AAPL", n: 1 }));
  await foreign.flush();
  await publish(process.store, { key: "k", n: 1 });
  await eventually(real, "the good event", () => seen.events.length >= 1);
  const rows = await parkedRows();
  expect(rows.map((row) => [row.subscription, row.attempts])).toEqual(Array(3).fill(["test.rubbish", 0]));
  expect(rows[2]?.error).toContain("nobody knows the subject");
  expect(seen.numbers()).toEqual([1]);
});

test("marks are heard by listeners, ours and foreign, and are never stored", async () => {
  const process = await fixture.process("first");
  const heard: unknown[] = [];
  const options = { subjects: [markMoved.name], queueMax: 10, overflow: "keep-newest-per-key" } as const;
  await process.bus.listen(options, async (event) => void heard.push(event.payload));
  const before = (await streamState()).last_seq;
  process.bus.broadcast(markMoved, { key: "AAPL", n: 1 });
  await eventually(real, "the mark", () => heard.length >= 1);
  foreign.publish(`transient.${markMoved.name}`, JSON.stringify({ key: "MSFT", n: 2 }));
  await eventually(real, "the foreign mark", () => heard.length >= 2);
  expect((await streamState()).last_seq).toBe(before);
});

test("kill -9 of the server, again and again: nothing is lost, nothing comes twice, the order holds", async () => {
  const [writer, relay] = await Promise.all([fixture.process("writer"), fixture.process("relay")]);
  await relay.startRelay();
  const seen = await record(writer.bus, { name: "test.survivor", queueMax: 20 }, () => pass(real, 1));
  let published = 0;
  const publishing = (async () => {
    for (; published < 300; published++) await publish(writer.store, { key: "k", n: published + 1 });
  })();
  for (let round = 0; round < 4; round++) {
    const before = published;
    await eventually(real, "more events", () => published >= Math.min(300, before + 20));
    await fixture.server.kill();
    await pass(real, 50);
    await fixture.server.restart();
  }
  await publishing;
  await eventually(
    real,
    "all events",
    () => seen.events.length >= 300,
    () => seen.events.length,
  );
  await stays(real, seen.numbers, range(1, 300));
  await expect.poll(() => writer.bus.health()).toEqual({ connected: true });
});

test("a relay that dies between publishing and saving its cursor leaves no repetition behind", async () => {
  const [writer, victim, heir] = await Promise.all(["writer", "victim", "heir"].map((name) => fixture.process(name)));
  if (writer === undefined || victim === undefined || heir === undefined) throw new Error("three were asked for");
  const forgetful = (lead: LeadRelay): LeadRelay => {
    return async (signal) => ({ ...(await lead(signal)), saveCursor: () => Promise.resolve() });
  };
  const relay = await victim.startRelay({}, forgetful);
  const seen = await record(writer.bus, { name: "test.crash" });
  await publishMany(writer.store, "k", 1, 50);
  await eventually(real, "the first fifty", () => seen.events.length >= 50 && relay.publishedCount() >= 50);
  await victim.die();
  const [cursor] = await fixture.sql<{ cursor_id: string }>(
    "select cursor_id from subscription where name = 'nats.relay'",
  );
  expect(cursor?.cursor_id).toBe("0");
  const successor = await heir.startRelay();
  await publishMany(writer.store, "k", 51, 60);
  await eventually(real, "the last ten", () => seen.events.length >= 60);
  await stays(real, seen.numbers, range(1, 60));
  // The successor read at the end of the stream how far its predecessor had come.
  expect(successor.publishedCount()).toBe(10);
  expect((await streamState()).messages).toBe(60);
});

test("a stream that lost everything is filled again from the outbox, and a running subscription sees no repetition", async () => {
  const process = await fixture.process("first");
  await process.startRelay();
  const seen = await record(process.bus, { name: "test.refilled" });
  await publishMany(process.store, "k", 1, 20);
  await eventually(real, "the first twenty", () => seen.events.length >= 20);
  const manager = await jetstreamManager(foreign);
  await manager.streams.delete(streamName);
  await publishMany(process.store, "k", 21, 25);
  await eventually(real, "the rest", () => seen.events.length >= 25, seen.numbers);
  await eventually(real, "the refill", async () => (await streamState()).messages >= 25);
  await stays(real, seen.numbers, range(1, 25));
});

test("a stream that is deleted while nothing is published comes back by itself", async () => {
  const process = await fixture.process("first");
  const relay = await process.startRelay();
  await publishMany(process.store, "k", 1, 5);
  await eventually(real, "five messages", async () => (await streamState()).messages >= 5);
  const manager = await jetstreamManager(foreign);
  await manager.streams.delete(streamName);
  const messages = async (): Promise<number> =>
    (await manager.streams.info(streamName).catch(() => undefined))?.state.messages ?? 0;
  await eventually(real, "the stream is there again, filled", async () => (await messages()) >= 5);
  await eventually(real, "the relay is well", () => relay.health().complaint === undefined);
});

test("foreign messages between ours never put ours out of order", async () => {
  const process = await fixture.process("first");
  const stop = new AbortController();
  const flood = (async () => {
    while (!stop.signal.aborted) {
      for (let n = 0; n < 3; n++) foreign.publish(thingChanged.name, JSON.stringify({ key: "theirs", n }));
      await pass(real, 1);
    }
  })();
  await Promise.all(range(1, 8).map((key) => publishMany(process.store, `k${key}`, 1, 50)));
  const relay = await process.startRelay();
  await eventually(real, "our events", () => relay.publishedCount() >= 400);
  stop.abort();
  await flood;
  const manager = await jetstreamManager(foreign);
  const { last_seq } = await streamState();
  const positions: bigint[] = [];
  for (let seq = 1; seq <= last_seq && positions.length < 400; seq++) {
    const position = positionOf((await manager.streams.getMessage(streamName, { seq }))?.header);
    if (position !== undefined) positions.push(position);
  }
  expect(positions.length).toBe(400);
  expect(positions).toEqual([...positions].sort((a, b) => (a < b ? -1 : 1)));
});

test("a full stream stops the relay with a complaint and loses nothing once there is room", async () => {
  const process = await fixture.process("first");
  const manager = await jetstreamManager(foreign);
  await manager.streams.update(streamName, { max_bytes: 20_000 });
  // Small ones would still fit where a large one does not: they must not overtake it.
  for (const n of range(1, 40))
    await publish(process.store, { key: "k", n, text: "x".repeat(n % 3 === 0 ? 10 : 2_500) });
  const relay = await process.startRelay();
  await eventually(real, "the complaint", () => /maximum bytes/.test(relay.health().complaint ?? ""));
  const seen = await record(process.bus, { name: "test.full" });
  await manager.streams.update(streamName, { max_bytes: 10_000_000 });
  await eventually(real, "all forty", () => seen.events.length >= 40, seen.numbers);
  expect(seen.numbers()).toEqual(range(1, 40));
  await eventually(real, "no complaint", () => relay.health().complaint === undefined);
});

test("trimming removes what everybody has finished and keeps what somebody has not", async () => {
  const process = await fixture.process("first");
  await process.startRelay();
  const quick = await record(process.bus, { name: "test.quick" });
  const idle = await record(process.bus, { name: "test.idle", subjects: [`${conformanceRoot}.pear.red`] });
  await publishMany(process.store, "k", 1, 10);
  await eventually(real, "ten events", () => quick.events.length >= 10);
  const gone = await record(process.bus, { name: "test.gone" });
  await eventually(real, "ten more", () => gone.events.length >= 10);
  await gone.subscription.close();
  await publishMany(process.store, "k", 11, 20);
  await eventually(real, "twenty events", () => quick.events.length >= 20);
  const trim = (keepMs: number) => trimStream(process.link, { streamName, now: systemClock().now(), keepMs });
  expect(await trim(3_600_000)).toBe(0);
  // The closed subscription stands at ten; the idle one, with a filter that nothing matched, has finished all there is.
  let trimmed = 0;
  const trimMore = async (): Promise<number> => {
    trimmed += await trim(0);
    return trimmed;
  };
  // What was handled is reported to the server a moment later.
  await expect.poll(trimMore).toBe(10);
  await stays(real, trimMore, 10);
  await process.bus.forget("test.gone");
  expect(await trim(0)).toBe(9);
  expect((await streamState()).messages).toBe(1);
  expect(idle.events).toEqual([]);
  const late = await record(process.bus, { name: "test.late" });
  await eventually(real, "the one that is kept", () => late.events.length >= 1);
  expect(late.numbers()).toEqual([20]);
  await expect.poll(() => process.bus.health()).toEqual({ connected: true });
});

test("events that somebody removed before a subscription had them are a reported gap", async () => {
  const process = await fixture.process("first");
  await process.startRelay();
  const first = await record(process.bus, { name: "test.gap" });
  await publishMany(process.store, "k", 1, 3);
  await eventually(real, "three events", () => first.events.length >= 3);
  await first.subscription.close();
  await publishMany(process.store, "k", 4, 8);
  await eventually(real, "eight stored", async () => (await streamState()).messages >= 8);
  const manager = await jetstreamManager(foreign);
  await manager.streams.purge(streamName, { seq: 7 });
  const second = await record(process.bus, { name: "test.gap" });
  await eventually(real, "what is left", () => second.events.length >= 2);
  expect(second.numbers()).toEqual([7, 8]);
  expect(process.bus.health().complaint).toContain("test.gap missed events");
});

test("a stream that would lose events is refused with every reason", async () => {
  const manager = await jetstreamManager(foreign);
  const name = "ELSEWHERE";
  await manager.streams.add({ name, subjects: ["other.>"], discard: "old", max_age: 1_000_000_000 });
  const link = await connectNats({ url: fixture.server.url, name: "test", log: quietLog });
  const refused = await ensureStream(link, { ...testStream, name }).catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ code: "BUS_UNSUPPORTED", retry: "never" });
  for (const reason of ["discard", "max_age", "duplicate_window", everySubject])
    expect(String(refused)).toContain(reason);
  const compressed = await ensureStream(link, { ...testStream, compression: "s2" }).catch((thrown: unknown) => thrown);
  if (fixture.server.version.startsWith("2.9.")) expect(String(compressed)).toContain("stream_compression");
  await link.close();
});
