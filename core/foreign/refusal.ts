// Why an event of a foreign system may not enter.

type RefusalCode =
  | "EVENT_FUND_UNKNOWN"
  | "EVENT_FUND_NOT_YOURS"
  | "EVENT_TOKEN_REVOKED"
  | "EVENT_SYMBOL_UNKNOWN"
  | "EVENT_STRATEGY_UNKNOWN"
  | "EVENT_CURRENCY_WRONG"
  | "EVENT_VALUE_NOT_YOURS"
  | "EVENT_PRICE_IMPOSSIBLE"
  | "EVENT_PRICE_NOT_YOURS"
  | "EVENT_ID_REUSED"
  | "EVENT_ORDER_NOT_YOURS"
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

/** Of an event under an id that said something else before. */
export function reusedId(source: string, eventId: string): Refusal {
  const sentence = `${source} used the id ${eventId} for an event with other content before; the first one counts. Publish this one under an id of its own.`;
  return { code: "EVENT_ID_REUSED", sentence };
}
