// A log that is broken, closed by two people, and the one that begins after it: who may, when, what it says, what both are afterwards, and what a crash
// leaves at each step.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { logSpan } from "../../../../adapters/records/flat-audit-log.ts";
import { systemSha256OfBytes } from "../../../../adapters/system/signing.ts";
import type { AuditTrail } from "../../../../contracts/src/generated/svc/v1/audit.ts";
import type {
  AuditAnew,
  AuditBundleHead,
  AuditPage,
  AuditStatus,
} from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import { readVerifierKey } from "../../../../core/audit/signed-note.ts";
import type { Identity } from "../../../../ports/identity.ts";
import type { RpcCall } from "../../../../ports/rpc.ts";
import { sha256, verifySignature } from "../../../../testkit/audit/keys.ts";
import {
  type AuditFixture,
  type AuditLife,
  auditFixture,
  loseRows,
  recordsOf,
  rewriteAndRechain,
  truncate,
} from "../../../../testkit/audit/service-fixture.ts";
import { verifyBundleFile } from "../../../../testkit/audit/verify-bundle.ts";
import { exampleOrder } from "../../../../testkit/record-examples.ts";
import { auditQueries } from "../queries/audit-queries.ts";

const person = (name: string, roles: readonly string[], subject = `x|${name}`): Identity =>
  ({ kind: "operator", actor: `operator:${name}`, name, subject, issuer: "x", roles }) as unknown as Identity;
const duty = person("duty", ["admin", "operator"]);
const relief = person("relief", ["operator"]);

const signal = new AbortController().signal;
const callOf = (identity: Identity): RpcCall => ({
  requestId: "r-1",
  identity,
  isGone: () => false,
  signal,
  requestBytes: new Uint8Array(0),
});

let fixture: AuditFixture;
let life: AuditLife;

const pass = (ms: number) => fixture.time.run({ untilMs: fixture.time.elapsedMs() + ms });
const standing = () => fixture.tables.auditStanding.current;
const order = (id: string) => fixture.publish("oms", subjects.ordersCreated, { ...exampleOrder, order_id: id });

async function begin(entries = 6): Promise<void> {
  fixture = auditFixture({ seed: 2_203 });
  life = await fixture.start();
  for (let count = 0; count < entries; count += 1) await order(`order-${count}`);
  await pass(5_000);
}

/** The desk of the life that runs now. The right proof is "proved". */
function ask<Answer>(method: string, request: object, by: Identity = duty): Promise<Answer> {
  const queries = auditQueries({
    ...fixture.portsOf(life.process),
    ...life.audit,
    auditLog: auditLogOf(),
    sha256OfBytes: systemSha256OfBytes,
    stepUps: {
      redeem: async (_by, _named, proof) =>
        proof === "proved" ? undefined : { code: "STEP_UP_REQUIRED", reason: "Prove it." },
    },
  });
  const handler = queries.handlers[method] as (message: unknown, call: RpcCall) => Promise<Answer>;
  return fixture.finish(handler(request, callOf(by)));
}

const auditLogOf = () => life.auditLog;
const requested = (more: object = {}, by = duty) =>
  ask<AuditAnew>(
    "BeginAuditAnew",
    { reason: "rows were deleted", confirmation: "ANEW", step_up_proof: "proved", ...more },
    by,
  );
const cosigned = (requestId: string, more: object = {}, by = relief) =>
  ask<AuditAnew>(
    "CosignAuditAnew",
    { request_id: requestId, confirmation: "ANEW", step_up_proof: "proved", ...more },
    by,
  );
const denied = (code: string) => ({ denial: { code }, isReported: true });

/** As the owner of the table would: the newest entries are gone, and everybody knows within seconds. */
async function breakLog(lost = 3): Promise<void> {
  loseRows(fixture.disk, fixture.disk.head.size - lost, fixture.disk.head.size);
  await pass(3_000);
  expect(standing()?.broken?.reason).toContain("SEQUENCE_MISMATCH");
}

async function bundleOf(log: number): Promise<Buffer> {
  const { head, count } = await ask<AuditBundleHead>("GetAuditBundleHead", { from_sequence: 0, count: 0, log });
  const { texts } = await ask<AuditPage>("ReadAudit", { from_sequence: 0, count_max: count, log });
  return Buffer.concat([Buffer.from(head), ...texts.flatMap((text) => [Buffer.from(text), Buffer.from("\n")])]);
}

/** What both verifiers say. */
function verdictsOf(bundle: Buffer, vkey: string): readonly string[] {
  const key = readVerifierKey(vkey, sha256);
  if (key === undefined) throw new Error("no key");
  const ours = verifyBundleFile(bundle, {
    trustedKeys: [key],
    sha256,
    verifySignature,
    nowUs: fixture.time.clock.now(),
  });
  const folder = mkdtempSync(join(tmpdir(), "anew-"));
  const path = join(folder, "log.bundle");
  writeFileSync(path, bundle);
  let reported: string;
  try {
    reported = execFileSync(process.execPath, ["verifier/audit-verify.js", path, "--vkey", vkey, "--json"], {
      encoding: "utf8",
    });
  } catch (thrown) {
    reported = String((thrown as { readonly stdout?: unknown }).stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const { verdict, level, code, sequence } = JSON.parse(reported) as Readonly<Record<string, unknown>>;
  return [
    "fault" in ours ? `${ours.fault.code} ${ours.fault.sequence}` : ours.level,
    verdict === "yes" ? String(level) : `${String(code)} ${String(sequence)}`,
  ];
}

describe("22.3: two people close a broken audit log and begin another", () => {
  test("the new log names the old one, takes what waited, verifies, and lifts the block; the damage stays to be seen", async () => {
    await begin();
    const before = life.audit.status();
    const rowsBefore = structuredClone(fixture.disk.rows.slice(0, -3));
    await breakLog();
    const { size } = fixture.disk.head;
    const asked = await requested();
    expect(asked).toMatchObject({ pending: true, closed_log: 1, closed_origin: before.origin, log: 0 });
    const done = await cosigned(asked.request_id);
    expect(done).toMatchObject({ pending: false, closed_log: 1, log: 2, sequence: 1 });
    expect(done.origin).toMatch(/^portcullis\/audit\/2\/[0-9a-f-]{36}$/);
    await order("order-after");
    await pass(8_000);
    expect(standing()?.broken).toBeUndefined();
    expect(await fixture.finish(life.audit.verify())).toMatchObject({ level: "L1" });
    expect(life.audit.status()).toMatchObject({ number: 2, origin: done.origin, broken: undefined });
    // What was there is there, byte for byte.
    expect(fixture.disk.rows.slice(0, rowsBefore.length)).toEqual(rowsBefore);
    const [genesis, naming, ...rest] = recordsOf(fixture.disk).filter(
      (_record, at) => (fixture.disk.rows[at]?.sequence ?? 0) >= logSpan,
    );
    expect(genesis).toMatchObject({ sequence: 0, action: "chain.genesis", subject_id: done.origin });
    expect(naming).toMatchObject({
      sequence: 1,
      action: "chain.begun_anew",
      subject_id: done.origin,
      actor: "operator:relief",
      data: {
        fault: { code: "SEQUENCE_MISMATCH" },
        log: 2,
        previous: {
          log: 1,
          origin: before.origin,
          checkpoint: { note: expect.stringContaining(before.origin) },
          keys: before.keys,
        },
        reason: "rows were deleted",
        requested_by: "operator:duty",
        cosigned_by: "operator:relief",
      },
    });
    const previous = naming?.data["previous"] as { readonly checkpoint: { readonly size: number } } | undefined;
    expect(previous?.checkpoint.size).toBeGreaterThan(size - 3);
    const actions = rest.map(({ action, subject_id }) => `${action} ${subject_id}`);
    expect(actions).toContain("order.created order-after");
    expect(actions).toContain("operator.attempted audit");
    // The old log took entries until it was closed.
    expect(recordsOf(fixture.disk).filter(({ action }) => action === "anew.requested").length).toBe(1);
    const status = await ask<AuditStatus>("GetAuditStatus", {});
    expect(status).toMatchObject({
      log: 2,
      closed_logs: [
        { log: 1, origin: before.origin, fault: { code: "SEQUENCE_MISMATCH" }, cosigned_by: "operator:relief" },
      ],
    });
    // Both stay verifiable, by us and by both verifiers: the old one is broken where it was broken.
    const old = await fixture.finish(life.audit.verify(0, undefined, undefined, 1));
    expect(old).toMatchObject({ fault: { code: "SEQUENCE_MISMATCH" } });
    await fixture.finish(life.audit.flush());
    expect(verdictsOf(await bundleOf(2), done.key)).toEqual(["L1", "L1"]);
    const [ours, theirs] = verdictsOf(await bundleOf(1), before.keys[0] ?? "");
    expect(ours).toMatch(/^SEQUENCE_MISMATCH 4$/);
    expect(theirs).toBe(ours);
    // A trail has both, and says which is which.
    const handler = life.audit.rpcHandlers["GetAuditTrail"] as unknown as (
      message: object,
      call: RpcCall,
    ) => Promise<AuditTrail>;
    const trailOf = (request: object) => fixture.finish(handler(request, callOf(relief)));
    expect(await trailOf({ subject_id: "order-0" })).toMatchObject({
      entries: [{ action: "order.created" }],
      logs: [1],
    });
    expect(await trailOf({ subject_id: "order-after" })).toMatchObject({ entries: [{}], logs: [] });
    const first = await trailOf({ subject_id: "audit", count_max: 1 });
    expect(first).toMatchObject({ logs: [1], next_log: 1 });
    const page = { subject_id: "audit", from_sequence: first.next_sequence, log: first.next_log ?? 0, count_max: 10 };
    const second = await trailOf(page);
    expect(second.logs).toEqual([]);
    expect(second.entries.length).toBeGreaterThan(0);
    await fixture.finish(life.audit.stop());
  });

  const attacks: readonly (readonly [string, () => void])[] = [
    ["cut with its head", () => truncate(fixture.disk, fixture.disk.head.size - 3)],
    ["rewritten and chained anew", () => rewriteAndRechain(fixture.disk, 2, { forged: true })],
    ["emptied", () => truncate(fixture.disk, 0)],
    ["missing an entry in the middle", () => loseRows(fixture.disk, 3, 4)],
  ];
  test.each(attacks)("a log that was %s, also when it is found at a start", async (_name, attack) => {
    await begin();
    await fixture.finish(life.audit.stop());
    attack();
    life.process.kill();
    life = await fixture.start();
    await fixture.finish(life.audit.verify());
    await pass(3_000);
    expect(standing()?.broken).toBeDefined();
    const { request_id: id } = await requested();
    expect(await cosigned(id)).toMatchObject({ pending: false, log: 2 });
    await pass(8_000);
    expect(standing()?.broken).toBeUndefined();
    expect(await fixture.finish(life.audit.verify())).toMatchObject({ level: "L1" });
    expect(await fixture.finish(life.audit.verify(0, undefined, undefined, 1))).toHaveProperty("fault");
    // And a start later it is still so.
    life.process.kill();
    life = await fixture.start();
    await pass(3_000);
    expect(life.audit.status()).toMatchObject({ number: 2, state: "open", broken: undefined });
  });

  test("who may not, and when not: each refusal is on record and changes nothing", async () => {
    await begin();
    expect(await requested()).toMatchObject(denied("LOG_NOT_BROKEN"));
    await breakLog();
    expect(await requested({ confirmation: "YES" })).toMatchObject(denied("CONFIRMATION_WRONG"));
    expect(await requested({ reason: " \n" })).toMatchObject(denied("REASON_MISSING"));
    expect(await requested({ step_up_proof: "" })).toMatchObject(denied("STEP_UP_REQUIRED"));
    const { request_id: id } = await requested();
    expect(await cosigned(id, {}, duty)).toMatchObject(denied("ANEW_SAME_PERSON"));
    expect(await cosigned(id, {}, person("other", ["operator"], "x|duty"))).toMatchObject(denied("ANEW_SAME_PERSON"));
    const machine = { ...person("oms", ["operator"]), kind: "service" } as Identity;
    expect(await cosigned(id, {}, machine)).toMatchObject(denied("ANEW_SAME_PERSON"));
    expect(await cosigned(id, { confirmation: "" })).toMatchObject(denied("CONFIRMATION_WRONG"));
    expect(await cosigned(id, { step_up_proof: "another" })).toMatchObject(denied("STEP_UP_REQUIRED"));
    for (const unknown of ["nobody", "", "x".repeat(1_000), "a\0b"]) {
      expect(await cosigned(unknown)).toMatchObject(denied("ANEW_REQUEST_UNKNOWN"));
    }
    expect(life.audit.status().number).toBe(1);
    fixture.tables.loginsEnded.set("operator:duty", fixture.time.clock.now());
    expect(await cosigned(id), "after duty was disabled").toMatchObject(denied("ANEW_REQUEST_VOID"));
    fixture.tables.loginsEnded.clear();
    await pass(16 * 60_000);
    expect(await cosigned(id)).toMatchObject(denied("ANEW_REQUEST_EXPIRED"));
    const { request_id: second } = await requested();
    const { request_id: third } = await requested();
    expect(await cosigned(second)).toMatchObject({ log: 2 });
    expect(await cosigned(second)).toMatchObject(denied("ANEW_REQUEST_VOID"));
    expect(await cosigned(third)).toMatchObject(denied("ANEW_REQUEST_VOID"));
    await pass(8_000);
    const refusals = recordsOf(fixture.disk).filter(
      ({ action, data }) => action === "operator.attempted" && JSON.stringify(data).includes("Anew"),
    );
    expect(refusals.length).toBe(21);
  });

  test("a log that was put right between the two is not closed", async () => {
    await begin();
    const rows = structuredClone(fixture.disk.rows);
    await breakLog();
    const { request_id: id } = await requested();
    const lost = rows.filter(({ sequence }) => !fixture.disk.rows.some((row) => row.sequence === sequence));
    fixture.disk.rows.push(...lost.filter(({ sequence }) => sequence < rows.length));
    fixture.disk.rows.sort((one, other) => one.sequence - other.sequence);
    for (const { eventId, subjectId, sequence } of lost) {
      fixture.disk.byEvent.set(eventId, sequence);
      fixture.disk.bySubject.set(
        subjectId,
        [...(fixture.disk.bySubject.get(subjectId) ?? []), sequence].sort((a, b) => a - b),
      );
    }
    expect(await cosigned(id)).toMatchObject(denied("LOG_NOT_BROKEN"));
    expect(life.audit.status()).toMatchObject({ number: 1 });
    expect(fixture.disk.closed).toEqual([]);
  });

  test("a crash between the two leaves the request; one in the switch leaves the old log or the new one, whole", async () => {
    await begin();
    await breakLog();
    const { request_id: id } = await requested();
    life.process.kill();
    life = await fixture.start();
    await pass(3_000);
    for (const fate of ["failed", "lost, not committed", "lost, committed"] as const) {
      if (life.audit.status().number > 1) break;
      fixture.fates.set("audit.begin", [fate]);
      const answer = await cosigned(id).catch((thrown: unknown) => thrown);
      if (fate === "failed") {
        expect(answer).toMatchObject({ code: "STORE_UNAVAILABLE" });
        expect(fixture.disk.closed).toEqual([]);
        expect(life.audit.status().number).toBe(1);
      } else expect(answer).toMatchObject({ log: 2 });
      await pass(3_000);
    }
    await pass(8_000);
    expect(fixture.disk.closed.length).toBe(1);
    expect(standing()?.broken).toBeUndefined();
    expect(await fixture.finish(life.audit.verify())).toMatchObject({ level: "L1" });
    expect(life.deaths).toEqual([]);
  });

  test("the answer is lost and the process dies: the next start opens the new log and notes that the old one was closed", async () => {
    await begin();
    await breakLog();
    const { request_id: id } = await requested();
    fixture.fates.set("audit.begin", ["lost, committed"]);
    fixture.delays.answerMs = 60_000;
    const queries = cosigned(id).catch(() => undefined);
    void queries;
    for (let waited = 0; fixture.disk.closed.length === 0 && waited < 100; waited += 1) await pass(50);
    life.process.kill();
    fixture.delays.answerMs = 0;
    expect(fixture.disk.closed.length).toBe(1);
    life = await fixture.start();
    await pass(8_000);
    expect(life.audit.status()).toMatchObject({ number: 2, state: "open", broken: undefined });
    // The owner of the table puts the old log back in its place: its key knows better.
    await fixture.finish(life.audit.stop());
    const [closed] = fixture.disk.closed;
    if (closed !== undefined) fixture.disk.head = { ...closed.head };
    life = await fixture.start();
    expect(life.audit.status()).toMatchObject({ number: 1, state: "standing still" });
    expect(life.audit.status().broken).toContain("was closed");
  });

  test("nobody else can begin a log: one that has no key, or no entries, stands still", async () => {
    await begin();
    await fixture.finish(life.audit.stop());
    fixture.disk.head = { size: logSpan, hash: "0".repeat(64), timestamp: "" };
    life = await fixture.start();
    expect(life.audit.status()).toMatchObject({ number: 2, state: "standing still" });
    expect(fixture.disk.rows.some(({ sequence }) => sequence >= logSpan)).toBe(false);
  });
});
