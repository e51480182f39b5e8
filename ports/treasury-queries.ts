// What people ask about values and ledgers. Only PostgreSQL answers it: lists and histories are no part of the books themselves.
import type { Instant } from "../contracts/src/instant.ts";
import type { LedgerEntry } from "../contracts/src/records/ledger.ts";
import type { NavEvery, NavPoint } from "./ledger-records.ts";

export interface NavsQuery {
  readonly fundId: string;
  /** From this moment on. */
  readonly from: Instant;
  /** Before this moment. */
  readonly to: Instant;
  readonly every: NavEvery;
  readonly countMax: number;
}

export interface LedgerQuery {
  readonly fundId: string;
  readonly countMax: number;
  /** Continue after this entry, towards older ones. */
  readonly afterEntryId?: string;
}

export interface TreasuryQueries {
  /** The last value of every such time, the newest so many of them, oldest first. */
  navs(query: NavsQuery): Promise<readonly NavPoint[]>;
  /** Newest first, by when they were booked; nothing after an entry that is not there. */
  ledger(query: LedgerQuery): Promise<readonly LedgerEntry[]>;
}
