// The audit log in memory passes the same suite as on PostgreSQL, without faults and with them, and the suite is shown to notice planted bugs.
import { describe, expect, it } from "vitest";
import type { AuditLog } from "../../ports/audit-log.ts";
import { memoryAuditLogFixture } from "../audit-fixtures.ts";
import { auditLogConformance, runAuditLogCheck } from "../conformance/audit-log.ts";
import { batchIsWholeOrNothing, byteForByte, lostAnswer, oneWriter } from "../conformance/audit-log-append.ts";
import { type AuditLogFixture, batch, texts } from "../conformance/audit-log-fixture.ts";
import { bySubject, checkpointsGain, tilesAreKept } from "../conformance/audit-log-reads.ts";
import { prng } from "../virtual/prng.ts";
import { scheduler } from "../virtual/scheduler.ts";
import { memoryAuditLog } from "./audit-log.ts";
import { auditTables } from "./audit-tables.ts";
import { type MemoryFaults, noFaults } from "./faults.ts";
import { memoryTables } from "./tables.ts";

const seed = 20_261_116;

function slowedDown(): Partial<MemoryFaults> {
  const thrown = prng(seed);
  return {
    commitDelayMs: () => thrown.below(4),
    answerDelayMs: () => thrown.below(4),
    deliveryDelayMs: () => thrown.below(30),
  };
}

auditLogConformance("memory", () => memoryAuditLogFixture({ seed }));
auditLogConformance(`memory with faults, seed ${seed}`, () => memoryAuditLogFixture({ seed, faults: slowedDown() }));

describe("the suite notices", () => {
  /** A fixture whose log does one thing wrong. */
  const planted = (wrong: (audit: AuditLog) => Partial<AuditLog>) => async (): Promise<AuditLogFixture> => {
    const fixture = await memoryAuditLogFixture({ seed });
    return { ...fixture, audit: { ...fixture.audit, ...wrong(fixture.audit) } };
  };

  it("a log that does not look at the writer epoch (promise 2)", async () => {
    const blind = planted((audit) => ({
      append: async (one) =>
        audit.append({ ...one, writerEpoch: (await audit.takeWriterEpoch("anybody")).writerEpoch }),
    }));
    await expect(runAuditLogCheck(oneWriter, blind)).rejects.toThrow(/stale writer epoch/);
  });

  it("a log that takes half a batch (promise 1)", async () => {
    const halving = planted((audit) => ({
      async append(one) {
        for (const row of one.rows) {
          const after = row.sequence;
          await audit.append({ ...one, after, rows: [row], head: { ...one.head, size: after + 1 } });
        }
      },
    }));
    await expect(runAuditLogCheck(batchIsWholeOrNothing, halving)).rejects.toThrow();
  });

  it("a log that says after a lost answer that all is well (promise 3)", async () => {
    const calm = planted((audit) => ({ append: (one) => audit.append(one).catch(() => undefined) }));
    await expect(runAuditLogCheck(lostAnswer, calm)).rejects.toThrow(/lost answer/);
  });

  it("a log that changes one bit (promise 6)", async () => {
    const flipping = planted((audit) => ({
      read: async (from, count) =>
        (await audit.read(from, count)).map((row) => ({
          ...row,
          text: row.text.map((byte, at) => (at === 999 ? byte ^ 1 : byte)),
        })),
    }));
    await expect(runAuditLogCheck(byteForByte, flipping)).rejects.toThrow();
  });

  it("an index that leaves an entry out, a note that loses a signature, a tile that shrinks", async () => {
    const forgetful = planted((audit) => ({
      readSubject: async (...asked) => (await audit.readSubject(...asked)).filter((row) => row.sequence !== 4),
    }));
    await expect(runAuditLogCheck(bySubject, forgetful)).rejects.toThrow();
    const lenient = planted((audit) => ({
      putCheckpoint: (...put) => audit.putCheckpoint(...put).catch(() => undefined),
    }));
    await expect(runAuditLogCheck(checkpointsGain, lenient)).rejects.toThrow();
    const shrinking = planted((audit) => ({
      putTiles: (tiles) => audit.putTiles(tiles.map((tile) => ({ ...tile, hashes: tile.hashes.slice(0, 32) }))),
    }));
    await expect(runAuditLogCheck(tilesAreKept, shrinking)).rejects.toThrow();
  });
});

describe("the audit log in memory", () => {
  it("keeps what was committed when its process is killed before it heard so, and nothing of what was not", async () => {
    const time = scheduler({ seed });
    const stop = time.pump();
    const { timers } = time;
    for (const [answerMs, kept] of [
      [50, 2],
      [0, 1],
    ] as const) {
      const tables = memoryTables({ ...noFaults, commitDelayMs: () => 50, answerDelayMs: () => answerMs });
      const audit = auditTables();
      const process = tables.process("operations");
      const log = memoryAuditLog({ process, timers, audit });
      const { writerEpoch } = await log.takeWriterEpoch("one");
      await log.append(batch(writerEpoch, 0, 1));
      let reported = false;
      void log.append(batch(writerEpoch, 1, 1)).then(() => {
        reported = true;
      });
      await timers.sleep(answerMs === 0 ? 25 : 75);
      process.kill();
      await timers.sleep(200);
      expect(reported).toBe(false);
      const next = memoryAuditLog({ process: tables.process("operations"), timers, audit });
      expect((await next.takeWriterEpoch("two")).head.size).toBe(kept);
      expect((await texts(next)).length).toBe(kept);
    }
    await stop();
  });

  it("is out of reach for a process that is cut off, and says nothing to followers until it is back", async () => {
    const time = scheduler({ seed });
    const stop = time.pump();
    const tables = memoryTables();
    const audit = auditTables();
    const [one, two] = [tables.process("one"), tables.process("two")];
    const writer = memoryAuditLog({ process: one, timers: time.timers, audit });
    const reader = memoryAuditLog({ process: two, timers: time.timers, audit });
    let reported = 0;
    reader.onAppend(() => {
      reported += 1;
    });
    two.setReachable(false);
    const { writerEpoch } = await writer.takeWriterEpoch("one");
    await writer.append(batch(writerEpoch, 0, 1));
    await time.timers.sleep(20);
    expect(reported).toBe(0);
    await expect(reader.head()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    two.setReachable(true);
    await time.timers.sleep(20);
    expect(reported).toBe(1);
    await reader.close();
    await expect(reader.head()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "never" });
    await stop();
  });
});
