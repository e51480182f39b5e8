// Why an event of a foreign system is refused where it enters.
import { type AnswerCode, denial } from "./shape.ts";

/** Of the gate schema, and of whoever confirms, releases, amends or cancels what another source asked for. */
export const ownerDenials = {
  ORDER_NOT_YOURS: denial(
    "The order was asked for by another source, which alone amends, cancels, confirms and releases it.",
    "PERMISSION_DENIED",
  ),
} as const satisfies Readonly<Record<string, AnswerCode>>;

export const foreignDenials = {
  ORDER_OURS: denial(
    "The order is our own order management's, which knows where it stands: it is cancelled there.",
    "FAILED_PRECONDITION",
  ),
  EVENT_FUND_UNKNOWN: denial("The event is about a fund that the reference data does not have.", "INVALID_ARGUMENT"),
  EVENT_FUND_NOT_YOURS: denial(
    "The event is about a fund that its publisher's token does not name.",
    "PERMISSION_DENIED",
  ),
  EVENT_TOKEN_REVOKED: denial(
    "The login of NATS under which the event came speaks for a token that was revoked before.",
    "PERMISSION_DENIED",
  ),
  EVENT_SYMBOL_UNKNOWN: denial(
    "The event is about an instrument that the reference data does not have.",
    "INVALID_ARGUMENT",
  ),
  EVENT_STRATEGY_UNKNOWN: denial("The event names a strategy that its fund does not have.", "INVALID_ARGUMENT"),
  EVENT_CURRENCY_WRONG: denial(
    "The value is in another currency than its fund, or the fill than its instrument.",
    "INVALID_ARGUMENT",
  ),
  EVENT_VALUE_NOT_YOURS: denial(
    "The fund is valued by another source, or by none: the reference data names whose values count (valued_by).",
    "PERMISSION_DENIED",
  ),
  EVENT_PRICE_IMPOSSIBLE: denial("The price, of a fill or on the market, is zero or less.", "INVALID_ARGUMENT"),
  EVENT_ORDER_NOT_YOURS: denial(
    "The order was asked for by another source, which alone reports what becomes of it.",
    "PERMISSION_DENIED",
  ),
  EVENT_PRICE_NOT_YOURS: denial(
    "Prices of the symbol count from another source: the reference data names which (priced_by), else it is the one whose price counted first.",
    "PERMISSION_DENIED",
  ),
  EVENT_ID_REUSED: denial(
    "The event came under an id that its publisher had used for something else; the first one counts.",
    "ABORTED",
  ),
  EVENT_FILL_CHANGED: denial(
    "The fill was booked before under the same id with other content; the books keep the first.",
    "ABORTED",
  ),
  EVENT_FILL_BUSTED: denial("The fill is busted already, under another id; a fill is taken back once.", "ABORTED"),
  EVENT_BUST_CHANGED: denial(
    "The bust was taken before under the same id with other content; the first one counts.",
    "ABORTED",
  ),
  EVENT_BUST_NOT_YOURS: denial("The fill was published by somebody else, who alone may bust it.", "PERMISSION_DENIED"),
  EVENT_BUST_KIND: denial("The fill is no trade, and only trades are busted.", "FAILED_PRECONDITION"),
  EVENT_BUST_MISMATCH: denial(
    "The bust names another order, fund, strategy or symbol than its fill.",
    "INVALID_ARGUMENT",
  ),
  EVENT_BUST_TOO_LATE: denial("The instrument was split or renamed after the fill.", "FAILED_PRECONDITION"),
} as const satisfies Readonly<Record<string, AnswerCode>>;
