// The double-entry ledger of the paper funds, in exact decimals: what an entry is, whoever makes, keeps or shows it.
import type { Decimal } from "../decimal.ts";
import type { Instant } from "../instant.ts";

export type LedgerKind = "CAPITAL" | "FLOW" | "FILL" | "BUST" | "BORROW_FEE" | "DIVIDEND_DUE" | "DIVIDEND";

/** A debit is positive, a credit negative. */
export interface LedgerPosting {
  /** cash, capital, flows, fees, borrow_fees, dividends, dividends_due or position:<symbol>. */
  readonly account: string;
  readonly currency: string;
  readonly amount: Decimal;
}

/** One entry of a fund's ledger; its postings sum to zero in every currency. */
export interface LedgerEntry {
  /** The same id twice is one entry, for good. */
  readonly entryId: string;
  readonly fundId: string;
  /** Whose profit or loss it is; absent for what belongs to the fund as a whole. */
  readonly strategyId?: string;
  readonly kind: LedgerKind;
  readonly postings: readonly LedgerPosting[];
  /** Of a fill: what changed hands, negative when sold; of a bust: what changed back. Of a borrow fee or a dividend: the symbol alone. */
  readonly symbol?: string;
  readonly quantity?: Decimal;
  readonly reason: string;
  readonly bookedBy: string;
  readonly at: Instant;
}

/** What an entry does to a holding; the symbol of cash is the currency itself. */
export interface HoldingMove {
  readonly symbol: string;
  readonly quantity: Decimal;
}
