// What the memory store may be made to suffer. The simulator hands in a plan that asks a PRNG; without one nothing fails.

/** What becomes of a commit; the two lost ones are answered with STORE_COMMIT_UNKNOWN. */
export type CommitFate = "committed" | "conflict" | "failed" | "lost, committed" | "lost, not committed";

export interface MemoryFaults {
  commit(transaction: string): CommitFate;
  /** Time that passes between the end of the work and the commit: another transaction may overtake. */
  commitDelayMs(): number;
  /** Time that passes between the commit and its answer: a process may die without having heard it. */
  answerDelayMs(): number;
  /** Time that passes between a commit and the moment a subscription notices. */
  deliveryDelayMs(): number;
  /** Whether the place of a durable subscription is saved after this event; what is not saved comes again after a crash. */
  savesThePlace(): boolean;
  /** Which of that many events with different keys is handed over first. */
  pick(count: number): number;
  /** Whether a broadcast batch is lost on its way to one listener. */
  losesBroadcast(): boolean;
}

export const noFaults: MemoryFaults = {
  commit: () => "committed",
  commitDelayMs: () => 0,
  answerDelayMs: () => 0,
  deliveryDelayMs: () => 0,
  savesThePlace: () => true,
  pick: () => 0,
  losesBroadcast: () => false,
};
