// The faults of a simulated run: which commits fail or lose their answer, how late everything is, and when they end.
import { type CommitFate, type MemoryFaults, noFaults } from "../../testkit/memory/faults.ts";
import type { Prng } from "../../testkit/virtual/prng.ts";

export interface Faults {
  readonly faults: MemoryFaults;
  /** From now on nothing fails any more. */
  clearUp(): void;
  isFoul(): boolean;
  /** How often each fate of a commit has been thrown, in a fixed order. */
  fates(): readonly (readonly [fate: CommitFate, count: number])[];
}

const odds: readonly (readonly [fate: CommitFate, probability: number])[] = [
  ["conflict", 0.06],
  ["failed", 0.04],
  ["lost, committed", 0.03],
  ["lost, not committed", 0.03],
];

export function faults(thrown: Prng): Faults {
  const counts = new Map<CommitFate, number>([["committed", 0], ...odds.map(([fate]) => [fate, 0] as const)]);
  let foul = true;
  const throwFate = (): CommitFate => {
    if (!foul) return "committed";
    let left = thrown.word() / 0x1_0000_0000;
    for (const [fate, probability] of odds) {
      if (left < probability) return fate;
      left -= probability;
    }
    return "committed";
  };
  return {
    faults: {
      commit() {
        const fate = throwFate();
        counts.set(fate, (counts.get(fate) ?? 0) + 1);
        return fate;
      },
      commitDelayMs: () => (foul ? thrown.below(6) : noFaults.commitDelayMs()),
      answerDelayMs: () => (foul ? thrown.below(4) : noFaults.answerDelayMs()),
      deliveryDelayMs: () => (foul ? thrown.below(20) : noFaults.deliveryDelayMs()),
      savesThePlace: () => !foul || thrown.chance(0.5),
      pick: (count) => (foul ? thrown.below(count) : 0),
      losesBroadcast: () => foul && thrown.chance(0.2),
    },
    clearUp() {
      foul = false;
    },
    isFoul: () => foul,
    fates: () => [...counts],
  };
}
