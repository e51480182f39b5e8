// The part of a unit of work about corporate actions that change what one unit of an instrument is. Treasury announces, order management carries out;
// whoever counts quantities or prices reads here, in the transaction in which it counts.
import type { Instant } from "../contracts/src/instant.ts";
import type { ActionLeg, actionKinds, actionStates } from "../contracts/src/records/corporate-action.ts";

export interface StoredAction {
  readonly actionId: string;
  readonly kind: (typeof actionKinds)[number];
  readonly symbol: string;
  readonly state: (typeof actionStates)[number];
  readonly legs: readonly ActionLeg[];
  /** Of everything that was asked for: the same id with other terms is another action. */
  readonly termsHash: string;
  readonly bookedBy: string;
  readonly reason: string;
  readonly announcedAt: Instant;
  /** Prices of an earlier moment are prices of before. */
  readonly appliedAt?: Instant;
  readonly doneAt?: Instant;
  /** Those that it booked: who counts quantities has it when he has them. */
  readonly fillIds?: readonly string[];
  /** Why it was aborted. */
  readonly note?: string;
}

export interface CorporateActionRecords {
  /** Kept from others until this unit ends. */
  lock(actionId: string): Promise<StoredAction | undefined>;
  /** Adds it, or puts it in place of the one of the same id. */
  put(action: StoredAction): Promise<void>;
  /** Announced or applied and not done, oldest first. */
  underWay(): Promise<readonly StoredAction[]>;
  /** Those that were applied, done or not, in the order in which they were. */
  applied(): Promise<readonly StoredAction[]>;
}
