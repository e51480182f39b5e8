// Decisions on their way through the relay: one row of the journal, several messages in the stream, none lost when it breaks off
// between two of them.
import { randomUUID } from "node:crypto";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { everySubject, subjects } from "../../contracts/src/subjects.ts";
import { publish, publishMany, record } from "../../testkit/conformance/bus-kit.ts";
import { eventually, stays } from "../../testkit/conformance/waiting.ts";
import { type NatsPlatform, openNatsPlatform } from "../../testkit/nats-fixture.ts";
import {
  heardOfApproved,
  heardOfDenied,
  insertDecision,
  insertFill,
  testDecision,
} from "../../testkit/test-decisions.ts";
import { relayName } from "./relay.ts";

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

const journal = {
  query: async (text: string, values: unknown[]) => ({ rows: await fixture.sql<{ id?: unknown }>(text, values) }),
};

async function stored(): Promise<string[]> {
  const manager = await jetstreamManager(foreign);
  const { state } = await manager.streams.info(streamName);
  const ids: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await manager.streams.getMessage(streamName, { seq });
    if (message !== null) ids.push(message.header.get("Nats-Msg-Id"));
  }
  return ids;
}

const idsOf = ({ decisionId }: { readonly decisionId: string }, gates = 6): string[] => [
  ...Array.from({ length: gates }, (_unused, gate) => `${decisionId}/${gate}`),
  decisionId,
];

test("gates and decisions arrive in order among other events, in bursts smaller than a decision", async () => {
  const process = await fixture.process("first");
  const seen = await record(process.bus, { name: "test.all", subjects: [everySubject] });
  const proved = await record(process.bus, { name: "test.proved", subjects: [everySubject], proved: true });
  const narrow = await record(process.bus, { name: "test.denials", subjects: [subjects.gateFailed.name] });
  const [approved, denied] = [testDecision("order\n1"), testDecision("o-2", "denied")];
  await publish(process.store, { key: "k", n: 1 });
  await insertDecision(journal, approved);
  await insertFill(journal);
  await insertDecision(journal, denied);
  const last = await publish(process.store, { key: "k", n: 2 });
  await process.startRelay({ windowMax: 3 });
  await eventually(real, "everything", () => seen.events.length >= 13 && narrow.events.length >= 1, seen.ids);
  expect(seen.ids().slice(1)).toEqual([...idsOf(approved), ...idsOf(denied, 3), last]);
  expect(seen.events.slice(1, -1).map((event) => event.subject.split(".").at(-1))).toEqual([
    ...heardOfApproved,
    ...heardOfDenied,
  ]);
  expect(seen.events[1]).toMatchObject({ key: "order\n1", source: "riskengine", at: 1_700_000_000_000_000 });
  expect(narrow.ids()).toEqual([`${denied.decisionId}/2`]);
  await eventually(real, "everything, proved", () => proved.events.length >= 13, proved.ids);
  expect(proved.events).toEqual(seen.events);
});

test.each(["the relay that sent it", "another relay"])(
  "a decision of which the stream lost the end is completed by %s, and nobody hears a message twice",
  async (who) => {
    const [first, second] = [await fixture.process("first"), await fixture.process("second")];
    const seen = await record(first.bus, { name: "test.all", subjects: [everySubject] });
    const decision = testDecision("o-1");
    const manager = await jetstreamManager(foreign);
    // The stream is full after the third gate: the relay stops in the middle of the decision.
    await publishMany(first.store, "k", 1, 2);
    await insertDecision(journal, decision);
    await manager.streams.update(streamName, { max_msgs: 5 });
    const relay = await first.startRelay();
    await eventually(real, "the complaint", () => relay.health().complaint !== undefined);
    expect((await stored()).slice(2)).toEqual(idsOf(decision).slice(0, 3));
    const [cursor] = await fixture.sql<{ id: string }>(
      "select cursor_id::text as id from subscription where name = $1",
      [relayName],
    );
    expect(Number(cursor?.id)).toBeLessThanOrEqual(2);
    let finisher = relay;
    if (who === "another relay") await relay.close();
    await manager.streams.update(streamName, { max_msgs: -1 });
    if (who === "another relay") finisher = await second.startRelay();
    await publish(first.store, { key: "k", n: 3 });
    await eventually(real, "the rest", () => seen.events.length >= 10, seen.ids);
    await stays(real, () => seen.events.length, 10);
    expect(seen.ids().slice(2, 9)).toEqual(idsOf(decision));
    expect((await stored()).length).toBe(10);
    // Of what the stream has, only the beginning of the broken decision is sent again: seven messages and the one behind it.
    if (finisher !== relay) expect(finisher.publishedCount()).toBe(8);
  },
);

test("a decision that cannot be read is parked by the relay, and the next goes on", async () => {
  const process = await fixture.process("first");
  const seen = await record(process.bus, { name: "test.all", subjects: ["svc.v1.risk.>"] });
  const broken = { decisionId: randomUUID(), orderId: "o-bad", payload: Buffer.from([0x0a, 0xff, 0xff]) };
  const decision = testDecision("o-1");
  await insertDecision(journal, broken);
  await insertDecision(journal, decision);
  await process.startRelay();
  await eventually(real, "the decision", () => seen.events.length >= 7, seen.ids);
  expect(seen.ids()).toEqual(idsOf(decision));
  const parked = () => fixture.sql("select subscription, event_id from parked_event");
  await expect.poll(parked).toEqual([{ subscription: relayName, event_id: broken.decisionId }]);
});

test("a stream that lost everything gets what is behind the floor again, not every decision that was ever made", async () => {
  const process = await fixture.process("first");
  await insertDecision(journal, testDecision("old"));
  await publish(process.store, { key: "k", n: 1 });
  const kept = testDecision("kept");
  await insertDecision(journal, kept);
  const relay = await process.startRelay();
  await eventually(real, "all published", () => relay.publishedCount() >= 15);
  await fixture.sql("delete from outbox");
  await fixture.sql("update outbox_floor set trimmed_id = 2");
  const manager = await jetstreamManager(foreign);
  await manager.streams.delete(streamName);
  const newest = testDecision("newest", "denied");
  await insertDecision(journal, newest);
  await eventually(real, "the refill", async () => (await stored().catch(() => [])).length >= 11);
  expect(await stored()).toEqual([...idsOf(kept), ...idsOf(newest, 3)]);
});
