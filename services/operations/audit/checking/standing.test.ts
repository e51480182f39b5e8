// How the audit log stands, as it is reported for risk engines: up to date while it runs, broken when its newest entries are gone or another, whole
// again when they are back, and silent when nobody writes the log.
import { describe, expect, test } from "vitest";
import { fromMicroseconds, millisecondsBetween } from "../../../../contracts/src/instant.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import type { AuditHead, NewAuditRow } from "../../../../ports/audit-log.ts";
import {
  type AuditFixture,
  auditFixture,
  loseRows,
  recordsOf,
  rewriteAndRechain,
  truncate,
} from "../../../../testkit/audit/service-fixture.ts";
import { exampleOrder } from "../../../../testkit/record-examples.ts";
import { readRows } from "./tail-check.ts";

let fixture: AuditFixture;

async function begin(entries = 5) {
  fixture = auditFixture({ seed: 223 });
  const life = await fixture.start({ kept: true });
  for (let count = 0; count < entries; count += 1) {
    await fixture.publish("oms", subjects.ordersCreated, { ...exampleOrder, order_id: `order-${count}` });
  }
  await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 3_000 });
  return life;
}

const pass = (ms: number) => fixture.time.run({ untilMs: fixture.time.elapsedMs() + ms });
const standing = () => fixture.tables.auditStanding.current;
const behindMs = (): number =>
  millisecondsBetween(standing()?.through ?? fromMicroseconds(0), fixture.time.clock.now());

/** As from a backup: what came after the loss stays. */
function putBack(rows: readonly NewAuditRow[], head: AuditHead): void {
  const { disk } = fixture;
  const newer = disk.rows.filter(({ sequence }) => sequence >= rows.length);
  disk.rows.splice(0, disk.rows.length, ...rows, ...newer);
  if (disk.head.size < head.size || newer.length === 0) disk.head = head;
  disk.bySubject.clear();
  for (const { eventId, subjectId, sequence } of disk.rows) {
    disk.byEvent.set(eventId, sequence);
    disk.bySubject.set(subjectId, [...(disk.bySubject.get(subjectId) ?? []), sequence]);
  }
}

describe("22.3: how the audit log stands", () => {
  test("it is up to date while it runs, and nothing of that is an entry", async () => {
    const { audit } = await begin();
    expect(standing()?.broken).toBeUndefined();
    expect(behindMs()).toBeLessThan(2_500);
    const { size } = audit.status();
    await pass(5_000);
    expect(behindMs()).toBeLessThan(2_500);
    expect(audit.status().size).toBe(size);
    await fixture.finish(audit.stop());
  });

  const attacks: readonly (readonly [string, () => void])[] = [
    ["its newest entries are gone", () => loseRows(fixture.disk, fixture.disk.head.size - 3, fixture.disk.head.size)],
    ["it is cut, with its head", () => truncate(fixture.disk, fixture.disk.head.size - 3)],
    ["all of it is gone", () => loseRows(fixture.disk, 0, fixture.disk.head.size)],
    [
      "its end is rewritten and chained anew",
      () => rewriteAndRechain(fixture.disk, fixture.disk.head.size - 2, { lie: true }),
    ],
  ];
  test.each(attacks)(
    "%s: it is broken within two seconds, and whole again when it is put back",
    async (_name, attack) => {
      const { audit } = await begin(readRows);
      const rows = fixture.disk.rows.map((row) => ({ ...row }));
      const { head } = fixture.disk;
      attack();
      await pass(2_000);
      expect(standing()?.broken?.reason).toMatch(/TRUNCATED|SEQUENCE_MISMATCH|HASH_MISMATCH|LINK_MISMATCH/);
      const since = standing()?.broken?.since;
      await fixture.publish("oms", subjects.ordersCreated, { ...exampleOrder, order_id: "meanwhile" });
      await pass(3_000);
      expect(standing()?.broken?.since).toEqual(since);
      putBack(rows, head);
      await pass(12_000);
      expect(standing()?.broken).toBeUndefined();
      expect(behindMs()).toBeLessThan(2_500);
      expect(recordsOf(fixture.disk).filter(({ subject_id: id }) => id === "meanwhile")).toHaveLength(1);
      await fixture.finish(audit.stop());
    },
  );

  test("a process that was killed reports nothing any more, and the next one goes on from there", async () => {
    const { process } = await begin();
    process.kill();
    await pass(20_000);
    expect(behindMs()).toBeGreaterThan(20_000);
    const { audit } = await fixture.start();
    await pass(2_000);
    expect(standing()?.broken).toBeUndefined();
    expect(behindMs()).toBeLessThan(2_500);
    await fixture.finish(audit.stop());
  });

  test("appends that fail hold it back: what is published is not an entry", async () => {
    const { audit } = await begin();
    fixture.fates.set(
      "audit.append",
      Array.from({ length: 1_000 }, () => "failed" as never),
    );
    await fixture.publish("oms", subjects.ordersCreated, { ...exampleOrder, order_id: "late" });
    await pass(20_000);
    expect(behindMs()).toBeGreaterThan(17_000);
    fixture.fates.delete("audit.append");
    await pass(10_000);
    expect(behindMs()).toBeLessThan(2_500);
    await fixture.finish(audit.stop());
  });

  test("a log that is broken at the start is reported broken at once, and opened when it is whole", async () => {
    const { process } = await begin();
    process.kill();
    const [rows, { head }] = [[...fixture.disk.rows], fixture.disk];
    loseRows(fixture.disk, head.size - 2, head.size);
    const { audit } = await fixture.start({ kept: true });
    await pass(1_000);
    expect(standing()?.broken?.reason).toContain("TRUNCATED");
    await fixture.publish("oms", subjects.ordersCreated, { ...exampleOrder, order_id: "meanwhile" });
    await pass(20_000);
    expect(audit.status().state).toBe("standing still");
    putBack(rows, head);
    await pass(25_000);
    expect(audit.status()).toMatchObject({ state: "open", broken: undefined });
    expect(standing()?.broken).toBeUndefined();
    expect(behindMs()).toBeLessThan(2_500);
    expect(recordsOf(fixture.disk).filter(({ subject_id: id }) => id === "meanwhile")).toHaveLength(1);
    await fixture.finish(audit.stop());
  });

  test("22.10: since when a log is broken survives a restart", async () => {
    const { process } = await begin();
    loseRows(fixture.disk, fixture.disk.head.size - 2, fixture.disk.head.size);
    await pass(3_000);
    const since = standing()?.broken?.since;
    expect(since).toBeDefined();
    process.kill();
    await pass(30_000);
    const { audit } = await fixture.start({ kept: true });
    await pass(3_000);
    expect(standing()?.broken?.since).toBe(since);
    await fixture.finish(audit.stop());
  });

  test("an end that was cut off before it was signed is not taken for whole", async () => {
    const { audit } = await begin();
    const [rows, { head }] = [[...fixture.disk.rows], fixture.disk];
    fixture.disk.checkpoints.clear();
    truncate(fixture.disk, head.size - 2);
    await fixture.publish("oms", subjects.ordersCreated, { ...exampleOrder, order_id: "meanwhile" });
    await pass(12_000);
    expect(audit.status().state).toBe("taken over");
    expect(standing()?.broken).toBeDefined();
    putBack(rows, head);
    await pass(24_000);
    expect(audit.status().state).toBe("open");
    await fixture.finish(audit.stop());
  });

  test("a log that another process writes is left to it, and taken back when that one is silent", async () => {
    const { audit } = await begin();
    const other = await fixture.start();
    await fixture.publish("oms", subjects.ordersCreated, { ...exampleOrder, order_id: "meanwhile" });
    await pass(16_000);
    const states = [audit.status().state, other.audit.status().state];
    expect(states.sort()).toEqual(["open", "taken over"]);
    expect(behindMs()).toBeLessThan(2_500);
    other.process.kill();
    await pass(130_000);
    expect(audit.status().state).toBe("open");
    expect(standing()?.broken).toBeUndefined();
    expect(behindMs()).toBeLessThan(2_500);
    await fixture.finish(audit.stop());
  });

  test("a message of somebody else does not make it look up to date", async () => {
    const { audit } = await begin();
    fixture.fates.set(
      "audit.append",
      Array.from({ length: 1_000 }, () => "failed" as never),
    );
    await fixture.publish("oms", subjects.ordersCreated, { ...exampleOrder, order_id: "late" });
    await fixture.publish("operations", subjects.auditProgress, {
      beat_id: "forged",
      at: "2026-11-15T12:00:00.000000Z",
    });
    await pass(15_000);
    expect(behindMs()).toBeGreaterThan(12_000);
    await fixture.finish(audit.stop());
  });
});
