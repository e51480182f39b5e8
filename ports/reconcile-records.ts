// The part of a unit of work about differences with brokers: what differs, what each look at it saw, and how far an account is known to agree.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { ReconcileDifference } from "../contracts/src/records/operations.ts";

export interface StoredDifference {
  readonly differenceId: string;
  readonly fundId: string;
  readonly account: string;
  readonly broker: string;
  readonly symbol: string;
  /** As they were when its status was last reported. */
  readonly ourQuantity: Decimal;
  readonly brokerQuantity: Decimal;
  readonly class: ReconcileDifference["class"];
  readonly status: ReconcileDifference["status"];
  readonly evidence: string;
  /** Somebody was alerted about it, so they also hear how it ends. */
  readonly isAlerted: boolean;
  readonly firstSeenAt: Instant;
  readonly at: Instant;
}

/** What the newest look at an open difference saw. */
export interface DifferenceLook {
  readonly differenceId: string;
  readonly looks: number;
  readonly ourQuantity: Decimal;
  readonly brokerQuantity: Decimal;
  readonly brokerAsOf: Instant;
  /** The adjustment that was handed in for it. */
  readonly adjustmentId?: string;
}

/** How far an account of a broker is known to agree with us. */
export interface AccountAgreement {
  readonly broker: string;
  readonly account: string;
  /** The broker's report up to which both sides agreed. */
  readonly cursor: number;
  readonly at: Instant;
}

export interface ReconcileRecords {
  /** Suspected and confirmed ones of an account, oldest first, kept from others until this unit ends. */
  lockOpen(broker: string, account: string): Promise<readonly StoredDifference[]>;
  /** Puts it in, or in the place of the one with its id. */
  put(difference: StoredDifference): Promise<void>;
  looks(differenceIds: readonly string[]): Promise<readonly DifferenceLook[]>;
  putLook(look: DifferenceLook): Promise<void>;
  /** Newest first; after one that is not there nothing follows. */
  list(query: {
    readonly fundId?: string;
    readonly afterDifferenceId?: string;
    readonly openOnly: boolean;
    readonly countMax: number;
  }): Promise<readonly StoredDifference[]>;
  /** Confirmed ones: new risk in their symbol is denied to their fund. */
  confirmed(): Promise<readonly StoredDifference[]>;
  agreement(broker: string, account: string): Promise<AccountAgreement | undefined>;
  putAgreement(agreement: AccountAgreement): Promise<void>;
}
