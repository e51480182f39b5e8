// The memory store and bus pass the same suites as every other transport, in fair weather and in foul, and the suites are
// shown to notice planted mistakes.
import { describe, expect, it } from "vitest";
import { busConformance, runBusCheck } from "../../testkit/conformance/bus.ts";
import { lateCommit } from "../../testkit/conformance/bus-order.ts";
import { runStoreCheck, storeConformance } from "../../testkit/conformance/store.ts";
import { exhaustionIsAFault } from "../../testkit/conformance/store-conflicts.ts";
import { dice } from "../../testkit/virtual/dice.ts";
import { memoryBusRig, memoryStoreRig } from "../../testkit/virtual/memory-rig.ts";
import type { MemoryFaults } from "./faults.ts";
import type { LogReader } from "./reader.ts";

const seed = 20_260_102;

/** Delays, late places and events out of turn across keys: all that the promises allow. */
function foulWeather(): Partial<MemoryFaults> {
  const thrown = dice(seed);
  return {
    commitDelayMs: () => thrown.below(4),
    answerDelayMs: () => thrown.below(4),
    deliveryDelayMs: () => thrown.below(30),
    savesThePlace: () => thrown.chance(0.5),
    pick: (count) => thrown.below(count),
  };
}

storeConformance("memory", () => memoryStoreRig({ seed }));
storeConformance(`memory in foul weather, seed ${seed}`, () => memoryStoreRig({ seed, faults: foulWeather() }));
busConformance("memory", () => memoryBusRig({ seed }));
busConformance(`memory in foul weather, seed ${seed}`, () => memoryBusRig({ seed, faults: foulWeather() }));

describe("the suites notice", () => {
  /** Wrong: an event that was published early and committed late has a lower sequence than what was seen already. */
  const byHighestSequence: LogReader = {
    after: (log, place) =>
      log.filter((entry) => entry.sequence > place).sort((one, other) => one.sequence - other.sequence)[0],
    placeBehind: (entry) => entry.sequence,
  };

  it("a reader that goes by the highest sequence (bus promise 1)", async () => {
    const naive = () => memoryBusRig({ seed, reader: byHighestSequence });
    await expect(runBusCheck(lateCommit, naive)).rejects.toThrow(/the late event/);
    await expect(runBusCheck(lateCommit, () => memoryBusRig({ seed }))).resolves.toBeUndefined();
  });

  it("a store that tries less often than it says (store promise 4)", async () => {
    const short = async () => ({ ...(await memoryStoreRig({ seed })), attemptsMax: 5 });
    await expect(runStoreCheck(exhaustionIsAFault, short)).rejects.toThrow();
  });
});
