// Why an event of a foreign system may not enter.

type RefusalCode =
  | "EVENT_FUND_UNKNOWN"
  | "EVENT_SYMBOL_UNKNOWN"
  | "EVENT_STRATEGY_UNKNOWN"
  | "EVENT_CURRENCY_WRONG"
  | "EVENT_PRICE_IMPOSSIBLE"
  | "EVENT_FILL_CHANGED"
  | "EVENT_FILL_BUSTED"
  | "EVENT_BUST_CHANGED"
  | "EVENT_BUST_NOT_YOURS"
  | "EVENT_BUST_KIND"
  | "EVENT_BUST_MISMATCH"
  | "EVENT_BUST_TOO_LATE";

/** One sentence says what is wrong and what to do. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly sentence: string;
}
