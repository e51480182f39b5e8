// Everybody's books at one moment, as the job that holds them against each other reads them.
import type { Decimal } from "../decimal.ts";
import type { Instant } from "../instant.ts";

/** An amount of something, named by its parts: a fund and a symbol, for example. */
export interface Summed {
  readonly of: readonly string[];
  readonly amount: Decimal;
}

/** How far each of the books was read. */
export interface BooksMarks {
  /** The last trade of each fund, by its sequence. */
  readonly fills: Readonly<Record<string, number>>;
  readonly entries: number;
  readonly journal: number;
}

/** A trade that one of the books does not have yet. */
export interface MissingFill {
  readonly fillId: string;
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** Negative for a sale. */
  readonly quantity: Decimal;
}

/** An order that may still trade. */
export interface LiveOrder {
  readonly orderId: string;
  readonly fundId: string;
  readonly symbol: string;
  readonly isBuy: boolean;
  readonly remaining: Decimal;
}

/** An order that order management knows, and the most that it may still trade; zero when it has ended. */
export interface KnownOrder {
  readonly orderId: string;
  readonly mayTrade: Decimal;
}

export interface StoredNav {
  readonly fundId: string;
  readonly currency: string;
  readonly nav: Decimal;
  readonly cash: Decimal;
  readonly positionsValue: Decimal;
  readonly asOf: Instant;
  /** What every position was valued at; undefined when it was not kept. */
  readonly prices: readonly ValuedPosition[] | undefined;
  /** What one of each other currency was worth in the fund's. */
  readonly rates: ReadonlyMap<string, Decimal>;
}

interface ValuedPosition {
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly price: Decimal;
}

/** One of a fund's newest entries, and what it did to the holdings, cash included. */
export interface NewestEntry {
  readonly fundId: string;
  readonly number: number;
  readonly moves: readonly { readonly symbol: string; readonly amount: Decimal }[];
}

/** What a fund gets of a dividend, or owes when negative: cash of its value from the ex moment until it is paid. */
export interface DueAmount {
  readonly fundId: string;
  readonly currency: string;
  readonly amount: Decimal;
  readonly paidAt: Instant | undefined;
}

/** How far treasury's ledger was at some moment. */
export interface LedgerMark {
  readonly at: Instant;
  readonly entries: number;
}

/** What makes a value of a quantity and a price. */
export interface BookedInstrument {
  readonly symbol: string;
  readonly currency: string;
  readonly multiplier: string;
}

/** Sums over the rows after the marks. */
export interface BooksSince {
  /** Order management's trades, by fund, strategy and symbol. */
  readonly fills: readonly Summed[];
  /** Treasury's trades, by fund, strategy and symbol. */
  readonly entries: readonly Summed[];
  /** Of those, the ones that order management does not have: somebody else's order management sent them. */
  readonly foreignEntries: readonly Summed[];
  /** Treasury's postings, by fund, strategy (empty for none), account and currency. */
  readonly postings: readonly Summed[];
  /** The risk engine's trades, by fund and symbol. */
  readonly journal: readonly Summed[];
  readonly foreignJournal: readonly Summed[];
  readonly rowCount: number;
}

export interface BooksLook {
  readonly marks: BooksMarks;
  readonly since: BooksSince;
  /** Order management's positions, by fund, strategy and symbol. */
  readonly positions: readonly Summed[];
  readonly liveOrders: readonly LiveOrder[];
  /** Of the orders that were asked about, those that order management has. */
  readonly knownOrders: readonly KnownOrder[];
  /** Treasury's holdings, by fund and symbol; the symbol of cash is its currency. */
  readonly holdings: readonly Summed[];
  /** The same by fund, strategy and symbol. */
  readonly strategyHoldings: readonly Summed[];
  /** By fund, account and currency. */
  readonly balances: readonly Summed[];
  /** The newest value of each fund. */
  readonly navs: readonly StoredNav[];
  /** Newest first. */
  readonly newestEntries: readonly NewestEntry[];
  /** What is due of dividends, and what was until a short while ago. */
  readonly due: readonly DueAmount[];
  readonly instruments: readonly BookedInstrument[];
  /** The engine's trades after the other mark that was given, oldest first, by fund and symbol. */
  readonly newestJournal: readonly Summed[];
  /** Trades of order management that treasury or the engine's journal do not have. */
  readonly unbooked: readonly MissingFill[];
  readonly unheard: readonly MissingFill[];
  /** Entries whose postings do not sum to zero, and trades that two books have differently: a sentence each. */
  readonly unbalanced: readonly string[];
  readonly unequal: readonly string[];
}

/** What the risk engine believes a fund to hold of a symbol, and what it has reserved there; decimals. */
export interface BelievedLine {
  readonly fundId: string;
  readonly symbol: string;
  readonly quantity: string;
  readonly pendingBuy: string;
  readonly pendingSell: string;
}

/** What the risk engine has reserved for one order. */
export interface BelievedApproval {
  readonly orderId: string;
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  readonly reserved: Decimal;
  /** UNSENT, AMENDMENT_UNSENT, SENT or ENDED (what it traded is not reported in full). */
  readonly state: string;
  /** Who asked for it, as records name it; undefined for what was approved before the engine started. */
  readonly askedBy: string | undefined;
  /** Whether it is a marked exit, which the engine proved to reduce. */
  readonly isExit: boolean;
  /** While nothing shows that it was sent: until when it may be, and when it runs out as the engine counts. */
  readonly unsent: { readonly validUntil: Instant; readonly expiresAt: Instant } | undefined;
}
