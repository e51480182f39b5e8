// From the bus into the log: every event once, in order, together when they were read together, and never past a failure.
import { describe, expect, it } from "vitest";
import { Fault } from "../../../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../../../contracts/src/instant.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import { makeEntry } from "../../../../core/audit/entry.ts";
import type { BusEvent, DurableOptions, Handler } from "../../../../ports/bus.ts";
import { sha256 } from "../../../../testkit/audit/keys.ts";
import { auditFixture, recordsOf } from "../../../../testkit/audit/service-fixture.ts";
import { prng } from "../../../../testkit/virtual/prng.ts";
import type { AppendRequest } from "../log/append-request.ts";
import type { Appended } from "../log/sequencer.ts";
import { requestOf } from "./append-request.ts";
import { type IntakeOptions, intakeName, startIntake } from "./intake.ts";

const at = "2026-11-15T09:30:00.000000Z";
const transition = (n: number) => ({
  order_id: `order-${n % 4}`,
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  from: "ROUTED" as const,
  to: "WORKING" as const,
  filled_quantity: "0",
  remaining_quantity: String(n),
  at,
});
const attempt = {
  operator: "operator:ada",
  verb: "RequestHalt",
  target: "alpha",
  allowed: false,
  code: "FORBIDDEN",
  reason: "no",
  at,
};

describe("an event's id in the log", () => {
  it("is its own when it is a UUID, and can never be one that the log gives itself", () => {
    const event = (id: string): BusEvent => ({
      id,
      subject: subjects.operatorAttempted.name,
      key: "k",
      source: "foreign",
      at: fromMicroseconds(0),
      payload: attempt,
    });
    const own = "0199a4c2-7f00-4000-8000-00000000c0de";
    expect(requestOf(event(own), sha256, undefined)?.eventId).toBe(own);
    for (const taken of ["key.revoked/389d8290", `subject-key-destroyed/${own}`, 'rpc-key/["service:m1","kk"]', "x"]) {
      expect(requestOf(event(taken), sha256, undefined)).toMatchObject({
        eventId: `bus/${taken}`,
        data: { event_id: taken },
      });
    }
  });
});

describe("intake on the memory store", () => {
  it("makes an entry of every event that changes state, with its actor, and of nothing else", async () => {
    const fixture = auditFixture({ seed: 51 });
    const { audit } = await fixture.start();
    const id = await fixture.publish("oms", subjects.ordersUpdated, transition(1));
    await fixture.publish("gateway", subjects.operatorAttempted, attempt);
    await fixture.publish("riskengine", subjects.gatePassed, { order_id: "order-1", gate: "schema", latency_ms: 0.5 });
    await fixture.publish("foreign", subjects.operatorAttempted, attempt);
    await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 500 });
    expect(recordsOf(fixture.disk).slice(1)).toMatchObject([
      {
        action: "order.updated",
        actor: "service:oms",
        subject_id: "order-1",
        data: { event_id: id, payload: transition(1), source: "oms", subject_previous: null },
      },
      {
        action: "operator.attempted",
        actor: "operator:ada",
        subject_id: "alpha",
        data: { payload: { allowed: false } },
      },
      { action: "operator.attempted", actor: "foreign", subject_id: "alpha", data: { subject_previous: 2 } },
    ]);
    await fixture.finish(audit.stop());
  });

  const seed = 52;
  it(`exactly once and in order per subject, over kills, lost answers and failed commits (seed ${seed})`, async () => {
    const fixture = auditFixture({ seed });
    const throwing = prng(seed);
    let life = await fixture.start();
    for (let n = 0; n < 60; n += 1) {
      const fate = (["committed", "committed", "failed", "lost, committed", "lost, not committed"] as const)[
        throwing.below(5)
      ];
      fixture.fates.set("audit.append", [fate ?? "committed"]);
      fixture.delays.answerMs = throwing.below(3);
      await fixture.publish("oms", subjects.ordersUpdated, transition(n));
      await fixture.time.run({ untilMs: fixture.time.elapsedMs() + throwing.below(8) });
      if (!throwing.chance(0.08)) continue;
      life.process.kill();
      fixture.fates.clear();
      life = await fixture.start();
    }
    fixture.fates.clear();
    await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 20_000 });
    expect(fixture.tables.parked).toEqual([]);
    const quantities = recordsOf(fixture.disk)
      .slice(1)
      .map(({ data }) => (data["payload"] as { remaining_quantity: string }).remaining_quantity);
    expect(quantities).toEqual(Array.from({ length: 60 }, (_, n) => String(n)));
    expect(await fixture.finish(life.audit.verify())).toMatchObject({ entries: 61 });
    await fixture.finish(life.audit.stop());
  });
});

describe("intake of what nobody can read", () => {
  it("makes entries of unknown subjects and of what does not match its schema, as they came, and parks nothing", async () => {
    const fixture = auditFixture({ seed: 53 });
    const { audit } = await fixture.start();
    const inject = (subject: string, key: string, text: string): void => {
      const written = { id: fixture.time.prng.uuid(), subject, key, at: fixture.time.clock.now(), source: "foreign" };
      const bytes = new TextEncoder().encode(text);
      fixture.tables.append([{ ...written, bytes, sequence: fixture.tables.nextSequence() }]);
    };
    inject("svc.v1.other.thing", "thing-1", '{"a":[1.5,"x"]}');
    inject("svc.v1.other.thing", "", "no JSON");
    inject("svc.v1.other.deep", "deep", "[".repeat(200_000) + "]".repeat(200_000));
    inject("svc.v1.other.large", "large", JSON.stringify({ text: Array.from({ length: 9_000 }, () => "0123456789") }));
    inject(subjects.ordersUpdated.name, "order-1", '{"order_id":7}');
    inject(subjects.sessionOpened.name, "ada", '{"remote_address":"192.0.2.7"}');
    await fixture.publish("oms", subjects.ordersUpdated, transition(1));
    await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 1_000 });
    const digest = { length: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
    const records = recordsOf(fixture.disk).slice(1);
    expect(records.map(({ action, actor, subject_id }) => [action, actor, subject_id])).toEqual([
      ["event.observed", "foreign", "thing-1"],
      ["event.observed", "foreign", "svc.v1.other.thing"],
      ["event.observed", "foreign", "deep"],
      ["event.observed", "foreign", "large"],
      ["event.malformed", "foreign", "order-1"],
      ["event.malformed", "foreign", "ada"],
      ["order.updated", "service:oms", "order-1"],
    ]);
    expect(records.slice(0, 6).map(({ data }) => data["payload"])).toEqual([
      { a: ["1.5", "x"] },
      digest,
      digest,
      { ...digest, cut: expect.stringMatching(/^\{"text":/) },
      { order_id: 7 },
      digest,
    ]);
    expect(records[0]?.data).toMatchObject({ subject: "svc.v1.other.thing", reason: expect.stringMatching(/subject/) });
    expect(records[4]?.data["reason"]).toMatch(/schema/);
    expect(JSON.stringify(records)).not.toContain("192.0.2.7");
    expect(fixture.tables.parked).toEqual([]);
    expect(await fixture.finish(audit.verify())).toMatchObject({ entries: 8 });
    await fixture.finish(audit.stop());
  });
});

/** A bus whose pages and hand-overs the test makes itself. */
async function handBus(
  append: (request: AppendRequest) => Promise<Appended>,
  auditLog: IntakeOptions["auditLog"] = { sequencesOf: async () => new Map(), read: async () => [] },
) {
  let given: { options: DurableOptions; handler: Handler } | undefined;
  const subscription = {
    handledCount: () => 0,
    droppedCount: () => 0,
    caughtUpAt: () => undefined,
    close: async () => undefined,
  };
  await startIntake({
    bus: {
      async subscribe(options, handler) {
        given = { options, handler };
        return subscription;
      },
    },
    auditLog,
    sha256,
    append,
    onProgress: () => undefined,
    sealing: { prepare: async () => () => ({ sealed: "", subject_key: "" }) },
  });
  if (given?.options.ahead === undefined) throw new Error("nothing is shown ahead");
  return { ahead: given.options.ahead, handle: given.handler, name: given.options.name };
}

const event = (n: number): BusEvent => ({
  id: `event-${n}`,
  subject: subjects.ordersUpdated.name,
  key: `order-${n % 4}`,
  at: fromMicroseconds(1_000_000),
  source: "oms",
  payload: transition(n),
});

describe("intake with pages", () => {
  it("appends a page at once, and each event of it only once", async () => {
    const asked: string[] = [];
    const bus = await handBus(async ({ eventId }) => {
      asked.push(eventId);
      return { sequence: asked.length, entry: undefined };
    });
    expect(bus.name).toBe(intakeName);
    const page = [1, 2, 3].map(event);
    await bus.ahead(page);
    expect(asked).toEqual(["bus/event-1", "bus/event-2", "bus/event-3"]);
    for (const each of page) await bus.handle(each);
    expect(asked).toHaveLength(3);
    await bus.handle(event(4));
    expect(asked).toHaveLength(4);
  });

  it("never appends past what failed", async () => {
    const written: string[] = [];
    let fails = true;
    const bus = await handBus(async ({ eventId }) => {
      if (fails) throw new Fault("STORE_UNAVAILABLE", "away", { retry: "later" });
      written.push(eventId);
      return { sequence: written.length, entry: undefined };
    });
    await bus.ahead([event(1), event(2)]);
    await expect(bus.handle(event(1))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    fails = false;
    await bus.ahead([event(3), event(4)]);
    expect(written).toEqual([]);
    await bus.handle(event(1));
    await bus.ahead([event(3), event(4)]);
    expect(written).toEqual(["bus/event-1"]);
    await bus.handle(event(2));
    await bus.ahead([event(3), event(4)]);
    expect(written).toEqual(["bus/event-1", "bus/event-2", "bus/event-3", "bus/event-4"]);
  });
});

describe("intake of what a publisher claims", () => {
  const id = "0199a4c2-7f00-4000-8000-00000000c0de";
  const claimed = { source: "gateway", at: fromMicroseconds(7_000_000) };
  const own: BusEvent = {
    ...event(1),
    id,
    source: "gateway",
    subject: subjects.operatorAttempted.name,
    payload: attempt,
  };
  const forged: BusEvent = { ...own, source: "foreign", claimed };

  it("records it as foreign, with the claim in the data, and never under the id of an event of ours", async () => {
    const requests: AppendRequest[] = [];
    const bus = await handBus(async (request) => {
      requests.push(request);
      return { sequence: requests.length, entry: undefined };
    });
    await bus.ahead([forged, own]);
    await bus.handle(forged);
    await bus.handle(own);
    expect(requests).toMatchObject([
      { eventId: `bus/${id}`, actor: "foreign", data: { source: "foreign", claimed_source: "gateway" } },
      { eventId: id, actor: "operator:ada", data: { source: "gateway" } },
    ]);
    expect(requests[0]?.data).toMatchObject({
      claimed_at: "1970-01-01T00:00:07.000000Z",
      at: "1970-01-01T00:00:01.000000Z",
    });
    expect(requests[1]?.data).not.toHaveProperty("claimed_source");
  });

  it("knows an event of ours again whose row is gone, and nothing else that has its id", async () => {
    const requests: AppendRequest[] = [];
    const request = requestOf(own, sha256, undefined);
    if (request === undefined) throw new Error("no entry");
    const { eventId: _id, subjectId: subject_id, ...rest } = request;
    const timestamp = at;
    const entry = makeEntry({ ...rest, subject_id, sequence: 5, timestamp, prev_hash: "0".repeat(64) }, sha256);
    const bus = await handBus(
      async (each) => {
        requests.push(each);
        return { sequence: 6, entry: undefined };
      },
      {
        sequencesOf: async (ids) => new Map(ids.filter((each) => each === id).map((each) => [each, 5])),
        read: async () => [{ sequence: 5, text: entry.text }],
      },
    );
    await bus.ahead([forged]);
    await bus.handle(forged);
    expect(requests).toEqual([]);
    await bus.handle({ ...forged, payload: { ...attempt, allowed: true } });
    await bus.handle({ ...event(2), id, source: "foreign", claimed });
    expect(requests).toMatchObject([
      { eventId: `bus/${id}`, actor: "foreign", action: "operator.attempted" },
      { eventId: `bus/${id}`, actor: "foreign", action: "order.updated" },
    ]);
  });
});
