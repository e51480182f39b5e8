// The audit log in memory passes the same suite as on PostgreSQL, in fair weather and in foul, and the suite is shown to notice planted mistakes.
import { describe, expect, it } from "vitest";
import type { AuditLog } from "../../ports/audit-log.ts";
import { memoryAuditLogRig } from "../../testkit/audit-rigs.ts";
import { auditLogConformance, runAuditLogCheck } from "../../testkit/conformance/audit-log.ts";
import { batchIsWholeOrNothing, byteForByte, lostAnswer, onePen } from "../../testkit/conformance/audit-log-append.ts";
import { bySubject, checkpointsGain, tilesAreKept } from "../../testkit/conformance/audit-log-reads.ts";
import { type AuditLogRig, batch, texts } from "../../testkit/conformance/audit-log-rig.ts";
import { dice } from "../../testkit/virtual/dice.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { memoryAuditLog } from "./audit-log.ts";
import { auditWorld } from "./audit-world.ts";
import { type MemoryFaults, noFaults } from "./faults.ts";
import { memoryWorld } from "./world.ts";

const seed = 20_261_116;

function foulWeather(): Partial<MemoryFaults> {
  const thrown = dice(seed);
  return {
    commitDelayMs: () => thrown.below(4),
    answerDelayMs: () => thrown.below(4),
    deliveryDelayMs: () => thrown.below(30),
  };
}

auditLogConformance("memory", () => memoryAuditLogRig({ seed }));
auditLogConformance(`memory in foul weather, seed ${seed}`, () => memoryAuditLogRig({ seed, faults: foulWeather() }));

describe("the suite notices", () => {
  /** A rig whose log does one thing wrong. */
  const planted = (wrong: (audit: AuditLog) => Partial<AuditLog>) => async (): Promise<AuditLogRig> => {
    const rig = await memoryAuditLogRig({ seed });
    return { ...rig, audit: { ...rig.audit, ...wrong(rig.audit) } };
  };

  it("a log that does not look at the pen (promise 2)", async () => {
    const blind = planted((audit) => ({
      append: async (one) => audit.append({ ...one, pen: (await audit.takePen("anybody")).pen }),
    }));
    await expect(runAuditLogCheck(onePen, blind)).rejects.toThrow(/stale pen/);
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
      const world = memoryWorld({ ...noFaults, commitDelayMs: () => 50, answerDelayMs: () => answerMs });
      const audit = auditWorld();
      const process = world.process("operations");
      const log = memoryAuditLog({ process, timers, audit });
      const { pen } = await log.takePen("one");
      await log.append(batch(pen, 0, 1));
      let told = false;
      void log.append(batch(pen, 1, 1)).then(() => {
        told = true;
      });
      await timers.sleep(answerMs === 0 ? 25 : 75);
      process.kill();
      await timers.sleep(200);
      expect(told).toBe(false);
      const next = memoryAuditLog({ process: world.process("operations"), timers, audit });
      expect((await next.takePen("two")).head.size).toBe(kept);
      expect((await texts(next)).length).toBe(kept);
    }
    await stop();
  });

  it("is out of reach for a process that is cut off, and says nothing to followers until it is back", async () => {
    const time = scheduler({ seed });
    const stop = time.pump();
    const world = memoryWorld();
    const audit = auditWorld();
    const [one, two] = [world.process("one"), world.process("two")];
    const writer = memoryAuditLog({ process: one, timers: time.timers, audit });
    const reader = memoryAuditLog({ process: two, timers: time.timers, audit });
    let told = 0;
    reader.onAppend(() => {
      told += 1;
    });
    two.setReachable(false);
    const { pen } = await writer.takePen("one");
    await writer.append(batch(pen, 0, 1));
    await time.timers.sleep(20);
    expect(told).toBe(0);
    await expect(reader.head()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    two.setReachable(true);
    await time.timers.sleep(20);
    expect(told).toBe(1);
    await reader.close();
    await expect(reader.head()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "never" });
    await stop();
  });
});
