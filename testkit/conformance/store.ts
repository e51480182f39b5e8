// The suite that every store passes: one list of checks, each named after the promise of ports/store.ts that it holds the
// store to. The checks are exported one by one as well, so that a store can plant a fault and show that it is noticed.
import { describe, it } from "vitest";
import type { Outcome, Store } from "../../ports/store.ts";
import { conflictChecks } from "./store-conflicts.ts";
import { lifeChecks } from "./store-life.ts";
import { recordChecks } from "./store-records.ts";
import { transactionChecks } from "./store-transactions.ts";
import type { Patience } from "./waiting.ts";

export interface CommittedEvent {
  readonly id: string;
  readonly subject: string;
  readonly key: string;
  readonly payload: unknown;
}

/** An empty store that knows the subjects of ./subjects.ts. Every check opens its own and closes it. */
export interface StoreRig extends Patience {
  readonly store: Store;
  /** How often the store runs a work before it gives up with STORE_CONFLICT. */
  readonly attemptsMax: number;
  /** Every committed event in commit order, read past the store (and also when that is closed). */
  committed(): Promise<readonly CommittedEvent[]>;
  /** Makes the next that many attempts to commit fail as a serialization failure does. */
  conflictNext(times: number): Promise<void>;
  /** Loses the answer to the next COMMIT, which in truth has this outcome. */
  loseNextCommitAnswer(outcome: Outcome): Promise<void>;
  /** A new store on the same data, as after a restart of the program; closes the old one unless it is closed already. */
  reopen(): Promise<Store>;
  /** Ends everything and removes what the rig made. */
  close(): Promise<void>;
}

export interface StoreCheck {
  /** The number in ports/store.ts; 0 for what the interface's own comments say. */
  readonly promise: number;
  readonly sentence: string;
  run(rig: StoreRig): Promise<void>;
}

export const storeChecks: readonly StoreCheck[] = [
  ...transactionChecks,
  ...conflictChecks,
  ...recordChecks,
  ...lifeChecks,
];

/** Runs one check on a rig of its own; rejects when the store does not keep the promise. */
export async function runStoreCheck(check: StoreCheck, open: () => Promise<StoreRig>): Promise<void> {
  const rig = await open();
  try {
    await check.run(rig);
  } finally {
    await rig.close();
  }
}

export function storeConformance(name: string, open: () => Promise<StoreRig>): void {
  describe(`store conformance: ${name}`, () => {
    for (const check of storeChecks) {
      it(`promise ${check.promise}: ${check.sentence}`, () => runStoreCheck(check, open));
    }
  });
}
