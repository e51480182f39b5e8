// The risk engine's store on PostgreSQL under the suite of its port, then what is PostgreSQL's own: a batch whose fate is open, a killed
// server process, rights, sizes.
import { afterEach, describe, expect, it } from "vitest";
import { riskStoreConformance } from "../../../testkit/conformance/risk-store.ts";
import { batch, decision, fill, payloads } from "../../../testkit/conformance/risk-store-fixture.ts";
import { eventually, rejection } from "../../../testkit/conformance/waiting.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { type PostgresRiskFixture, postgresRiskStoreFixture } from "../../../testkit/risk/store-fixtures.ts";
import { openClient } from "../connection.ts";

riskStoreConformance("PostgreSQL", () => postgresRiskStoreFixture(), true);

const opened: PostgresRiskFixture[] = [];
afterEach(async () => {
  for (const fixture of opened.splice(0)) await fixture.close();
});

async function open(answerMsMax?: number): Promise<PostgresRiskFixture> {
  const fixture = await postgresRiskStoreFixture({ ...(answerMsMax !== undefined && { answerMsMax }) });
  opened.push(fixture);
  return fixture;
}

const ownerOf = (fixture: PostgresRiskFixture) =>
  openClient(fixture.database.address.owner, { log: quietLog, applicationName: "owner" });

/** Another transaction holds this fill's number, so that an append of it stands still with the writer epoch in its hand. */
async function holdFill(fixture: PostgresRiskFixture, fillId: string) {
  const owner = await ownerOf(fixture);
  await owner.query("begin");
  await owner.query(
    "insert into risk_journal (kind, at_us, fund_id, order_id, fill_id, payload) values (2, 1, '', '', $1, '')",
    [fillId],
  );
  const end = async (how: "commit" | "rollback") => {
    await owner.query(how);
    await owner.end();
  };
  return { commit: () => end("commit"), rollback: () => end("rollback") };
}

/** How many sessions of the test's database wait for a lock. */
async function waitersOf(fixture: PostgresRiskFixture): Promise<number> {
  const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  return (await fixture.peer.pool.query(waiting)).rowCount ?? 0;
}

async function appendIsWaiting(fixture: PostgresRiskFixture): Promise<void> {
  await eventually(fixture, "the append waits for a lock", async () => {
    const found = await fixture.peer.pool.query(
      "select 1 from pg_stat_activity where application_name = 'fixture journal' and wait_event_type = 'Lock' and datname = current_database()",
    );
    return found.rowCount === 1;
  });
}

/** The pool's own connections died with the network; a caller is told so and asks again. */
async function isBack(fixture: PostgresRiskFixture): Promise<void> {
  await eventually(fixture, "the store is back", () =>
    Promise.all(Array.from({ length: 10 }, () => fixture.risk.haltEpoch())).then(
      () => true,
      () => false,
    ),
  );
}

describe("a batch whose answer was lost", () => {
  for (const end of ["rollback", "commit"] as const) {
    const outcome = end === "rollback" ? "committed" : "not committed";
    it(`invariant 2: is waited for while it is under way; ${outcome} in the end`, async () => {
      const fixture = await open();
      const writerEpoch = await fixture.risk.takeWriterEpoch("one");
      const held = await holdFill(fixture, "fill-1");
      const sent = batch(fixture, writerEpoch, [fill(fixture, "fill-1")]);
      const lost = rejection(fixture.risk.append(sent), "the cut append");
      await appendIsWaiting(fixture);
      fixture.proxy.cut();
      expect(await lost).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
      fixture.proxy.restore();
      await isBack(fixture);
      let answer: string | undefined;
      const asked = fixture.risk.outcomeOf(sent.id).then((reported) => {
        answer = reported;
      });
      // The append that was cut, and who asks what came of it.
      await expect.poll(() => waitersOf(fixture)).toBe(2);
      expect(answer).toBeUndefined();
      await held[end]();
      await asked;
      expect(answer).toBe(outcome);
      expect(await fixture.risk.knownFills(["fill-1"])).toEqual(new Set(["fill-1"]));
    });
  }

  it("is asked about after the server's process was killed", async () => {
    const fixture = await open();
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const held = await holdFill(fixture, "fill-1");
    const sent = batch(fixture, writerEpoch, [decision(fixture, 1), fill(fixture, "fill-1")]);
    const lost = rejection(fixture.risk.append(sent), "the killed append");
    await appendIsWaiting(fixture);
    const owner = await ownerOf(fixture);
    await owner.query(
      "select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = 'fixture journal' and datname = current_database()",
    );
    await owner.end();
    expect(await lost).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
    await held.rollback();
    await isBack(fixture);
    expect(await fixture.risk.outcomeOf(sent.id)).toBe("not committed");
    await fixture.risk.append(batch(fixture, await fixture.risk.takeWriterEpoch("one"), [decision(fixture, 2)]));
    expect(await payloads(fixture.risk)).toEqual(["decision 2"]);
  });

  it("is asked about when the network swallowed everything after it", async () => {
    const fixture = await open(400);
    for (const outcome of ["committed", "not committed"] as const) {
      const writerEpoch = await fixture.risk.takeWriterEpoch("one");
      const sent = batch(fixture, writerEpoch, [decision(fixture, 1, { payload: Buffer.from(outcome) })]);
      fixture.proxy.swallowFromCommit(outcome);
      expect(await rejection(fixture.risk.append(sent), "the swallowed answer")).toMatchObject({
        code: "STORE_COMMIT_UNKNOWN",
      });
      fixture.proxy.restore();
      await isBack(fixture);
      expect(await fixture.risk.outcomeOf(sent.id)).toBe(outcome);
    }
    expect(await payloads(fixture.risk)).toEqual(["committed"]);
  });
});

describe("the journal on PostgreSQL", () => {
  it("refuses at once while there is no connection, for certain, and goes on when it is back", async () => {
    const fixture = await open();
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    fixture.proxy.cut();
    await eventually(fixture, "the loss is noticed", () => fixture.risk.complaint() !== undefined);
    const refused = await rejection(
      fixture.risk.append(batch(fixture, writerEpoch, [decision(fixture, 1)])),
      "no connection",
    );
    expect(refused).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    fixture.proxy.restore();
    await eventually(fixture, "the connection is back", () => fixture.risk.complaint() === undefined);
    await fixture.risk.append(batch(fixture, writerEpoch, [decision(fixture, 2)]));
    expect(await payloads(fixture.risk)).toEqual(["decision 2"]);
  });

  it("takes a batch of thousands, and rows larger than a page", async () => {
    const fixture = await open();
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const sizes = Array.from({ length: 3_000 }, (_unused, n) => (n % 100 === 0 ? 20_000 : 300));
    const payload = (n: number) => new Uint8Array(sizes[n] ?? 0).fill(n % 251);
    await fixture.risk.append(
      batch(
        fixture,
        writerEpoch,
        sizes.map((_size, n) => decision(fixture, n, { payload: payload(n) })),
      ),
    );
    const rows = await fixture.risk.entries(0n, 10_000);
    expect(rows.length).toBe(sizes.length);
    expect(rows.every((row, n) => Buffer.compare(row.payload, payload(n)) === 0)).toBe(true);
  });

  it("can be appended to and nothing else, by whoever it is", async () => {
    const fixture = await open();
    await fixture.risk.append(batch(fixture, await fixture.risk.takeWriterEpoch("one"), [decision(fixture, 1)]));
    await fixture.store.transact("test.put", (unit) =>
      unit.reference.put({
        kind: "fx",
        version: 1,
        content: [],
        setBy: "x",
        setAt: fixture.now(),
        reason: "",
        hash: "",
      }),
    );
    const owner = await ownerOf(fixture);
    for (const table of ["risk_journal", "risk_envelope", "reference_version"]) {
      const column = table === "risk_journal" ? "fund_id" : "hash";
      for (const sql of [`update ${table} set ${column} = 'forged'`, `delete from ${table}`, `truncate ${table}`]) {
        expect(await rejection(fixture.peer.pool.query(sql), sql), sql).toMatchObject({ code: "42501" });
        expect(await rejection(owner.query(sql), sql), sql).toMatchObject({ code: "42501" });
      }
    }
    for (const sql of [
      "select setval('outbox_id_seq', 1)",
      "insert into risk_journal (id, kind, at_us, fund_id, order_id, payload) values (1, 2, 1, '', '', '')",
      "update halt set reason = 'forged'",
      "delete from halt",
      "update reference_change set change = 0",
    ]) {
      expect(await rejection(fixture.peer.pool.query(sql), sql), sql).toMatchObject({ code: "42501" });
    }
    await owner.end();
  });

  it("lets a cursor stand at a row of the journal, and at none beyond the newest", async () => {
    const fixture = await open();
    await fixture.risk.append(
      batch(fixture, await fixture.risk.takeWriterEpoch("one"), [decision(fixture, 1), decision(fixture, 2)]),
    );
    const newest = (await fixture.risk.entries(0n, 10)).at(-1)?.id ?? 0n;
    const { pool } = fixture.peer;
    await pool.query("insert into subscription (name, cursor_id, patterns, updated_us) values ('s', 0, '{}', 1)");
    await pool.query("update subscription set cursor_id = $1", [String(newest)]);
    const beyond = pool.query("update subscription set cursor_id = $1", [String(newest + 1n)]);
    expect(await rejection(beyond, "beyond the newest")).toMatchObject({ code: "23514" });
  });

  it("finds a moment by halving, between events of the outbox and beside late fills", async () => {
    const fixture = await open();
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const at = (n: number) => (1_700_000_000_000_000 + n * 1_000_000) as typeof start;
    const start = fixture.now();
    for (let n = 0; n < 20; n += 1) {
      await fixture.peer.pool.query("select nextval('outbox_id_seq') from generate_series(1, $1)", [n % 4]);
      await fixture.risk.append(
        batch(fixture, writerEpoch, [
          decision(fixture, n, { at: at(n) }),
          { ...fill(fixture, `fill-${n}`), at: at(n % 3) },
        ]),
      );
    }
    const rows = (await fixture.risk.entries(0n, 100)).filter((row) => row.kind === "decision");
    for (let n = 0; n <= 20; n += 1) {
      const found = await fixture.peer.pool.query("select risk_journal_before($1) as id", [at(n)]);
      const after = rows.filter((row) => row.id > BigInt(found.rows[0]?.id));
      expect(after.map((row) => row.at)).toEqual(rows.slice(n).map((row) => row.at));
    }
  });
});
