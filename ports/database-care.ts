// What db_watchdog asks of the database that the platform lies in: rows that must agree, how slow statements were, dead rows, and a vacuum. Only
// PostgreSQL answers it; a platform on another store has none.
//
// What every answer promises:
//  1. Counts are of one moment: what was committed together is counted together or not at all.
//  2. What may not be read or done is said in a sentence with the statement that would allow it, never left out in silence.
import type { Instant } from "../contracts/src/instant.ts";

/** Rows of one ledger that another one must have as well. */
export interface RowCounts {
  readonly name: string;
  readonly source: { readonly name: string; readonly count: number };
  readonly target: { readonly name: string; readonly count: number };
  /** The first key that only one of them has, when they differ and it can be told. */
  readonly firstMissing?: string;
}

/** A statement's calls and time since the server began to count. */
export interface StatementTotals {
  readonly queryId: string;
  readonly text: string;
  readonly calls: number;
  readonly totalMs: number;
}

export interface TableRows {
  readonly table: string;
  readonly live: number;
  readonly dead: number;
  /** Absent when it never was, as far as the server knows. */
  readonly vacuumedAt?: Instant;
  /** Whether the server vacuums it by itself, sooner or later. */
  readonly isAutovacuumed: boolean;
}

export interface DatabaseCare {
  rows(): Promise<{ readonly at: Instant; readonly pairs: readonly RowCounts[] }>;
  /** Or a sentence: why it cannot be read, and the statement that would allow it. */
  statements(): Promise<readonly StatementTotals[] | string>;
  tables(): Promise<readonly TableRows[]>;
  /** VACUUM ANALYZE. Gives why not, with the statement to run instead, or undefined when it was done. */
  vacuum(table: string): Promise<string | undefined>;
  /** Writes so many rows of a table that nobody reads and removes them again: for drills on the paper platform. */
  makeDeadRows(count: number): Promise<void>;
}
