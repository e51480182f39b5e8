// Treasury's part of a unit of work: the ledger of the paper funds with what it makes of their holdings, what is remembered of each fund's value,
// and the history of values. Only treasury writes; the job that compares the books reads here as well.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { NavUpdated } from "../contracts/src/records/fund.ts";
import type { HoldingMove, LedgerEntry } from "../contracts/src/records/ledger.ts";
import type { Fill } from "../contracts/src/records/order.ts";

/** The balance of an account: the sum of its postings. */
export interface LedgerBalance {
  readonly fundId: string;
  readonly account: string;
  readonly currency: string;
  readonly amount: Decimal;
}

/** What a strategy has made of nothing: its quantities, and the cash that they cost and brought. */
export interface StrategyHolding extends HoldingMove {
  readonly fundId: string;
  readonly strategyId: string;
}

/** Where a trading day began: the value to which the day's profit or loss is counted. Decimals as text. */
export interface DayBegan {
  readonly day: string;
  readonly nav: string;
  readonly netFlows: string;
}

/** What treasury remembers of a fund from one value to the next. */
export interface RememberedFund {
  /** The newest value that was reported. */
  readonly newest?: NavUpdated;
  /** Of its prices that a corporate action turned, the moment in whose terms each is since, RFC 3339; absent in what an earlier version wrote. */
  readonly pricesTurned?: Readonly<Record<string, string>>;
  readonly dayBegan?: DayBegan;
  /** The first calendar day that was not looked at for borrowed shares yet. */
  readonly borrowDay?: string;
  /** The first one that ever was; absent in what an earlier version wrote. */
  readonly borrowBegan?: string;
  /** What is owed for days before, and what was charged for those that trades may still change. */
  readonly borrow?: readonly BorrowRecord[];
}

/** A fund of which fills wait to be booked. */
export interface WaitingFund {
  readonly fundId: string;
  readonly count: number;
  /** When the first of them was kept. */
  readonly since: Instant;
}

/** The fee of one day for one symbol that a fund was short of. Decimals as text. */
export interface BorrowRecord {
  readonly day: string;
  readonly symbol: string;
  /** Since when it is known; RFC 3339. */
  readonly since: string;
  /** Absent while it is owed. */
  readonly charged?: {
    readonly price: string;
    /** Yearly, as a fraction. */
    readonly fee_pct: string;
    readonly multiplier: string;
    readonly currency: string;
    /** By strategy. */
    readonly fees: Readonly<Record<string, string>>;
    /** How often it was corrected. */
    readonly revision: number;
  };
}

/** A value in the history: nav = cash + positionsValue. */
export interface NavPoint {
  readonly fundId: string;
  readonly at: Instant;
  readonly nav: Decimal;
  readonly cash: Decimal;
  readonly positionsValue: Decimal;
  readonly netFlows: Decimal;
  readonly currency: string;
  readonly oldestPriceAgeMs: number;
  /** What every position was valued at; absent where it was not kept. */
  readonly prices?: NavUpdated["prices"];
  readonly tradingDay?: string;
}

/** The history is kept once for each of these: the last value of every second, minute, hour and day. */
export type NavEvery = "second" | "minute" | "hour" | "day";

/** What the entries of a fund come to, in three tables; nothing is listed that comes to zero. */
export interface LedgerSums {
  /** In order of account and currency. */
  readonly balances: readonly Omit<LedgerBalance, "fundId">[];
  /** In order of symbol. */
  readonly holdings: readonly HoldingMove[];
  /** In order of strategy and symbol. */
  readonly strategyHoldings: readonly Omit<StrategyHolding, "fundId">[];
}

export interface LedgerRecords {
  /** Books an entry once, ever, and moves the holdings of the fund and of the strategy by it: false when it is known. */
  book(entry: LedgerEntry, moves: readonly HoldingMove[]): Promise<boolean>;
  entry(entryId: string): Promise<LedgerEntry | undefined>;
  /** What the fund holds of it, kept from others until this unit ends. */
  lockHolding(fundId: string, symbol: string): Promise<Decimal>;
  /** In order of fund, account and currency. */
  balances(): Promise<readonly LedgerBalance[]>;
  /** In order of fund, strategy and symbol. */
  strategyHoldings(): Promise<readonly StrategyHolding[]>;
  /** What each strategy of the fund traded at or after that moment, by the trades' own times: sums of FILL and BUST entries, in order of strategy and symbol. */
  tradedSince(fundId: string, at: Instant): Promise<readonly Omit<StrategyHolding, "fundId">[]>;
  /** What a fund's entries add up to and what is kept of that, both as of one moment, and how many entries there are. */
  sumsOf(fundId: string): Promise<{ readonly entries: number; readonly added: LedgerSums; readonly kept: LedgerSums }>;
  /** Moves what is kept, and no entry: only for what is not the sum of the entries. */
  correct(fundId: string, by: LedgerSums): Promise<void>;
  /** Kept from others until this unit ends; nothing is remembered of a new fund. */
  lockFund(fundId: string): Promise<RememberedFund>;
  putFund(fundId: string, fund: RememberedFund): Promise<void>;
  /** Keeps a fill that cannot be booked yet, behind those of its fund that wait; false when it waits already. */
  keepFill(fill: Fill, at: Instant): Promise<boolean>;
  /** In order of fund. */
  waitingFunds(): Promise<readonly WaitingFund[]>;
  /** In the order in which they were kept, at most so many. */
  waitingFills(fundId: string, countMax: number): Promise<readonly Fill[]>;
  removeWaitingFill(fundId: string, fillId: string): Promise<void>;
  /** Keeps it as the last value of its second, minute, hour and day, unless a newer one is there. A day is the trading day, or else UTC's. */
  putNav(point: NavPoint): Promise<void>;
  /** Values of days that were; a day that has one keeps it. Gives how many are new. */
  importNavs(points: readonly NavPoint[]): Promise<number>;
  /** The hash of what was put in under that name, if anything was. */
  imported(name: string): Promise<string | undefined>;
  /** True the first time for that name, ever. */
  firstImport(name: string, hash: string, at: Instant): Promise<boolean>;
  /** Removes what is kept for every such time and is older, oldest first, at most so many; gives how many they were. */
  thinNavs(every: NavEvery, before: Instant, countMax: number): Promise<number>;
}
