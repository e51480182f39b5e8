// What is read when the audit log is opened: rows that are gone, too many or rewritten while the head, the tiles and the checkpoints stayed.
import { describe, expect, it } from "vitest";
import {
  type AuditFixture,
  auditFixture,
  loseRows,
  recordsOf,
  rewriteAndRechain,
} from "../../../../testkit/audit/service-fixture.ts";
import { healthOf } from "../../operations.ts";
import { recentEntries } from "./restore.ts";
import { rowsFault } from "./row-count.ts";

const request = (n: number) => ({
  eventId: `event-${n}`,
  actor: "service:oms",
  action: "order.created",
  subjectId: `order-${n % 5}`,
  data: { n },
});

/** A log of so many entries that was stopped cleanly, and so is signed to its end. */
async function signedLog(seed: number, size: number): Promise<AuditFixture> {
  const fixture = auditFixture({ seed });
  const { audit } = await fixture.start();
  await fixture.finish(Promise.all(Array.from({ length: size - 1 }, (_, n) => audit.append(request(n)))));
  await fixture.finish(audit.stop());
  expect(fixture.disk.checkpoints.has(size)).toBe(true);
  return fixture;
}

const alarms = (fixture: AuditFixture): string[] =>
  fixture.tables.log
    .filter(({ subject }) => subject === "svc.v1.operations.alarm.raised")
    .map(({ bytes }) => (JSON.parse(new TextDecoder().decode(bytes)) as { code: string }).code);

/** One byte of what the entry says, neither its hash nor anything after it. */
function scribble({ disk }: AuditFixture, sequence: number): void {
  const row = disk.rows[sequence];
  if (row === undefined) throw new Error(`no row ${sequence}`);
  disk.rows[sequence] = { ...row, text: row.text.map((byte, at) => (at === 12 ? byte ^ 1 : byte)) };
}

async function standsStill(fixture: AuditFixture, complaint: string): Promise<void> {
  const before = { size: fixture.disk.head.size, checkpoints: fixture.disk.checkpoints.size };
  const { audit } = await fixture.start();
  expect(audit.status()).toMatchObject({ state: "standing still", complaint: expect.stringContaining(complaint) });
  expect(healthOf(audit)).toMatchObject({ status: "failing", complaint: expect.stringContaining(complaint) });
  await expect(fixture.finish(audit.append(request(1_000_000)))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  await fixture.finish(audit.stop());
  expect(alarms(fixture)).toEqual(["AUDIT_CHAIN_BROKEN"]);
  expect({ size: fixture.disk.head.size, checkpoints: fixture.disk.checkpoints.size }).toEqual(before);
}

describe("at the start", () => {
  it("rows that are gone are named: in the middle, at the end, at the beginning, old ones too", async () => {
    const size = recentEntries + 300;
    const cases = [
      [46, 56, size, "SEQUENCE_MISMATCH at 46: expected 46, found 56."],
      [1, 2, 80, "SEQUENCE_MISMATCH at 1: expected 1, found 2."],
      [0, 1, 80, "GENESIS_MISMATCH at 0"],
      [60, 80, 80, "TRUNCATED at 60: expected 80 entries, found 60."],
      [79, 80, 80, "TRUNCATED at 79: expected 80 entries, found 79."],
      [46, 56, 80, "SEQUENCE_MISMATCH at 46: expected 46, found 56."],
    ] as const;
    for (const [which, [from, end, entries, complaint]] of cases.entries()) {
      const fixture = await signedLog(300 + which, entries);
      loseRows(fixture.disk, from, end);
      await standsStill(fixture, complaint);
    }
  });

  it("a row beyond the head is found, and is none when the head has grown meanwhile", async () => {
    const fixture = await signedLog(310, 30);
    const row = fixture.disk.rows[29];
    if (row === undefined) throw new Error("no row");
    const { head } = fixture.disk;
    const grown = { ...head, size: 31 };
    const reads = (now: typeof head) => ({
      count: async (from: number, end: number) => end - from,
      read: async () => [{ ...row, sequence: 30 }],
      head: async () => now,
    });
    expect(await rowsFault(reads(grown), head)).toBeUndefined();
    expect(await rowsFault(reads(head), head)).toMatchObject({ code: "SEQUENCE_MISMATCH", sequence: 30 });
    fixture.disk.rows.push({ ...row, sequence: 30, eventId: "stowaway" });
    await standsStill(fixture, "SEQUENCE_MISMATCH at 30: expected the end after 30 entries");
  });

  it("of the newest entries each one is read, signed or not; an older one is left to the whole verification", async () => {
    const size = recentEntries + 300;
    const scribbled = await signedLog(320, size);
    scribble(scribbled, 300);
    await standsStill(scribbled, "HASH_MISMATCH at 300");

    const rechained = await signedLog(321, size);
    const { head } = rechained.disk;
    rewriteAndRechain(rechained.disk, 300, { n: -1 });
    await standsStill(rechained, `ROOT_MISMATCH at ${size}`);
    rechained.disk.head = head;
    const again = await rechained.start();
    expect(again.audit.status().complaint).toContain(`HASH_MISMATCH at ${size - 1}`);
    await rechained.finish(again.audit.stop());

    const old = await signedLog(322, size);
    scribble(old, 299);
    const { audit } = await old.start();
    expect(audit.status()).toMatchObject({ state: "open", complaint: undefined });
    expect(healthOf(audit)).toEqual({ status: "ok" });
    expect(await old.finish(audit.verifySelf())).toMatchObject({ fault: { code: "HASH_MISMATCH", sequence: 299 } });
    expect(healthOf(audit)).toMatchObject({ status: "failing", complaint: expect.stringContaining("HASH_MISMATCH") });
    await old.finish(audit.stop());
  });

  it("tiles that are wrong or gone are no reason to stand still", async () => {
    for (const [which, path] of ["0/1", "1/0"].entries()) {
      const fixture = await signedLog(330 + which, recentEntries + 300);
      const tile = fixture.disk.tiles.get(path);
      if (tile === undefined) throw new Error("no tile");
      fixture.disk.tiles.set(path, { ...tile, hashes: tile.hashes.map((byte, at) => (at === 40 ? byte ^ 1 : byte)) });
      const { audit } = await fixture.start();
      expect(audit.status()).toMatchObject({ state: "open", complaint: undefined });
      await fixture.finish(audit.stop());
    }
  });

  it("the last self-verification before the start is told from the log", async () => {
    const fixture = auditFixture({ seed: 340 });
    const first = await fixture.start();
    expect(first.audit.status().lastVerified).toBeUndefined();
    await fixture.finish(first.audit.verifySelf());
    expect(first.audit.status().lastVerified).toMatchObject({ result: "clean" });
    await fixture.finish(first.audit.stop());
    const { audit } = await fixture.start();
    const { sequence } = recordsOf(fixture.disk).find(({ action }) => action === "chain.verified") ?? {};
    expect(audit.status().lastVerified).toMatchObject({ result: `clean, before this start (entry ${sequence})` });
    await fixture.finish(audit.verifySelf());
    expect(audit.status().lastVerified).toMatchObject({ result: "clean" });
    await fixture.finish(audit.stop());
  });
});
