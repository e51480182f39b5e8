// Trimming follows its rule: behind the slowest cursor, beyond the retention, nothing without a subscription.
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromMicroseconds, fromUnixMs, type Instant } from "../../../contracts/src/instant.ts";
import { noMetrics } from "../../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { systemClock } from "../../system/clock.ts";
import { systemTimers } from "../../system/timers.ts";
import { openPool } from "../connection.ts";
import { startTrim, type Trim } from "./trim.ts";

const hourMs = 3_600_000;
let database: TestDatabase;
let owner: pg.Pool;
let app: pg.Pool;
let now: Instant;
let trim: Trim;

beforeEach(async () => {
  database = await testDatabase();
  owner = openPool(database.address.owner, { log: quietLog, applicationName: "trim test", sizeMax: 2 });
  app = openPool(database.address.app, { log: quietLog, applicationName: "trim test", sizeMax: 2 });
  now = fromUnixMs(100 * hourMs);
  trim = startTrim({
    pool: app,
    clock: { now: () => now },
    timers: systemTimers(),
    log: quietLog,
    metrics: noMetrics,
    chunkRows: 3,
    behindEventsMax: 8,
  });
});
afterEach(async () => {
  await trim.close();
  await app.end();
  await owner.end();
  await database.drop();
});

async function fill(count: number, agedMs: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await app.query(
      "insert into outbox (event_id, at_us, subject, key, source, payload) values ($1,$2,'s','k','t','1')",
      [randomUUID(), fromMicroseconds(now - agedMs * 1_000)],
    );
  }
}

async function subscribe(name: string, cursor: number): Promise<void> {
  await app.query(
    `insert into subscription (name, cursor_id, patterns, updated_us) values ($1, $2, '{}', 0)
     on conflict (name) do update set cursor_id = $2`,
    [name, cursor],
  );
}

const kept = async (): Promise<number[]> =>
  (await owner.query("select id::int as id from outbox order by id")).rows.map((row) => row.id);

describe("trim", () => {
  it("keeps the last minute whatever the app role asks for, and lets no cursor pass the newest event or go back", async () => {
    now = systemClock().now();
    await fill(3, 0);
    await subscribe("only", 3);
    const all = "select trim_outbox(9223372036854775807, 1000)::int as removed";
    expect((await app.query(all)).rows[0].removed).toBe(0);
    await expect(subscribe("only", 4)).rejects.toThrow(/cannot pass the newest event/);
    await expect(subscribe("only", 2)).rejects.toThrow(/cannot go back/);
    expect(await kept()).toEqual([1, 2, 3]);
  });

  it("an event's time is one that a number holds exactly", async () => {
    const text = "insert into outbox (event_id, at_us, subject, key, source, payload) values ($1,$2,'s','k','t','1')";
    await expect(app.query(text, [randomUUID(), "9223372036854775807"])).rejects.toThrow(/outbox_time_is_exact/);
  });

  it("removes nothing while no subscription is registered, and complains when the outbox grows", async () => {
    await fill(10, 5 * hourMs);
    const round = await trim.round();
    expect(round.removed).toBe(0);
    expect(round.complaint).toContain("no subscription");
    expect((await kept()).length).toBe(10);
  });

  it("never goes beyond the slowest cursor, in chunks, and a new subscription begins where it stopped", async () => {
    await fill(10, 5 * hourMs);
    await subscribe("quick", 10);
    await subscribe("slow", 7);
    expect((await trim.round()).removed).toBe(7);
    expect(await kept()).toEqual([8, 9, 10]);
    expect((await owner.query("select trimmed_id::int as id from outbox_floor")).rows[0].id).toBe(7);
    await subscribe("slow", 10);
    expect((await trim.round()).removed).toBe(3);
    expect((await trim.round()).removed).toBe(0);
    expect((await owner.query("select trimmed_id::int as id from outbox_floor")).rows[0].id).toBe(10);
  });

  it("keeps what is younger than the retention, and everything after it", async () => {
    await fill(4, 2 * hourMs);
    await fill(2, hourMs / 2);
    await fill(3, 2 * hourMs);
    await subscribe("only", 9);
    expect((await trim.round()).removed).toBe(4);
    expect(await kept()).toEqual([5, 6, 7, 8, 9]);
  });

  it("complains about a subscription that is far behind", async () => {
    await fill(12, hourMs / 2);
    await subscribe("stuck", 1);
    expect((await trim.round()).complaint).toContain("stuck is 11 events behind");
    expect(trim.complaint()).toContain("stuck");
    await subscribe("stuck", 12);
    expect((await trim.round()).complaint).toBeUndefined();
  });

  it("forgets handled ids only when their events can no longer come again", async () => {
    const old = now - 50 * hourMs * 1_000;
    const insert = "insert into handled_event values ('s', $1, $2)";
    await app.query(insert, ["old", old]);
    await app.query(insert, ["young", now]);
    await fill(1, 60 * hourMs);
    await subscribe("slow", 0);
    await trim.round();
    const ids = async (): Promise<string[]> =>
      (await owner.query("select event_id from handled_event order by 1")).rows.map((row) => row.event_id);
    expect(await ids()).toEqual(["old", "young"]);
    await subscribe("slow", 1);
    await trim.round();
    expect(await ids()).toEqual(["young"]);
  });
});
