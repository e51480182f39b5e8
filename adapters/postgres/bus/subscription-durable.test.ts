// Durable subscriptions when their ground moves: server processes ended under them, cursors fenced, horizons stuck.
import type pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Timers } from "../../../ports/timers.ts";
import { publish, publishMany, range, record } from "../../../testkit/conformance/bus-kit.ts";
import { thingChanged } from "../../../testkit/conformance/subjects.ts";
import { eventually } from "../../../testkit/conformance/waiting.ts";
import { noTracer } from "../../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { systemClock } from "../../system/clock.ts";
import { systemRandom } from "../../system/random.ts";
import { systemTimers } from "../../system/timers.ts";
import { openClient, openPool } from "../connection.ts";
import { createBusSession } from "./bus-session.ts";

const fixture = {};
let database: TestDatabase;
let owner: pg.Pool;
let peers: PostgresPeer[];

beforeEach(async () => {
  database = await testDatabase();
  owner = openPool(database.address.owner, { log: quietLog, applicationName: "durable test", sizeMax: 2 });
  peers = [];
});
afterEach(async () => {
  for (const peer of peers) await peer.close();
  await owner.end();
  await database.drop();
});

function peer(applicationName: string, timers: Timers = systemTimers()): PostgresPeer {
  const opened = openPeer(database.address.app, { applicationName, timers });
  peers.push(opened);
  return opened;
}

/** Ends every server process of that application, as a restart of the server would. */
async function terminate(applicationName: string): Promise<number> {
  const ended = await owner.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()",
    [applicationName],
  );
  return ended.rowCount ?? 0;
}

describe("durable subscription", () => {
  it("goes on after its server processes were ended, again and again, without losing or repeating", async () => {
    const one = peer("mortal");
    const other = peer("writer");
    const seen = await record(one.bus, { name: "test.reconnect" });
    let n = 0;
    for (let round = 1; round <= 4; round += 1) {
      await publishMany(other.store, "k", n + 1, n + 10);
      n += 10;
      if (round % 2 === 0) await eventually(fixture, "some events", () => seen.events.length >= n - 5);
      // It may not have come back from the last time yet; what counts is that it is hit every round.
      await eventually(fixture, "somebody to end", async () => (await terminate("mortal")) > 0);
    }
    await publishMany(other.store, "k", n + 1, n + 10);
    await eventually(
      fixture,
      "all fifty",
      () => seen.events.length >= 50,
      () => seen.numbers(),
    );
    expect(seen.numbers()).toEqual(range(1, 50));
    await eventually(fixture, "good health", () => one.bus.health().connected);
    await expect.poll(() => one.bus.health()).toEqual({ connected: true });
  });

  it("hands the lead over when the leader's session dies, and a fenced-out leader cannot move the cursor", async () => {
    const options = { log: quietLog, applicationName: "fenced" };
    const tools = { ...options, timers: systemTimers(), random: systemRandom(), tracer: noTracer, holder: "test" };
    const open = (): Promise<pg.Client> => openClient(database.address.app, options);
    const [first, second] = [createBusSession({ ...tools, open }), createBusSession({ ...tools, open })];
    await publishMany(peer("writer").store, "k", 1, 9);
    try {
      const signal = new AbortController().signal;
      await first.opened(signal);
      await second.opened(signal);
      const clock = systemClock();
      const leader = await first.lead("test.fence", [">"], clock.now());
      expect(leader?.cursor).toBe(0n);
      expect(await first.lead("test.fence", [">"], clock.now())).toBeUndefined();
      expect(await second.lead("test.fence", [">"], clock.now())).toBeUndefined();
      expect(await leader?.moveCursor(5n, clock.now())).toBe(true);
      expect(await leader?.moveCursor(3n, clock.now())).toBe(false);
      const holder = await owner.query(
        "select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
      );
      await owner.query("select pg_terminate_backend($1)", [holder.rows[0].pid]);
      await eventually(fixture, "the loss", () => leader?.holds() === false);
      await expect(leader?.moveCursor(9n, clock.now())).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
      const heir = await second.lead("test.fence", [">"], clock.now());
      expect(heir?.cursor).toBe(5n);
      await eventually(fixture, "a new session", () => first.complaint() === undefined);
      await expect(leader?.moveCursor(9n, clock.now())).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
    } finally {
      await first.close();
      await second.close();
    }
  });

  it("two subscriptions of one process under one name take turns, never both", async () => {
    const one = peer("twice");
    const seen = await record(one.bus, { name: "test.twice" });
    const standBy = await record(one.bus, { name: "test.twice" });
    await publishMany(one.store, "k", 1, 5);
    await eventually(fixture, "five events", () => seen.events.length + standBy.events.length >= 5);
    await seen.subscription.close();
    await publishMany(one.store, "k", 6, 8);
    await eventually(fixture, "eight events", () => standBy.events.length >= 3);
    expect(seen.numbers()).toEqual(range(1, 5));
    expect(standBy.numbers()).toEqual(range(6, 8));
  });

  it("is woken by another process at once, not by its poll", async () => {
    const timers = systemTimers();
    // Its poll comes every 75 seconds: what arrives before that was woken for, however slow the machine is.
    const patient = { ...timers, after: (ms: number, run: () => void) => timers.after(ms * 300, run) };
    const [one, other] = [peer("listener", patient), peer("writer")];
    const seen = await record(one.bus, { name: "test.woken" });
    await publish(other.store, { key: "k", n: 0 });
    await eventually(fixture, "the first", () => seen.events.length === 1);
    for (let n = 1; n <= 10; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      await publish(other.store, { key: "k", n });
      await eventually(fixture, `event ${n}`, () => seen.events.length > n);
    }
  });

  it("says who holds it back when a transaction stays open", async () => {
    const one = peer("held");
    const seen = await record(one.bus, { name: "test.horizon" });
    const client = await openClient(database.address.owner, { log: quietLog, applicationName: "culprit" });
    const insert = `insert into outbox (event_id, at_us, subject, key, source, payload)
                    values (gen_random_uuid(), 1, '${thingChanged.name}', 'k', 'x', '{"key":"k","n":1}')`;
    try {
      await client.query("begin");
      await client.query(insert);
      await publish(one.store, { key: "k", n: 2 });
      await eventually(fixture, "the complaint", () => one.bus.health().complaint !== undefined);
      expect(one.bus.health().connected).toBe(true);
      expect(one.bus.health().complaint).toContain("test.horizon has been held back");
      expect(seen.events.length).toBe(0);
      await client.query("commit");
      await eventually(fixture, "both events", () => seen.events.length === 2);
      expect(seen.numbers()).toEqual([1, 2]);
      await eventually(fixture, "no complaint", () => one.bus.health().complaint === undefined);
    } finally {
      await client.end();
    }
  });

  it("parks an event of a subject that nobody knows, and does not report a report that is poison itself", async () => {
    const one = peer("poison");
    const insert =
      "insert into outbox (event_id, at_us, subject, key, source, payload) values (gen_random_uuid(), 1, $1, 'k', 'x', $2)";
    const parkedName = ["svc", "v1", "operations", "bus", "parked"].join(".");
    const seen = await record(one.bus, { name: "test.poison", subjects: ["svc.v1.>"] });
    await owner.query(insert, [["svc", "v1", "unheard", "of"].join("."), "{}"]);
    await owner.query(insert, [parkedName, "{}"]);
    await publish(one.store, { key: "k", n: 1 });
    const parked = async () =>
      (await owner.query("select subject, attempts from parked_event order by outbox_id")).rows;
    await eventually(fixture, "both parked", async () => (await parked()).length === 2);
    await eventually(fixture, "the report and the event", () => seen.events.length === 2);
    expect((await parked()).map((row) => row.attempts)).toEqual([0, 0]);
    const reports = await owner.query("select 1 from outbox where subject = $1 and source <> 'x'", [parkedName]);
    expect(reports.rowCount).toBe(1);
  });
});
