// The part of a unit of work about flattens: an operator's request that every position of some paper funds is closed, and each of those positions until it
// is. There is one flatten at a time; who asks for more while it runs adds to it.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { ExitAttempt } from "./exit-attempt.ts";

export interface StoredFlatten {
  readonly flattenId: string;
  /** `operator:<name>`; whoever asked first. */
  readonly requestedBy: string;
  readonly reason: string;
  readonly at: Instant;
  /** Of the event that reported the first request. */
  readonly auditId: string;
  readonly fundIds: readonly string[];
  /** Those that the broker has called flat, after all of their lines and orders had ended. */
  readonly provedFundIds: readonly string[];
  /** Those that are to be gone; absent in flattens that were begun before there were any. */
  readonly orders?: readonly StoredFlattenOrder[];
  /** Those that the broker has not called flat when it was asked; absent in flattens that were begun before that was kept. */
  readonly unflat?: readonly StoredUnflat[];
  readonly doneAt?: Instant;
}

/** What the broker had left of a fund when it was last asked. */
export interface StoredUnflat {
  readonly fundId: string;
  readonly proofId: string;
  /** Quantities as decimal text. */
  readonly left: readonly { readonly symbol: string; readonly quantity: string }[];
  readonly openOrders: number;
  /** How often it was asked. */
  readonly looks: number;
  readonly at: Instant;
}

/** An order that was open when it was asked, and is no exit. */
export interface StoredFlattenOrder {
  readonly orderId: string;
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** Decimal text: what it had traded by then. */
  readonly filledBefore: string;
}

/** One position that is to be closed. */
export interface StoredFlattenLine {
  /** Its orders are named after it. */
  readonly lineId: string;
  readonly flattenId: string;
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** The trade that opened the position which it closes. */
  readonly openedBy: string;
  /** What was held when it was asked; negative when short. */
  readonly quantity: Decimal;
  readonly askedAt: Instant;
  /** When something last happened to it. */
  readonly at: Instant;
  /** The newest; older ones have ended. */
  readonly attempt?: ExitAttempt;
  /** What those older ones have traded. */
  readonly exitedBefore: Decimal;
  readonly ended?: { readonly exitedQuantity: Decimal; readonly at: Instant };
}

export interface FlattenRecords {
  /** False when another one is not done. */
  insert(flatten: StoredFlatten): Promise<boolean>;
  update(flatten: StoredFlatten): Promise<void>;
  /** The one that is not done, kept from others until this unit ends. */
  lockRunning(): Promise<StoredFlatten | undefined>;
  /** That one, or the newest. */
  find(flattenId?: string): Promise<StoredFlatten | undefined>;
  /** A line_id that exists already is a STORE_CONFLICT. */
  insertLine(line: StoredFlattenLine): Promise<void>;
  /** Kept from others until this unit ends. */
  lockLine(lineId: string): Promise<StoredFlattenLine | undefined>;
  updateLine(line: StoredFlattenLine): Promise<void>;
  /** Of one flatten, in the order of fund, strategy and symbol. */
  lines(flattenId: string): Promise<readonly StoredFlattenLine[]>;
}
