// The faults of a simulated run: which commits fail or lose their answer, what the services' questions to each other and to the broker suffer on
// their way, how late everything is, and when they end.
import { type CommitFate, type MemoryFaults, noFaults } from "../testkit/memory/faults.ts";
import type { Prng } from "../testkit/virtual/prng.ts";

/** What becomes of a question: it never arrives, it is acted on and the caller is not told, it arrives twice, or it is simply answered. */
export type QuestionFate = "answered" | "lost" | "answer lost" | "doubled";

export interface Faults {
  readonly faults: MemoryFaults;
  question(): QuestionFate;
  /** How long a question or an answer is on its way. */
  networkMs(): number;
  /** Until it is told otherwise, no entry of the audit log is written. */
  stopEntries(isStopped: boolean): void;
  /** From now on nothing fails any more. */
  clearUp(): void;
  isFoul(): boolean;
  /** How often each fate of a commit has been thrown, in a fixed order. */
  fates(): readonly (readonly [fate: CommitFate, count: number])[];
}

const commitOdds: readonly (readonly [fate: CommitFate, probability: number])[] = [
  ["conflict", 0.01],
  ["failed", 0.01],
  ["lost, committed", 0.012],
  ["lost, not committed", 0.008],
];
const questionOdds: readonly (readonly [fate: QuestionFate, probability: number])[] = [
  ["lost", 0.03],
  ["answer lost", 0.05],
  ["doubled", 0.04],
];

function throwOne<Fate>(prng: Prng, odds: readonly (readonly [Fate, number])[], usual: Fate): Fate {
  let left = prng.word() / 0x1_0000_0000;
  for (const [fate, probability] of odds) {
    if (left < probability) return fate;
    left -= probability;
  }
  return usual;
}

/** Nothing fails until it is told to turn foul. */
export function faults(thrown: Prng): Faults & { turnFoul(): void } {
  const counts = new Map<CommitFate, number>([["committed", 0], ...commitOdds.map(([fate]) => [fate, 0] as const)]);
  const network = thrown.fork("roads");
  let foul = false;
  let areEntriesStopped = false;
  return {
    faults: {
      commit(name) {
        if (areEntriesStopped && name === "audit.append") return "failed";
        const fate = foul ? throwOne(thrown, commitOdds, "committed") : "committed";
        counts.set(fate, (counts.get(fate) ?? 0) + 1);
        return fate;
      },
      commitDelayMs: () => (foul && thrown.chance(0.25) ? thrown.below(8) : noFaults.commitDelayMs()),
      answerDelayMs: () => (foul && thrown.chance(0.25) ? thrown.below(6) : noFaults.answerDelayMs()),
      deliveryDelayMs: () => (foul ? thrown.below(40) : noFaults.deliveryDelayMs()),
      savesThePlace: () => !foul || thrown.chance(0.6),
      pick: (count) => (foul ? thrown.below(count) : 0),
      losesBroadcast: () => foul && thrown.chance(0.1),
    },
    question: () => (foul ? throwOne(network, questionOdds, "answered") : "answered"),
    networkMs: () => (foul ? network.below(12) : 0),
    turnFoul() {
      foul = true;
    },
    stopEntries(isStopped) {
      areEntriesStopped = isStopped;
    },
    clearUp() {
      foul = false;
    },
    isFoul: () => foul,
    fates: () => [...counts],
  };
}
