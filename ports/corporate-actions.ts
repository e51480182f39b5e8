// The part of a unit of work about corporate actions. Of splits and changes of symbols treasury announces and order management carries out; dividends are
// treasury's alone. Whoever counts quantities or prices reads here, in the transaction in which it counts.
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
  /** Of a dividend, which has no legs. */
  readonly dividend?: StoredDividend;
}

/** Decimals as text. */
export interface StoredDividend {
  readonly perShare: string;
  readonly currency: string;
  readonly exDate: string;
  readonly payDate?: string;
  /** From this moment on the share is quoted without it, and what is held then is paid for. */
  readonly exAt: Instant;
  /** Absent when it is paid as soon as the share goes ex. */
  readonly payAt?: Instant;
  /** What each strategy that held the share gets, or owes when negative; absent until it goes ex. */
  readonly due?: readonly DividendDue[];
}

export interface DividendDue {
  readonly fundId: string;
  readonly strategyId: string;
  readonly quantity: string;
  readonly amount: string;
  /** The trade that opened the position, by which its stop is known. */
  readonly openedBy: string;
}

export interface CorporateActionRecords {
  /** Kept from others until this unit ends. */
  lock(actionId: string): Promise<StoredAction | undefined>;
  /** Adds it, or puts it in place of the one of the same id. */
  put(action: StoredAction): Promise<void>;
  /** Splits and changes of symbols that are announced or applied and not done, oldest first. */
  underWay(): Promise<readonly StoredAction[]>;
  /** Those that were applied, done or not, in the order in which they were. */
  applied(): Promise<readonly StoredAction[]>;
  /** Dividends that are declared, or due and not paid, oldest first. */
  dividends(): Promise<readonly StoredAction[]>;
}
