// The risk engine's store on PostgreSQL under the suite of its port, then what is PostgreSQL's own: a batch whose fate is open, a killed
// server process, rights, sizes.
import { afterEach, describe, expect, it } from "vitest";
import { riskStoreConformance } from "../../../testkit/conformance/risk-store.ts";
import { batch, decision, fill, payloads } from "../../../testkit/conformance/risk-store-rig.ts";
import { eventually, rejection } from "../../../testkit/conformance/waiting.ts";
import { quietLog } from "../../../testkit/global-setup.ts";
import { type PostgresRiskRig, postgresRiskStoreRig } from "../../../testkit/risk-rigs.ts";
import { openClient } from "../connection.ts";

riskStoreConformance("PostgreSQL", () => postgresRiskStoreRig());

const opened: PostgresRiskRig[] = [];
afterEach(async () => {
  for (const rig of opened.splice(0)) await rig.close();
});

async function open(answerMsMax?: number): Promise<PostgresRiskRig> {
  const rig = await postgresRiskStoreRig(answerMsMax);
  opened.push(rig);
  return rig;
}

const ownerOf = (rig: PostgresRiskRig) =>
  openClient(rig.database.address.owner, { log: quietLog, applicationName: "owner" });

/** Another transaction holds this fill's number, so that an append of it stands still with the pen in its hand. */
async function holdFill(rig: PostgresRiskRig, fillId: string) {
  const owner = await ownerOf(rig);
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

async function appendIsWaiting(rig: PostgresRiskRig): Promise<void> {
  await eventually(rig, "the append waits for a lock", async () => {
    const found = await rig.peer.pool.query(
      "select 1 from pg_stat_activity where application_name = 'rig journal' and wait_event_type = 'Lock' and datname = current_database()",
    );
    return found.rowCount === 1;
  });
}

/** The pool's own connections died with the network; a caller is told so and asks again. */
async function isBack(rig: PostgresRiskRig): Promise<void> {
  await eventually(rig, "the store is back", () =>
    Promise.all(Array.from({ length: 10 }, () => rig.risk.haltEpoch())).then(
      () => true,
      () => false,
    ),
  );
}

describe("a batch whose answer was lost", () => {
  for (const end of ["rollback", "commit"] as const) {
    const outcome = end === "rollback" ? "committed" : "not committed";
    it(`invariant 2: is waited for while it is under way; ${outcome} in the end`, async () => {
      const rig = await open();
      const pen = await rig.risk.takePen("one");
      const held = await holdFill(rig, "fill-1");
      const sent = batch(rig, pen, [fill(rig, "fill-1")]);
      const lost = rejection(rig.risk.append(sent), "the cut append");
      await appendIsWaiting(rig);
      rig.proxy.cut();
      expect(await lost).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
      rig.proxy.restore();
      await isBack(rig);
      let answer: string | undefined;
      const asked = rig.risk.outcomeOf(sent.id).then((told) => {
        answer = told;
      });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(answer).toBeUndefined();
      await held[end]();
      await asked;
      expect(answer).toBe(outcome);
      expect(await rig.risk.knownFills(["fill-1"])).toEqual(new Set(["fill-1"]));
    });
  }

  it("is asked about after the server's process was killed", async () => {
    const rig = await open();
    const pen = await rig.risk.takePen("one");
    const held = await holdFill(rig, "fill-1");
    const sent = batch(rig, pen, [decision(rig, 1), fill(rig, "fill-1")]);
    const lost = rejection(rig.risk.append(sent), "the killed append");
    await appendIsWaiting(rig);
    const owner = await ownerOf(rig);
    await owner.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'rig journal' and datname = current_database()",
    );
    await owner.end();
    expect(await lost).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
    await held.rollback();
    await isBack(rig);
    expect(await rig.risk.outcomeOf(sent.id)).toBe("not committed");
    await rig.risk.append(batch(rig, await rig.risk.takePen("one"), [decision(rig, 2)]));
    expect(await payloads(rig.risk)).toEqual(["decision 2"]);
  });

  it("is asked about when the network swallowed everything after it", async () => {
    const rig = await open(400);
    for (const outcome of ["committed", "not committed"] as const) {
      const pen = await rig.risk.takePen("one");
      const sent = batch(rig, pen, [decision(rig, 1, { payload: Buffer.from(outcome) })]);
      rig.proxy.swallowFromCommit(outcome);
      expect(await rejection(rig.risk.append(sent), "the swallowed answer")).toMatchObject({
        code: "STORE_COMMIT_UNKNOWN",
      });
      rig.proxy.restore();
      await isBack(rig);
      expect(await rig.risk.outcomeOf(sent.id)).toBe(outcome);
    }
    expect(await payloads(rig.risk)).toEqual(["committed"]);
  });
});

describe("the journal on PostgreSQL", () => {
  it("refuses at once while there is no connection, for certain, and goes on when it is back", async () => {
    const rig = await open();
    const pen = await rig.risk.takePen("one");
    rig.proxy.cut();
    await eventually(rig, "the loss is noticed", () => rig.risk.complaint() !== undefined);
    const refused = await rejection(rig.risk.append(batch(rig, pen, [decision(rig, 1)])), "no connection");
    expect(refused).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    rig.proxy.restore();
    await eventually(rig, "the connection is back", () => rig.risk.complaint() === undefined);
    await rig.risk.append(batch(rig, pen, [decision(rig, 2)]));
    expect(await payloads(rig.risk)).toEqual(["decision 2"]);
  });

  it("takes a batch of thousands, and rows larger than a page", async () => {
    const rig = await open();
    const pen = await rig.risk.takePen("one");
    const sizes = Array.from({ length: 3_000 }, (_unused, n) => (n % 100 === 0 ? 20_000 : 300));
    const payload = (n: number) => new Uint8Array(sizes[n] ?? 0).fill(n % 251);
    await rig.risk.append(
      batch(
        rig,
        pen,
        sizes.map((_size, n) => decision(rig, n, { payload: payload(n) })),
      ),
    );
    const rows = await rig.risk.entries(0n, 10_000);
    expect(rows.length).toBe(sizes.length);
    expect(rows.every((row, n) => Buffer.compare(row.payload, payload(n)) === 0)).toBe(true);
  });

  it("can be appended to and nothing else, by whoever it is", async () => {
    const rig = await open();
    await rig.risk.append(batch(rig, await rig.risk.takePen("one"), [decision(rig, 1)]));
    await rig.store.transact("test.put", (unit) =>
      unit.reference.put({ kind: "fx", version: 1, content: [], setBy: "x", setAt: rig.now(), reason: "", hash: "" }),
    );
    const owner = await ownerOf(rig);
    for (const table of ["risk_journal", "risk_envelope", "reference_version"]) {
      const column = table === "risk_journal" ? "fund_id" : "hash";
      for (const sql of [`update ${table} set ${column} = 'forged'`, `delete from ${table}`, `truncate ${table}`]) {
        expect(await rejection(rig.peer.pool.query(sql), sql), sql).toMatchObject({ code: "42501" });
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
      expect(await rejection(rig.peer.pool.query(sql), sql), sql).toMatchObject({ code: "42501" });
    }
    await owner.end();
  });

  it("lets a cursor stand at a row of the journal, and at none beyond the newest", async () => {
    const rig = await open();
    await rig.risk.append(batch(rig, await rig.risk.takePen("one"), [decision(rig, 1), decision(rig, 2)]));
    const newest = (await rig.risk.entries(0n, 10)).at(-1)?.id ?? 0n;
    const { pool } = rig.peer;
    await pool.query("insert into subscription (name, cursor_id, patterns, updated_us) values ('s', 0, '{}', 1)");
    await pool.query("update subscription set cursor_id = $1", [String(newest)]);
    const beyond = pool.query("update subscription set cursor_id = $1", [String(newest + 1n)]);
    expect(await rejection(beyond, "beyond the newest")).toMatchObject({ code: "23514" });
  });

  it("finds a moment by halving, between events of the outbox and beside late fills", async () => {
    const rig = await open();
    const pen = await rig.risk.takePen("one");
    const at = (n: number) => (1_700_000_000_000_000 + n * 1_000_000) as typeof start;
    const start = rig.now();
    for (let n = 0; n < 20; n += 1) {
      await rig.peer.pool.query("select nextval('outbox_id_seq') from generate_series(1, $1)", [n % 4]);
      await rig.risk.append(
        batch(rig, pen, [decision(rig, n, { at: at(n) }), { ...fill(rig, `fill-${n}`), at: at(n % 3) }]),
      );
    }
    const rows = (await rig.risk.entries(0n, 100)).filter((row) => row.kind === "decision");
    for (let n = 0; n <= 20; n += 1) {
      const found = await rig.peer.pool.query("select risk_journal_before($1) as id", [at(n)]);
      const after = rows.filter((row) => row.id > BigInt(found.rows[0]?.id));
      expect(after.map((row) => row.at)).toEqual(rows.slice(n).map((row) => row.at));
    }
  });
});
