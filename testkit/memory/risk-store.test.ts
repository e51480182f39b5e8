// The risk engine's store and the reference data in memory pass the same suites as on PostgreSQL, without faults and with them, and the
// suite is shown to notice planted bugs.
import { describe, expect, it } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import { referenceConformance } from "../conformance/reference-data.ts";
import { riskStoreConformance, runRiskStoreCheck } from "../conformance/risk-store.ts";
import type { RiskStoreFixture } from "../conformance/risk-store-fixture.ts";
import { batchIsWholeOrNothing, oneWriter } from "../conformance/risk-store-journal.ts";
import { keysAreFirst } from "../conformance/risk-store-reads.ts";
import { memoryRiskStoreFixture } from "../risk/store-fixtures.ts";
import { prng } from "../virtual/prng.ts";
import { scheduler } from "../virtual/scheduler.ts";
import type { MemoryFaults } from "./faults.ts";
import { memoryRiskStore } from "./risk-store.ts";
import { memoryTables } from "./tables.ts";

const seed = 20_261_115;

function slowedDown(): Partial<MemoryFaults> {
  const thrown = prng(seed);
  return {
    commitDelayMs: () => thrown.below(4),
    answerDelayMs: () => thrown.below(4),
    deliveryDelayMs: () => thrown.below(30),
  };
}

riskStoreConformance("memory", () => memoryRiskStoreFixture({ seed }));
riskStoreConformance(`memory with faults, seed ${seed}`, () => memoryRiskStoreFixture({ seed, faults: slowedDown() }));
referenceConformance("memory", () => memoryRiskStoreFixture({ seed }));

describe("the suite notices", () => {
  /** A fixture whose store does one thing wrong. */
  const planted =
    (wrong: (fixture: RiskStoreFixture) => Partial<RiskStoreFixture["risk"]>) =>
    async (): Promise<RiskStoreFixture> => {
      const fixture = await memoryRiskStoreFixture({ seed });
      return { ...fixture, risk: { ...fixture.risk, ...wrong(fixture) } };
    };

  it("a store that does not look at the writer epoch (promise 4)", async () => {
    const blind = planted((fixture) => ({
      append: async (batch) =>
        fixture.risk.append({ ...batch, writerEpoch: await fixture.risk.takeWriterEpoch("anybody") }),
    }));
    await expect(runRiskStoreCheck(oneWriter, blind)).rejects.toThrow(/stale writer epoch/);
  });

  it("a store that takes half a batch (promise 2)", async () => {
    const halving = planted((fixture) => ({
      async append(batch) {
        for (const [place, entry] of batch.entries.entries()) {
          await fixture.risk.append({ ...batch, id: `${batch.id}${place}`, entries: [entry] });
        }
      },
    }));
    await expect(runRiskStoreCheck(batchIsWholeOrNothing, halving)).rejects.toThrow();
  });

  it("a store that gives repetitions of a key for its first use", async () => {
    const forgetful = planted((fixture) => ({
      append: (batch) =>
        fixture.risk.append({ ...batch, entries: batch.entries.map((entry) => ({ ...entry, code: "SOMETHING" })) }),
    }));
    await expect(runRiskStoreCheck(keysAreFirst, forgetful)).rejects.toThrow();
  });
});

describe("the memory store of the risk engine", () => {
  it("says of a decision that nobody can unpack what every transport says: one message that gets parked", async () => {
    const time = scheduler({ seed });
    const stop = time.pump();
    const tables = memoryTables();
    const process = tables.process("riskengine");
    const risk = memoryRiskStore({ process, timers: time.timers });
    const writerEpoch = await risk.takeWriterEpoch("one");
    const entry = { kind: "decision" as const, at: time.clock.now(), fundId: "alpha", orderId: "order-1" };
    const decisionId = time.prng.uuid();
    await risk.append({
      id: time.prng.uuid(),
      writerEpoch,
      entries: [{ ...entry, decisionId, approved: true, code: "", payload: Uint8Array.of(255, 255, 255) }],
    });
    expect(tables.log.map((one) => [one.id, one.subject, one.source])).toEqual([
      [decisionId, subjects.decisionMade.name, "riskengine"],
    ]);
    process.kill();
    const answered = await Promise.race([risk.haltEpoch().then(() => true), time.timers.sleep(50).then(() => false)]);
    expect(answered).toBe(false);
    await stop();
  });
});
