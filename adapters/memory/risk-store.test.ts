// The risk engine's store and the reference data in memory pass the same suites as on PostgreSQL, in fair weather and in foul, and the
// suite is shown to notice planted mistakes.
import { describe, expect, it } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import { referenceConformance } from "../../testkit/conformance/reference-data.ts";
import { riskStoreConformance, runRiskStoreCheck } from "../../testkit/conformance/risk-store.ts";
import { batchIsWholeOrNothing, onePen } from "../../testkit/conformance/risk-store-journal.ts";
import { keysAreFirst } from "../../testkit/conformance/risk-store-reads.ts";
import type { RiskStoreRig } from "../../testkit/conformance/risk-store-rig.ts";
import { memoryRiskStoreRig } from "../../testkit/risk-rigs.ts";
import { dice } from "../../testkit/virtual/dice.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import type { MemoryFaults } from "./faults.ts";
import { memoryRiskStore } from "./risk-store.ts";
import { memoryWorld } from "./world.ts";

const seed = 20_261_115;

function foulWeather(): Partial<MemoryFaults> {
  const thrown = dice(seed);
  return {
    commitDelayMs: () => thrown.below(4),
    answerDelayMs: () => thrown.below(4),
    deliveryDelayMs: () => thrown.below(30),
  };
}

riskStoreConformance("memory", () => memoryRiskStoreRig({ seed }));
riskStoreConformance(`memory in foul weather, seed ${seed}`, () => memoryRiskStoreRig({ seed, faults: foulWeather() }));
referenceConformance("memory", () => memoryRiskStoreRig({ seed }));

describe("the suite notices", () => {
  /** A rig whose store does one thing wrong. */
  const planted = (wrong: (rig: RiskStoreRig) => Partial<RiskStoreRig["risk"]>) => async (): Promise<RiskStoreRig> => {
    const rig = await memoryRiskStoreRig({ seed });
    return { ...rig, risk: { ...rig.risk, ...wrong(rig) } };
  };

  it("a store that does not look at the pen (promise 4)", async () => {
    const blind = planted((rig) => ({
      append: async (batch) => rig.risk.append({ ...batch, pen: await rig.risk.takePen("anybody") }),
    }));
    await expect(runRiskStoreCheck(onePen, blind)).rejects.toThrow(/stale pen/);
  });

  it("a store that takes half a batch (promise 2)", async () => {
    const halving = planted((rig) => ({
      async append(batch) {
        for (const [place, entry] of batch.entries.entries()) {
          await rig.risk.append({ ...batch, id: `${batch.id}${place}`, entries: [entry] });
        }
      },
    }));
    await expect(runRiskStoreCheck(batchIsWholeOrNothing, halving)).rejects.toThrow();
  });

  it("a store that gives repetitions of a key for its first use", async () => {
    const forgetful = planted((rig) => ({
      append: (batch) =>
        rig.risk.append({ ...batch, entries: batch.entries.map((entry) => ({ ...entry, code: "SOMETHING" })) }),
    }));
    await expect(runRiskStoreCheck(keysAreFirst, forgetful)).rejects.toThrow();
  });
});

describe("the memory store of the risk engine", () => {
  it("says of a decision that nobody can unpack what every transport says: one message that gets parked", async () => {
    const time = scheduler({ seed });
    const stop = time.pump();
    const world = memoryWorld();
    const process = world.process("riskengine");
    const risk = memoryRiskStore({ process, timers: time.timers });
    const pen = await risk.takePen("one");
    const entry = { kind: "decision" as const, at: time.clock.now(), fundId: "alpha", orderId: "order-1" };
    const decisionId = time.dice.uuid();
    await risk.append({
      id: time.dice.uuid(),
      pen,
      entries: [{ ...entry, decisionId, approved: true, code: "", payload: Uint8Array.of(255, 255, 255) }],
    });
    expect(world.log.map((one) => [one.id, one.subject, one.source])).toEqual([
      [decisionId, subjects.decisionMade.name, "riskengine"],
    ]);
    process.kill();
    const answered = await Promise.race([risk.haltEpoch().then(() => true), time.timers.sleep(50).then(() => false)]);
    expect(answered).toBe(false);
    await stop();
  });
});
