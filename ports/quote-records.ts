// The market as order management saw it when it acted, in a unit of work: bid and ask at an order's creation and sending, at each fill and 300 seconds later.
// Only order management writes; reports of transaction costs read.
//
// What every store promises (testkit/conformance/quote-records.ts):
//  1. What was kept first stays: the same moment of the same order or fill again changes nothing.
//  2. A fill is due until `takeDue` names it, over restarts, and then never again.
import type { Instant } from "../contracts/src/instant.ts";

/** CREATED and ROUTED are an order's, the others a fill's. */
export type QuoteMoment = "CREATED" | "ROUTED" | "FILLED" | "AFTER_300S";

export interface KeptQuote {
  readonly moment: QuoteMoment;
  /** The order's id or the fill's. */
  readonly id: string;
  readonly fundId: string;
  readonly symbol: string;
  /** The moment that is meant. */
  readonly wantedAt: Instant;
  /** Undefined where no quote was known that is near enough to that moment: it is missing for good. */
  readonly quote: { readonly bid: string; readonly ask: string; readonly at: Instant } | undefined;
}

/** A fill whose quote 300 seconds later is still to be kept. */
export interface DueQuote {
  readonly fillId: string;
  readonly fundId: string;
  readonly symbol: string;
  readonly dueAt: Instant;
}

export interface QuoteRecords {
  keepQuote(quote: KeptQuote): Promise<void>;
  /** Those of these orders or fills, in no particular order. */
  quotesOf(ids: readonly string[]): Promise<readonly KeptQuote[]>;
  addDue(due: DueQuote): Promise<void>;
  /** The earliest, at most so many. */
  earliestDue(countMax: number): Promise<readonly DueQuote[]>;
  takeDue(fillIds: readonly string[]): Promise<void>;
}
