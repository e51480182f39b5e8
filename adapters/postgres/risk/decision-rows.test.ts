// Decisions of the journal among the events of the outbox: one sequence, nothing passed that may still come, every decision heard as
// its messages, whatever dies in between.
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromUnixMs, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { everySubject, subjects } from "../../../contracts/src/subjects.ts";
import type { BusEvent, Handler } from "../../../ports/bus.ts";
import { publish } from "../../../testkit/conformance/bus-kit.ts";
import { thingChanged } from "../../../testkit/conformance/subjects.ts";
import { eventually } from "../../../testkit/conformance/waiting.ts";
import { noMetrics } from "../../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import {
  heardOfApproved,
  heardOfDenied,
  insertDecision,
  insertFill,
  testDecision,
} from "../../../testkit/test-decisions.ts";
import { systemClock } from "../../system/clock.ts";
import { systemTimers } from "../../system/timers.ts";
import { createOutboxReader, pageBytesMax } from "../bus/outbox-reader.ts";
import { startTrim } from "../bus/trim.ts";
import { openClient, openPool } from "../connection.ts";
import { messagesOf } from "./decision-rows.ts";

const fixture = {};
const made = subjects.decisionMade.name;
let database: TestDatabase;
let owner: pg.Pool;
let clients: pg.Client[];
let peers: PostgresPeer[];

beforeEach(async () => {
  database = await testDatabase();
  owner = openPool(database.address.owner, { log: quietLog, applicationName: "decisions test", sizeMax: 2 });
  clients = [];
  peers = [];
});
afterEach(async () => {
  for (const peer of peers) await peer.close();
  for (const client of clients) await client.end();
  await owner.end();
  await database.drop();
});

async function connect(): Promise<pg.Client> {
  const client = await openClient(database.address.app, { log: quietLog, applicationName: "decisions test" });
  clients.push(client);
  return client;
}

function peer(applicationName: string): PostgresPeer {
  const opened = openPeer(database.address.app, { applicationName });
  peers.push(opened);
  return opened;
}

async function insertEvent(client: pg.Client | pg.Pool, n: number): Promise<bigint> {
  const text = `insert into outbox (event_id, at_us, subject, key, source, payload)
                values ($1, 1, $2, 'k', 'test', $3) returning id::text`;
  const payload = Buffer.from(JSON.stringify({ key: "k", n }));
  return BigInt((await client.query(text, [randomUUID(), thingChanged.name, payload])).rows[0].id);
}

/** The last word of what was heard: passed, failed, made, or that of a test's own event. */
function word(heard: { readonly subject: string }): string {
  return heard.subject.split(".").at(-1) ?? "";
}

async function listenTo(on: PostgresPeer, name: string, patterns: readonly string[], handler?: Handler) {
  const events: BusEvent[] = [];
  const subscription = await on.bus.subscribe({ name, subjects: [...patterns] }, async (event) => {
    await handler?.(event);
    events.push(event);
  });
  return { events, subscription };
}

async function terminate(applicationName: string): Promise<void> {
  await owner.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()",
    [applicationName],
  );
}

async function cursorOf(name: string): Promise<bigint> {
  const found = await owner.query("select cursor_id::text as id from subscription where name = $1", [name]);
  return BigInt(found.rows[0].id);
}

describe("one sequence of two tables", () => {
  it.each(["a decision", "an event"])("is read in order when %s commits late", async (late) => {
    const [slow, reading] = [await connect(), await connect()];
    const reader = createOutboxReader({
      run: (statement) => reading.query(statement as pg.QueryArrayConfig),
      clock: systemClock(),
    });
    const seen: bigint[] = [];
    let after = 0n;
    const follow = async (reads: number): Promise<void> => {
      for (let read = 0; read < reads; read += 1) {
        const page = await reader.read(after, 100, [everySubject]);
        seen.push(...page.rows.map((row) => row.id));
        after = page.through;
      }
    };
    const [first, second] = late === "a decision" ? ["journal", "outbox"] : ["outbox", "journal"];
    const write = (client: pg.Client | pg.Pool, where: string | undefined): Promise<bigint> =>
      where === "journal" ? insertDecision(client, testDecision("o")) : insertEvent(client, 1);
    const before = await write(owner, second);
    await slow.query("begin");
    const held = await write(slow, first);
    const early = await write(owner, second);
    const other = await write(owner, first);
    await follow(8);
    expect(seen).toEqual([before]);
    await slow.query("commit");
    await follow(4);
    expect(seen).toEqual([before, held, early, other]);
  });

  it("passes the numbers of rolled-back decisions and of rows that nobody hears, and leaves out what is not asked for", async () => {
    const [slow, reading] = [await connect(), await connect()];
    const reader = createOutboxReader({
      run: (statement) => reading.query(statement as pg.QueryArrayConfig),
      clock: systemClock(),
    });
    await slow.query("begin");
    await insertDecision(slow, testDecision("gone"));
    await slow.query("rollback");
    await insertFill(owner);
    const decision = testDecision("o-1", "denied");
    const id = await insertDecision(owner, decision);
    await insertFill(owner);
    const rows: bigint[] = [];
    let after = 0n;
    await eventually(fixture, "the dead number is passed", async () => {
      const page = await reader.read(after, 100, [made]);
      after = page.through;
      rows.push(...page.rows.map((row) => row.id));
      return after === id + 1n;
    });
    expect(rows).toEqual([id]);
    expect((await reader.read(0n, 100, [thingChanged.name])).rows).toEqual([]);
    const [row] = (await reader.read(id - 1n, 1, [">"])).rows;
    expect(row === undefined ? [] : messagesOf(row, [">"]).map(word)).toEqual(heardOfDenied);
    expect(row === undefined ? [] : messagesOf(row, [made]).map((message) => message.id)).toEqual([id]);
  });

  it("ends a page at about 8 MB of decisions, says that there is more, and leaves nothing out", async () => {
    const reading = await connect();
    const reader = createOutboxReader({
      run: (statement) => reading.query(statement as pg.QueryArrayConfig),
      clock: systemClock(),
    });
    const large = Buffer.alloc(1_500_000);
    await owner.query(
      `insert into risk_journal (kind, approved, at_us, event_id, fund_id, order_id, payload)
       select 1, true, 1, gen_random_uuid(), 'alpha', 'o', $1 from generate_series(1, 8)`,
      [large],
    );
    const pages: number[] = [];
    for (let after = 0n, more = true; more; ) {
      const page = await reader.read(after, 1_000, [everySubject]);
      pages.push(page.rows.length);
      expect(page.rows.reduce((sum, row) => sum + (row.record?.length ?? 0), 0)).toBeLessThan(
        pageBytesMax + large.length,
      );
      ({ through: after, more } = page);
    }
    expect(pages.reduce((sum, rows) => sum + rows, 0)).toBe(8);
    expect(pages.length).toBe(2);
    const numbersOnly = await reader.read(0n, 1_000, [thingChanged.name]);
    expect(numbersOnly).toMatchObject({ rows: [], more: false, held: false });
  });
});

describe("a subscription", () => {
  it("hears of decisions what its patterns cover: everything, one, several or none of their subjects", async () => {
    const one = peer("patterns");
    const everything = await listenTo(one, "test.everything", [everySubject]);
    const gates = await listenTo(one, "test.gates", ["svc.v1.risk.gate.*"]);
    const denials = await listenTo(one, "test.denials", [subjects.gateFailed.name]);
    const none = await listenTo(one, "test.none", [thingChanged.name]);
    const screen: BusEvent[] = [];
    await insertDecision(owner, testDecision("before"));
    await one.bus.listen(
      { subjects: [made, thingChanged.name], queueMax: 100, overflow: "drop-oldest" },
      async (event) => {
        screen.push(event);
      },
    );
    const [approved, denied] = [testDecision("o-1"), testDecision("o-2", "denied")];
    await insertDecision(owner, approved);
    await insertFill(owner);
    await insertDecision(owner, denied);
    await publish(one.store, { key: "k", n: 1 });
    await eventually(
      fixture,
      "the end",
      () => everything.events.length >= 19 && none.events.length >= 1,
      () => everything.events.map(word),
    );
    const own = word({ subject: thingChanged.name });
    expect(everything.events.map(word)).toEqual([...heardOfApproved, ...heardOfApproved, ...heardOfDenied, own]);
    expect(everything.events.slice(7).map((event) => event.key)).toEqual([
      ...heardOfApproved.map(() => "o-1"),
      ...heardOfDenied.map(() => "o-2"),
      "k",
    ]);
    expect(everything.events[7]).toMatchObject({
      id: `${approved.decisionId}/0`,
      source: "riskengine",
      at: 1_700_000_000_000_000,
      payload: { order_id: "o-1", gate: "idempotency" },
    });
    await eventually(
      fixture,
      "the others",
      () => gates.events.length >= 15 && denials.events.length >= 1 && screen.length >= 3,
    );
    expect(denials.events.map((event) => event.id)).toEqual([`${denied.decisionId}/2`]);
    expect(gates.events.map(word)).not.toContain("made");
    expect(none.events.map(word)).toEqual([own]);
    expect(screen.map((event) => event.id).slice(0, 2)).toEqual([approved.decisionId, denied.decisionId]);
  });

  /** Waits in the fourth message of the decision until it is told to go on. */
  function inTheMiddleOf({ decisionId }: { readonly decisionId: string }) {
    const state = { isStuck: false };
    let goOn: () => void = () => undefined;
    const reported = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const handler: Handler = async (event) => {
      if (event.id !== `${decisionId}/3` || state.isStuck) return;
      state.isStuck = true;
      await reported;
    };
    return { state, handler, goOn };
  }
  const wholeOf = ({ decisionId }: { readonly decisionId: string }): string[] =>
    [0, 1, 2, 3, 4, 5].map((gate) => `${decisionId}/${gate}`).concat(decisionId);

  it("that dies between two messages of a decision leaves the whole of it to its heir, under the same ids", async () => {
    const decision = testDecision("o-1");
    const middle = inTheMiddleOf(decision);
    const first = await listenTo(peer("victim"), "test.crash", [made, "svc.v1.risk.gate.*"], middle.handler);
    const id = await insertDecision(owner, decision);
    await eventually(fixture, "the fourth message is in hand", () => middle.state.isStuck);
    await terminate("victim");
    const second = await listenTo(peer("heir"), "test.crash", [made, "svc.v1.risk.gate.*"]);
    await eventually(fixture, "the heir finished it", async () => (await cursorOf("test.crash")) === id);
    middle.goOn();
    expect(second.events.map((event) => event.id)).toEqual(wholeOf(decision));
    expect(first.events.map((event) => event.id)).toEqual(wholeOf(decision).slice(0, 3));
  });

  it("that is closed between two messages of a decision does not pass the decision", async () => {
    const one = peer("closed");
    const [before, decision] = [testDecision("o-0"), testDecision("o-1")];
    const middle = inTheMiddleOf(decision);
    const first = await listenTo(one, "test.closed", [everySubject], middle.handler);
    const passed = await insertDecision(owner, before);
    await insertDecision(owner, decision);
    await eventually(fixture, "the fourth message is in hand", () => middle.state.isStuck);
    const closed = first.subscription.close();
    middle.goOn();
    await closed;
    expect(first.events.length).toBe(11);
    expect(await cursorOf("test.closed")).toBe(passed);
    const second = await listenTo(one, "test.closed", [everySubject]);
    await eventually(fixture, "the decision", () => second.events.length >= 7);
    expect(second.events.map((event) => event.id)).toEqual(wholeOf(decision));
  });

  it("remembers more than its queue when one decision is larger than it", async () => {
    const one = peer("small");
    const events: string[] = [];
    let ended = false;
    const decision = testDecision("o-1");
    await one.bus.subscribe({ name: "test.small", subjects: [everySubject], queueMax: 1 }, async (event) => {
      if (event.id === decision.decisionId && !ended) {
        ended = true;
        await terminate("small");
        throw new Error("interrupted");
      }
      events.push(event.id);
    });
    const id = await insertDecision(owner, decision);
    await eventually(fixture, "the cursor", async () => (await cursorOf("test.small")) === id);
    expect(events.length).toBe(7);
    expect(new Set(events).size).toBe(7);
  });

  it("parks a decision that cannot be read, and one message that no handler takes, and goes on", async () => {
    const one = peer("poison");
    const broken = { decisionId: randomUUID(), orderId: "o-bad", payload: Buffer.from([0x0a, 0xff, 0xff]) };
    const decision = testDecision("o-1");
    const seen: string[] = [];
    await one.bus.subscribe({ name: "test.poison", subjects: ["svc.v1.risk.>"], attemptsMax: 1 }, async (event) => {
      if (event.id === `${decision.decisionId}/1`) throw new Error("not this one");
      seen.push(event.id);
    });
    await insertDecision(owner, broken);
    const id = await insertDecision(owner, decision);
    await eventually(fixture, "the cursor", async () => (await cursorOf("test.poison")) >= id);
    const parked = await owner.query(
      "select event_id, subject, key, error, convert_from(payload, 'UTF8') as text from parked_event order by outbox_id",
    );
    expect(parked.rows[0]).toMatchObject({
      event_id: broken.decisionId,
      subject: made,
      key: "o-bad",
      text: "base64:Cv//",
    });
    expect(parked.rows[0].error).toContain("is no decision");
    expect(parked.rows.slice(1).map((row) => [row.event_id, row.error])).toEqual([
      [`${decision.decisionId}/1`, "not this one"],
    ]);
    expect(seen.length).toBe(6);
    const reports = await owner.query("select 1 from outbox where subject = $1", [subjects.busParked.name]);
    expect(reports.rowCount).toBe(2);
  });
});

describe("trimming", () => {
  it("is not confused by numbers that belong to the journal, and counts what a subscription has not read of it", async () => {
    for (let n = 0; n < 3; n += 1) {
      await insertEvent(owner, n);
      for (let decisions = 0; decisions < 4; decisions += 1) await insertDecision(owner, testDecision("o"));
    }
    const clock = { now: () => plusMilliseconds(fromUnixMs(0), 10_000_000) };
    const settings = { clock, timers: systemTimers(), log: quietLog, metrics: noMetrics, chunkRows: 2 };
    const trim = startTrim({ ...settings, pool: owner, behindEventsMax: 10 });
    const floor = async (): Promise<number> =>
      (await owner.query("select trimmed_id::int as id from outbox_floor")).rows[0].id;
    const move = (name: string, to: number) =>
      owner.query(
        `insert into subscription (name, cursor_id, patterns, updated_us) values ($1, $2, '{}', 0)
         on conflict (name) do update set cursor_id = $2`,
        [name, to],
      );
    try {
      // Three events are no growing outbox, although fifteen numbers lie from the first to the last decision.
      expect(await trim.round()).toEqual({ removed: 0 });
      await move("slow", 3);
      expect(await trim.round()).toEqual({
        removed: 1,
        complaint: expect.stringContaining("slow is 12 events behind"),
      });
      expect(await floor()).toBe(1);
      // Behind a decision and beyond the last event of the outbox: the cursor may stand there, and all events may go.
      await move("slow", 15);
      expect(await trim.round()).toEqual({ removed: 2 });
      expect(await floor()).toBe(11);
      await expect(move("slow", 16)).rejects.toThrow(/cannot pass the newest event/);
      const late = peer("late");
      const heard = await listenTo(late, "test.late", [made]);
      await eventually(fixture, "what is behind the floor", () => heard.events.length >= 4);
      await eventually(fixture, "the cursor", async () => (await cursorOf("test.late")) >= 11n);
      expect(heard.events.length).toBe(4);
    } finally {
      await trim.close();
    }
  });
});
