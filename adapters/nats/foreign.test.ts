// Foreign messages that mean no good, or do not know better: odd ids and headers, forged headers of ours. None of them may stop a
// subscription or lead the relay astray.
import { randomBytes } from "node:crypto";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, headers, type NatsConnection } from "@nats-io/transport-node";
import type { QueryArrayConfig } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { BusEvent } from "../../ports/bus.ts";
import { publish, publishMany, range, record } from "../../testkit/conformance/bus-kit.ts";
import { appleRed, thingChanged } from "../../testkit/conformance/subjects.ts";
import { eventually } from "../../testkit/conformance/waiting.ts";
import { type NatsPlatform, openNatsPlatform, testLookup, testStream } from "../../testkit/nats-fixture.ts";
import { noAsideStore } from "../../testkit/no-aside.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { type Claim, proveOnPostgres } from "../postgres/bus/outbox-proof.ts";
import { openClient } from "../postgres/connection.ts";
import { systemClock } from "../system/clock.ts";
import { systemTimers } from "../system/timers.ts";
import { createAside } from "../transport/put-aside.ts";
import { connectNats, type NatsLink } from "./connect.ts";
import { handleOne } from "./handle-one.ts";
import type { Parked } from "./park.ts";
import { recentIds } from "./recent-ids.ts";
import { ensureStream } from "./stream.ts";

const real = {};
let fixture: NatsPlatform;
let foreign: NatsConnection;

beforeEach(async () => {
  fixture = await openNatsPlatform();
  foreign = await connect({ servers: fixture.server.url });
});

afterEach(async () => {
  await foreign.close();
  await fixture.close();
});

function send(payload: string, fields: Readonly<Record<string, string>>): void {
  const made = headers();
  for (const [name, value] of Object.entries(fields)) made.set(name, value);
  foreign.publish(thingChanged.name, payload, { headers: made });
}

/** Random, so that the database cannot compress it into its index after all. */
const endlessId = (): string => randomBytes(4_000).toString("hex");

test("ids and headers that the database cannot hold stop nobody, parked or handled", async () => {
  const process = await fixture.process("first");
  await process.startRelay();
  const name = "test.odd";
  const seen = await record(process.bus, { name }, (event) =>
    process.store.transact("test.handle", async (unit) => void (await unit.handled.firstTime(name, event.id))),
  );
  send("no JSON", { "Nats-Msg-Id": endlessId() });
  send("no JSON", { "Nats-Msg-Id": "one\u0001two" });
  send("no JSON", { "Portcullis-Source": `three\0${"x".repeat(5_000)}`, "Portcullis-Key": "%00four" });
  send(JSON.stringify({ key: "k", n: 1 }), { "Nats-Msg-Id": endlessId() });
  send(JSON.stringify({ key: "fi\0ve", n: 2 }), { "Nats-Msg-Id": "six\u0007", "Portcullis-Source": "seven\0" });
  await foreign.flush();
  await publish(process.store, { key: "k", n: 3 });
  await eventually(real, "the three good ones", () => seen.events.length >= 3, seen.numbers);
  expect(seen.numbers()).toEqual([1, 2, 3]);
  expect(seen.events[1]).toMatchObject({ key: "five", source: "seven" });
  const parked = () =>
    fixture.sql<{ event_id: string; source: string; key: string }>(
      "select event_id, source, key from parked_event order by parked_us",
    );
  await eventually(real, "the three that are parked", async () => (await parked()).length >= 3);
  const rows = await parked();
  expect(rows.length).toBe(3);
  for (const { event_id } of rows) expect(event_id).toMatch(/^nats:PORTCULLIS:\d+:\d+$/);
  expect(rows[2]?.source).toMatch(/^threex+$/);
  expect(rows[2]?.key).toBe("four");
  await expect.poll(() => process.bus.health()).toEqual({ connected: true });
});

test("what the store refuses for ever is parked in a form that it takes", async () => {
  const tries: Parked[] = [];
  const park = async (parked: Parked): Promise<void> => {
    tries.push(parked);
    if (tries.length === 1) throw new Fault("STORE_UNAVAILABLE", "away", { retry: "later" });
    if (parked.id === "unbearable") throw new Fault("INTERNAL", "refused (54000)", { retry: "never" });
  };
  const made = headers();
  made.set("Nats-Msg-Id", "unbearable");
  const data = new TextEncoder().encode("no JSON");
  const arrival = { subject: thingChanged.name, data, headers: made, fallbackId: () => "none" };
  const context = {
    name: "test.reduced",
    patterns: [thingChanged.name],
    attemptsMax: 1,
    handler: async () => undefined,
  };
  const ports = { clock: systemClock(), log: quietLog, timers: systemTimers() };
  const tools = { lookup: testLookup, recent: recentIds(10), park, ...ports };
  const options = { name: "test.reduced", subjects: [thingChanged.name] };
  const read = () => ({ poison: "never asked" });
  const aside = createAside({ ...ports, ...context, options, read, store: noAsideStore, hold: () => undefined });
  const fate = await handleOne(
    { ...context, ...tools, aside, parks: true, hold: () => undefined, complain: () => undefined },
    { ...arrival, receivedAt: () => fromMicroseconds(1) },
    AbortSignal.timeout(5_000),
  );
  expect(fate).toBe("parked");
  expect(tries.map(({ id }) => id.slice(0, 15))).toEqual(["unbearable", "unbearable", "sha256:f8d9fb50"]);
  expect(String(Buffer.from(tries[2]?.payload ?? []))).toBe(`base64:${Buffer.from("no JSON").toString("base64")}`);
  expect(tries[2]?.error).toContain("refused (54000)");
});

test("a forged position leads the relay nowhere: what the stream has lost is published again", async () => {
  const process = await fixture.process("first");
  const relay = await process.startRelay();
  await publishMany(process.store, "k", 1, 5);
  await eventually(real, "all five", () => relay.publishedCount() === 5);
  await relay.close();
  const [{ cursor_id } = { cursor_id: "0" }] = await fixture.sql<{ cursor_id: string }>(
    "select cursor_id from subscription where name = 'nats.relay'",
  );
  expect(Number(cursor_id)).toBeGreaterThanOrEqual(5);
  const manager = await jetstreamManager(foreign);
  await manager.streams.delete("PORTCULLIS");
  await ensureStream(process.link, testStream);
  send(JSON.stringify({ key: "theirs", n: 0 }), { "Nats-Msg-Id": "forged", "Portcullis-Position": cursor_id });
  send(JSON.stringify({ key: "theirs", n: 0 }), { "Nats-Msg-Id": "further", "Portcullis-Position": "4000000000" });
  await foreign.flush();
  const successor = await process.startRelay();
  const seen = await record(process.bus, { name: "test.forged" });
  await eventually(real, "all five again", () => seen.events.length >= 7, seen.numbers);
  expect(seen.numbers()).toEqual([0, 0, ...range(1, 5)]);
  // A reader may see the last one before the relay has its acknowledgement.
  await eventually(real, "the relay's count", () => successor.publishedCount() >= 5);
  expect(successor.publishedCount()).toBe(5);
});

test("to who asks for proof an event is ours only with the id, subject and bytes of a row that is still there", async () => {
  const process = await fixture.process("first");
  await process.startRelay();
  const shown: string[] = [];
  const ahead = async (events: readonly BusEvent[]) => void shown.push(...events.map(({ id }) => id));
  const proving = { name: "test.proving", subjects: ["svc.v1.conformance.>"], proved: true, ahead };
  const seen = await record(process.bus, proving);
  const own = await publish(process.store, { key: "k", n: 1 });
  await eventually(real, "our own", () => seen.events.length === 1);
  const [row] = await fixture.sql<{ id: string; at_us: string; payload: Buffer }>("select * from outbox");
  const { id: position = "", payload = Buffer.of(), at_us: at = "" } = row ?? {};
  const text = payload.toString();
  expect(seen.events[0]).toMatchObject({ id: own, key: "k", source: "first", at: Number(at) });
  expect(seen.events[0]?.claimed).toBeUndefined();
  const ours = { "Portcullis-Source": "gateway", "Portcullis-At": "1", "Portcullis-Position": position };
  send(text, { "Portcullis-Source": "gateway", "Portcullis-At": "1", "Nats-Msg-Id": "no-position" });
  send(text, { ...ours, "Nats-Msg-Id": "another-id" });
  send(text, { ...ours, "Nats-Msg-Id": "beyond", "Portcullis-Position": "9999999999999999999" });
  send(text, { "Nats-Msg-Id": "silent" });
  await foreign.flush();
  await eventually(real, "all five", () => seen.events.length === 5, seen.ids);
  expect(seen.ids()).toEqual([own, "no-position", "another-id", "beyond", "silent"]);
  for (const event of seen.events.slice(1)) expect(event.source).toBe("foreign");
  for (const event of seen.events.slice(1, 4)) expect(event.claimed).toEqual({ source: "gateway", at: 1 });
  for (const event of seen.events.slice(1)) expect(Math.abs(event.at - Number(at))).toBeLessThan(60_000_000);
  expect(seen.events[4]?.claimed).toEqual({});
  expect(shown.filter((id) => !seen.ids().includes(id))).toEqual([]);
  await mayBeProvedOnlyAs({ id: own, subject: thingChanged.name, position: BigInt(position), payload });
});

test("whoever takes the id of an event of ours before it is relayed keeps it neither from the stream nor from who asks for proof", async () => {
  const process = await fixture.process("first");
  const proved = await record(process.bus, { name: "test.taken", proved: true });
  const ids = await publishMany(process.store, "k", 1, 3);
  send(JSON.stringify({ key: "k", n: 99 }), { "Nats-Msg-Id": ids[1] ?? "", "Portcullis-Source": "first" });
  await foreign.flush();
  await eventually(real, "theirs", () => proved.events.length === 1, proved.numbers);
  const relay = await process.startRelay();
  await eventually(real, "all of ours", () => proved.events.length >= 4, proved.numbers);
  await relay.close();
  expect(proved.events[0]).toMatchObject({ id: ids[1], source: "foreign", claimed: { source: "first" } });
  const ours = proved.events.filter(({ claimed }) => claimed === undefined);
  expect(ours.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(ours.map(({ source }) => source)).toEqual(["first", "first", "first"]);
  await process.startRelay();
  await publish(process.store, { key: "k", n: 4 });
  await eventually(real, "the next", () => proved.numbers().includes(4), proved.numbers);
  expect(proved.events.length).toBe(5);
});

async function mayBeProvedOnlyAs(claim: Claim): Promise<void> {
  const client = await openClient(fixture.database.address.app, { log: quietLog, applicationName: "test" });
  const prove = proveOnPostgres((statement) => client.query(statement as QueryArrayConfig));
  const payload = Buffer.from(claim.payload);
  payload[payload.length - 1] = 0x20;
  const answers = await prove([
    { ...claim, id: "another" },
    { ...claim, subject: appleRed.name },
    { ...claim, position: claim.position + 1n },
    { ...claim, position: 2n ** 64n },
    { ...claim, payload },
    claim,
  ]);
  expect(answers.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => undefined));
  expect(answers[5]).toMatchObject({ key: "k", source: "first" });
  await fixture.sql("delete from outbox");
  expect(await prove([claim])).toEqual([undefined]);
  await client.end();
}

test("a burst of large events ends at about eight megabytes without an answer", async () => {
  const process = await fixture.process("first");
  const text = "x".repeat(900_000);
  for (const n of range(1, 20)) await publish(process.store, { key: "k", n, text });
  const link = await connectNats({ url: fixture.server.url, name: "test", log: quietLog });
  let [flyingBytes, flyingBytesMax] = [0, 0];
  const stream: NatsLink["stream"] = Object.create(link.stream);
  stream.publish = async (subject, payload, options) => {
    const bytes = payload?.length ?? 0;
    flyingBytes += bytes;
    flyingBytesMax = Math.max(flyingBytesMax, flyingBytes);
    try {
      return await link.stream.publish(subject, payload, options);
    } finally {
      flyingBytes -= bytes;
    }
  };
  const relay = await process.startRelay({ link: { ...link, stream } });
  await eventually(real, "all twenty", () => relay.publishedCount() === 20);
  expect(flyingBytesMax).toBeGreaterThan(5_000_000);
  expect(flyingBytesMax).toBeLessThan(9_500_000);
});
