// The memory store and bus pass the same suites as every other transport, without faults and with them, and the suites are
// shown to notice planted bugs.
import { describe, expect, it } from "vitest";
import { busConformance, runBusCheck } from "../conformance/bus.ts";
import { lateCommit } from "../conformance/bus-order.ts";
import { runStoreCheck, storeConformance } from "../conformance/store.ts";
import { exhaustionIsAFault } from "../conformance/store-conflicts.ts";
import { memoryBusFixture, memoryStoreFixture } from "../virtual/memory-fixture.ts";
import { prng } from "../virtual/prng.ts";
import type { MemoryFaults } from "./faults.ts";
import type { LogReader } from "./reader.ts";

const seed = 20_260_102;

/** Delays, late places and events out of turn across keys: all that the promises allow. */
function allFaults(): Partial<MemoryFaults> {
  const thrown = prng(seed);
  return {
    commitDelayMs: () => thrown.below(4),
    answerDelayMs: () => thrown.below(4),
    deliveryDelayMs: () => thrown.below(30),
    savesThePlace: () => thrown.chance(0.5),
    pick: (count) => thrown.below(count),
  };
}

storeConformance("memory", () => memoryStoreFixture({ seed }));
storeConformance(`memory with faults, seed ${seed}`, () => memoryStoreFixture({ seed, faults: allFaults() }));
busConformance("memory", () => memoryBusFixture({ seed }));
busConformance(`memory with faults, seed ${seed}`, () => memoryBusFixture({ seed, faults: allFaults() }));

describe("the suites notice", () => {
  /** Wrong: an event that was published early and committed late has a lower sequence than what was seen already. */
  const byHighestSequence: LogReader = {
    after: (log, place) =>
      log.filter((entry) => entry.sequence > place).sort((one, other) => one.sequence - other.sequence)[0],
    placeBehind: (entry) => entry.sequence,
  };

  it("a reader that goes by the highest sequence (bus promise 1)", async () => {
    const naive = () => memoryBusFixture({ seed, reader: byHighestSequence });
    await expect(runBusCheck(lateCommit, naive)).rejects.toThrow(/the late event/);
    await expect(runBusCheck(lateCommit, () => memoryBusFixture({ seed }))).resolves.toBeUndefined();
  });

  it("a store that tries less often than it says (store promise 4)", async () => {
    const short = async () => ({ ...(await memoryStoreFixture({ seed })), attemptsMax: 5 });
    await expect(runStoreCheck(exhaustionIsAFault, short)).rejects.toThrow();
  });
});
