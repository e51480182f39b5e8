// The audit log on PostgreSQL under the suite of its port, then what is PostgreSQL's own: rights and triggers, a batch whose fate is open, sizes,
// and which index serves a question.
import type pg from "pg";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { Defect } from "../../../contracts/src/fault.ts";
import { auditFixture, auditFixtureName, type PostgresAuditFixture } from "../../../testkit/audit-fixtures.ts";
import { auditLogConformance } from "../../../testkit/conformance/audit-log.ts";
import { batch, entryTexts, texts } from "../../../testkit/conformance/audit-log-fixture.ts";
import { eventually, rejection } from "../../../testkit/conformance/waiting.ts";
import { noMetrics, noTracer } from "../../../testkit/no-telemetry.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import { openAuditLog } from "../../records/open-audit-log.ts";
import { openStore } from "../../records/open-store.ts";
import { systemClock } from "../../system/clock.ts";
import { systemRandom } from "../../system/random.ts";
import { systemTimers } from "../../system/timers.ts";
import { openClient } from "../connection.ts";

const shared = auditFixture();
auditLogConformance("PostgreSQL", () => shared.open());

const seed = 20_261_117;
const opened: PostgresAuditFixture[] = [];
const owners: pg.Client[] = [];
afterEach(async () => {
  for (const owner of owners.splice(0)) await owner.end();
  for (const fixture of opened.splice(0)) await fixture.close();
});
afterAll(() => shared.close());

async function open(answerMsMax?: number): Promise<PostgresAuditFixture> {
  const fixture = await shared.open(answerMsMax);
  opened.push(fixture);
  return fixture;
}

/** The owner of the test server's databases is its superuser. */
async function ownerOf(fixture: PostgresAuditFixture): Promise<pg.Client> {
  const owner = await openClient(fixture.database.address.owner, { log: quietLog, applicationName: "owner" });
  owners.push(owner);
  return owner;
}

/** A log of three entries and a checkpoint. */
async function filled(
  fixture: PostgresAuditFixture,
): Promise<{ fixture: PostgresAuditFixture; owner: pg.Client; writerEpoch: number }> {
  const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
  await fixture.audit.append(batch(writerEpoch, 0, 3));
  await fixture.audit.putCheckpoint(writerEpoch, { size: 3, note: "origin\n3\nroot=\n\n— log a\n", at: fixture.now() });
  return { fixture, owner: await ownerOf(fixture), writerEpoch };
}

/** Another transaction holds this event's id, so that an append of it stands still with the head in its hand. */
async function holdEvent(fixture: PostgresAuditFixture, eventId: string): Promise<pg.Client> {
  const owner = await ownerOf(fixture);
  await owner.query("begin");
  await owner.query("insert into audit_entry values (1000000, $1, '', '', 'x')", [eventId]);
  return owner;
}

/** How many sessions of the test's database wait for a lock; asked over a connection that nobody cuts. */
async function waitersOf({ database }: PostgresAuditFixture): Promise<number> {
  const owner = await openClient(database.address.owner, { log: quietLog, applicationName: "waiters" });
  const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  return owner
    .query(waiting)
    .then(({ rowCount }) => rowCount ?? 0)
    .finally(() => owner.end());
}

async function appendIsWaiting(fixture: PostgresAuditFixture): Promise<void> {
  await eventually(fixture, "the append waits for a lock", async () => {
    const found = await fixture.peer.pool.query(
      "select 1 from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock' and datname = current_database()",
      [auditFixtureName],
    );
    return found.rowCount === 1;
  });
}

const rewritings = [
  "update audit_entry set text = 'forged'",
  "update audit_entry set text = 'forged' where false",
  "update audit_entry set subject_id = 'x', at_us = 0",
  "update audit_entry set event_id = 'x' where false",
  "delete from audit_entry where sequence = 2",
  "truncate audit_entry",
  "delete from audit_checkpoint",
  "truncate audit_checkpoint",
  "delete from audit_head",
  "truncate audit_head",
];

describe("promise 5: entries and checkpoints are never changed or removed", () => {
  it("the app's role may read, call the functions and write tiles, and nothing else", async () => {
    const { fixture } = await filled(await open());
    for (const sql of [
      ...rewritings,
      "insert into audit_entry values (3, 'e', 's', 'a', 'x')",
      "insert into audit_checkpoint values (4, E'a\\n\\nb', 1)",
      "update audit_checkpoint set note = note || 'x'",
      "update audit_head set size = 0",
      "insert into audit_head (one) values (true)",
      "delete from audit_tile",
      "alter table audit_entry disable trigger append_only",
      "drop trigger append_only on audit_entry",
      "set session_replication_role = replica",
      "select audit_refuse_rewriting()",
      "create function portcullis.mine() returns int language sql as 'select 1'",
    ]) {
      expect(await rejection(fixture.peer.pool.query(sql), sql), sql).toMatchObject({ code: "42501" });
    }
    expect(await texts(fixture.audit)).toEqual(entryTexts(3));
  });

  it("a trigger refuses a superuser too and says why, also when it plays a replica, until it is dropped", async () => {
    // On a database of its own: emptying one turns the triggers off and on, and what counts is how the migration left them.
    const untouched = auditFixture();
    const { fixture, owner } = await filled(await untouched.open());
    opened.push({ ...fixture, close: () => fixture.close().then(untouched.close) });
    const { rows } = await owner.query("select rolsuper from pg_roles where rolname = current_user");
    expect(rows).toEqual([{ rolsuper: true }]);
    for (const role of ["origin", "replica"]) {
      await owner.query(`set session_replication_role = ${role}`);
      for (const sql of rewritings) {
        const refused = await rejection(owner.query(sql), sql);
        expect(refused, sql).toMatchObject({ code: "42501" });
        expect(String(refused), sql).toMatch(/append only.*evidence/);
      }
      for (const sql of [
        "update audit_checkpoint set note = 'forged' || note",
        "update audit_checkpoint set note = E'origin\\n3\\nroot=\\n\\n'",
        "update audit_checkpoint set size = 4",
        "update audit_checkpoint set at_us = 0",
      ]) {
        const refused = await rejection(owner.query(sql), sql);
        expect(refused, sql).toMatchObject({ code: "PA004" });
        expect(String(refused), sql).toMatch(/gain signatures and nothing else/);
      }
    }
    await owner.query("update audit_checkpoint set note = note || E'— witness b\\n'");
    expect(await texts(fixture.audit)).toEqual(entryTexts(3));
    // Rolled back, because the next test wants the trigger again.
    await owner.query("begin; drop trigger append_only on audit_entry");
    const forged = await owner.query("update audit_entry set text = 'forged' where sequence = 1");
    await owner.query("rollback");
    expect(forged.rowCount).toBe(1);
  });

  it("`audit_append` itself refuses what does not follow, whoever calls it, and leaves nothing", async () => {
    const { fixture, writerEpoch } = await filled(await open());
    const rows = (...sequences: readonly number[]) =>
      `array[${sequences.map((n) => `row(${n}, 'new-${n}', 's', 'a', 'x', 1)`).join()}]::audit_row[]`;
    for (const [code, sql] of [
      ["PA001", `select audit_append(${writerEpoch - 1}, 3, ${rows(3)}, 4, 'h', 't')`],
      ["PA001", `select audit_append(null, 3, ${rows(3)}, 4, 'h', 't')`],
      ["PA002", `select audit_append(${writerEpoch}, 2, ${rows(2)}, 3, 'h', 't')`],
      ["PA002", `select audit_append(${writerEpoch}, null, ${rows(3)}, 4, 'h', 't')`],
      ["PA003", `select audit_append(${writerEpoch}, 3, ${rows(3, 5)}, 5, 'h', 't')`],
      ["PA003", `select audit_append(${writerEpoch}, 3, ${rows(4, 3)}, 5, 'h', 't')`],
      ["PA003", `select audit_append(${writerEpoch}, 3, ${rows(3, 3)}, 5, 'h', 't')`],
      ["PA003", `select audit_append(${writerEpoch}, 3, ${rows(3, 4)}, 4, 'h', 't')`],
      ["PA003", `select audit_append(${writerEpoch}, 3, ${rows(3)}, null, 'h', 't')`],
      ["PA003", `select audit_append(${writerEpoch}, 3, array[]::audit_row[], 3, 'h', 't')`],
      ["PA003", `select audit_append(${writerEpoch}, 3, null, 3, 'h', 't')`],
      ["PA001", `select audit_put_checkpoint(${writerEpoch - 1}, 9, E'a\\n\\nb', 1)`],
      ["PA001", "select audit_put_checkpoint(null, 9, E'a\\n\\nb', 1)"],
    ]) {
      expect(await rejection(fixture.peer.pool.query(sql ?? ""), sql ?? ""), sql).toMatchObject({ code });
    }
    expect((await fixture.audit.head()).size).toBe(3);
    expect(await texts(fixture.audit)).toEqual(entryTexts(3));
    await fixture.peer.pool.query(`select audit_append(${writerEpoch}, 3, ${rows(3)}, 4, 'h', 't')`);
  });

  it("a head that was set back does not let an entry be written over another", async () => {
    const { fixture, owner, writerEpoch } = await filled(await open());
    await owner.query("update audit_head set size = 1");
    const sent = batch(writerEpoch, 1, 1, () => ({ eventId: "forged" }));
    expect(await rejection(fixture.audit.append(sent), "over another")).toMatchObject({
      code: "INTERNAL",
      facts: { constraint: "audit_entry_pkey" },
    });
    expect(await texts(fixture.audit)).toEqual(entryTexts(3));
  });
});

describe("a batch whose answer was lost", () => {
  for (const end of ["rollback", "commit"] as const) {
    it(`invariant 2: taking the writer epoch waits while it is under way; ${end} of what stands in its way`, async () => {
      const fixture = await open();
      const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
      const held = await holdEvent(fixture, "event-1");
      const lost = rejection(fixture.audit.append(batch(writerEpoch, 0, 2)), "the cut append");
      await appendIsWaiting(fixture);
      fixture.proxy.cut();
      expect(await lost).toMatchObject({ code: "STORE_COMMIT_UNKNOWN", facts: { after: 0, size: 2 } });
      const other = await fixture.another();
      let size: number | undefined;
      const taking = other.takeWriterEpoch("two").then(({ head }) => {
        size = head.size;
      });
      // The append that was cut, and who takes the writer epoch.
      await expect.poll(() => waitersOf(fixture)).toBe(2);
      expect(size).toBeUndefined();
      await held.query(end);
      await taking;
      expect(size).toBe(end === "rollback" ? 2 : 0);
      fixture.proxy.restore();
    });
  }

  it("is settled after the server's process was killed, and after the network swallowed everything", async () => {
    const fixture = await open(400);
    let { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const held = await holdEvent(fixture, "event-1");
    const killed = rejection(fixture.audit.append(batch(writerEpoch, 0, 2)), "the killed append");
    await appendIsWaiting(fixture);
    const appending = "from pg_stat_activity where application_name = $1 and datname = current_database()";
    const before = (await held.query(`select pid, pg_terminate_backend(pid) ${appending}`, [auditFixtureName])).rows;
    expect(await killed).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
    await held.query("rollback");
    await eventually(fixture, "there is another connection", async () => {
      const { rows } = await held.query(`select pid ${appending}`, [auditFixtureName]);
      return rows.some((row) => row.pid !== before[0]?.pid) && fixture.audit.complaint() === undefined;
    });
    const taken = await fixture.audit.takeWriterEpoch("one");
    expect(taken.head.size).toBe(0);
    writerEpoch = taken.writerEpoch;
    fixture.proxy.swallowFromCommit("committed");
    expect(await rejection(fixture.audit.append(batch(writerEpoch, 0, 2)), "swallowed")).toMatchObject({
      code: "STORE_COMMIT_UNKNOWN",
    });
    fixture.proxy.restore();
    await eventually(fixture, "the log is back", () =>
      fixture.audit.takeWriterEpoch("one").then(
        ({ head }) => head.size === 2,
        () => false,
      ),
    );
  });
});

describe("the audit log on PostgreSQL", () => {
  it("refuses at once while there is no connection, for certain, and goes on when it is back", async () => {
    const fixture = await open();
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    fixture.proxy.cut();
    await eventually(fixture, "the loss is noticed", () => fixture.audit.complaint() !== undefined);
    const refused = await rejection(fixture.audit.append(batch(writerEpoch, 0, 1)), "no connection");
    expect(refused).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    fixture.proxy.restore();
    await eventually(fixture, "the connection is back", () => fixture.audit.complaint() === undefined);
    await fixture.audit.append(batch(writerEpoch, 0, 1));
    await fixture.audit.close();
    expect(await rejection(fixture.audit.append(batch(writerEpoch, 1, 1)), "closed")).toMatchObject({ retry: "never" });
    expect(await rejection(fixture.audit.head(), "closed")).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it(`gives back 10,000 entries byte for byte, seed ${seed}`, async () => {
    const fixture = await open();
    const thrown = prng(seed);
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const pool = Buffer.from(Array.from({ length: 40_000 }, () => 1 + thrown.below(127)));
    const sizes = Array.from({ length: 10_000 }, (_unused, n) => (n % 500 === 0 ? 30_000 : 1 + thrown.below(800)));
    const textOf = (n: number) => pool.subarray(n % 9_000, (n % 9_000) + (sizes[n] ?? 0));
    for (let after = 0; after < sizes.length; after += 1_000) {
      await fixture.audit.append(
        batch(writerEpoch, after, 1_000, (n) => ({ text: textOf(n), subjectId: `subject-${n % 700}` })),
      );
    }
    for (let from = 0; from < sizes.length; from += 2_500) {
      const rows = await fixture.audit.read(from, 2_500);
      expect(rows.length).toBe(2_500);
      expect(
        rows.every((row, n) => row.sequence === from + n && Buffer.compare(row.text, textOf(from + n)) === 0),
      ).toBe(true);
    }
    const trail = await fixture.audit.readSubject("subject-5", 0, 1_000);
    expect(trail.map((row) => row.sequence)).toEqual(sizes.flatMap((_size, n) => (n % 700 === 5 ? [n] : [])));
    const ids = Array.from({ length: 1_000 }, (_unused, n) => `event-${n * 11}`);
    expect((await fixture.audit.sequencesOf(ids)).size).toBe(910);
    expect((await fixture.audit.newestOf(["subject-5", "subject-6", "other"])).get("subject-6")).toBe(9_806);
  });

  it("looks a subject up in its index however common the others are", async () => {
    const fixture = await open();
    const owner = await ownerOf(fixture);
    await owner.query(`insert into audit_entry
      select n, 'e' || n, case when n = 7 then 'rare' else 'common' end, 'a', 'x' from generate_series(0, 4999) n`);
    await owner.query("analyze audit_entry");
    await fixture.audit.head();
    const explained: string[] = [];
    const { pool } = fixture.peer;
    const real = pool.query.bind(pool) as (statement: pg.QueryConfig) => Promise<pg.QueryResult>;
    Object.assign(pool, {
      async query(statement: pg.QueryConfig) {
        const plan = await real({ ...statement, text: `explain ${statement.text}` });
        explained.push(plan.rows.map((row) => row["QUERY PLAN"]).join("\n"));
        return real(statement);
      },
    });
    for (const subject of ["rare", "common", "never"]) {
      await fixture.audit.newestOf([subject]);
      await fixture.audit.readSubject(subject, 0, 10);
    }
    expect(explained.length).toBe(6);
    for (const plan of explained) {
      expect(plan).toMatch(/Index (Only )?Scan.*audit_entry_by_subject/);
      expect(plan).not.toMatch(/Seq Scan|audit_entry_pkey|Sort/);
    }
  });

  it("is written by operations and read by every other process", async () => {
    const fixture = await open();
    const tools = {
      clock: systemClock(),
      timers: systemTimers(),
      random: systemRandom(),
      log: quietLog,
      metrics: noMetrics,
      tracer: noTracer,
      database: fixture.database.address.app,
    };
    const start = (service: string) => {
      const options = { ...tools, source: service, services: [service] };
      const store = openStore(options);
      return { store, log: openAuditLog(options, store) };
    };
    const [writer, reader] = [start("operations"), start("gateway")];
    const { writerEpoch } = await writer.log.auditLog.takeWriterEpoch("one");
    await writer.log.auditLog.append(batch(writerEpoch, 0, 2));
    expect(await texts(reader.log.auditLog)).toEqual(entryTexts(2));
    const note = { size: 2, note: "a\n\nb\n", at: fixture.now() };
    for (const attempt of [
      () => reader.log.auditLog.takeWriterEpoch("two"),
      () => reader.log.auditLog.append(batch(writerEpoch, 2, 1)),
      () => reader.log.auditLog.putCheckpoint(writerEpoch, note),
      () => reader.log.auditLog.putTiles([]),
    ]) {
      expect(await rejection(attempt(), "a write")).toBeInstanceOf(Defect);
    }
    expect([writer.log.complaint(), reader.log.complaint()]).toEqual([undefined, undefined]);
    for (const one of [writer, reader]) {
      await one.log.close();
      await one.store.close();
    }
  });
});
