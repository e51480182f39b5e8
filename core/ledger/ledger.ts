// The double-entry ledger of the paper funds, pure: what is posted for a trade, a flow, a fee for borrowed shares and the first capital, and what
// that does to the holdings. The chart of accounts is small: `cash` and `position:<symbol>` are what the fund has, `capital` and `flows` are
// where it came from, `fees` and `borrow_fees` are what it cost, `dividends` what it earned, `dividends_due` what of that is not paid yet.
//
// Invariants (ledger.test.ts names them):
//  1. The postings of an entry sum to zero in every currency.
//  2. Cash is the sum of the postings to `cash`, and a holding is the sum of the quantities of its fills: both whatever the order of the entries.
//  3. `position:<symbol>` has what was paid for the symbol less what was received. What a position won or lost, realised or not, is its
//     value less that balance, so it needs no account of its own and does not depend on the order of the trades.
//  4. The shares of a fee are together the fee.

import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, parse } from "../../contracts/src/instant.ts";
import type { HoldingMove, LedgerEntry, LedgerPosting } from "../../contracts/src/records/ledger.ts";
import type { Fill, FillBusted } from "../../contracts/src/records/order.ts";
import { signedQuantity } from "./position.ts";

/** Of a reason, as everywhere. */
const reasonLengthMax = 2_000;

/** What the ledger must know of an instrument. */
export interface TradedInstrument {
  readonly currency: string;
  readonly multiplier: string;
}

/** Who books, when, and the id by which it is booked once. */
interface BookedAs {
  readonly entryId: string;
  readonly bookedBy: string;
  readonly at: Instant;
  readonly reason: string;
}

interface MovedMoney extends BookedAs {
  readonly fundId: string;
  readonly currency: string;
  readonly amount: Decimal;
}

export interface BorrowCharge extends MovedMoney {
  readonly strategyId: string;
  readonly symbol: string;
}

export function positionAccount(symbol: string): string {
  return `position:${symbol}`;
}

/** Quantity x multiplier x price, in the instrument's currency. */
export function cost(quantity: Decimal, multiplier: string, price: Decimal): Decimal {
  return decimal.multiply(decimal.multiply(quantity, decimal.parse(multiplier), "half-even"), price, "half-even");
}

/** A trade: cash against the position at what it cost, and the fee out of cash in its own currency. */
export function fillEntry(
  fill: Fill,
  instrument: TradedInstrument,
  booked: Pick<BookedAs, "entryId" | "bookedBy">,
): LedgerEntry {
  const quantity = signedQuantity(fill.side, decimal.parse(fill.quantity));
  const paid = cost(quantity, instrument.multiplier, decimal.parse(fill.price));
  const fee = fill.fee === undefined ? decimal.zero : decimal.parse(fill.fee);
  return {
    ...booked,
    fundId: fill.fund_id,
    strategyId: fill.strategy_id,
    kind: "FILL",
    symbol: fill.symbol,
    quantity,
    postings: [
      ...transfer("cash", positionAccount(fill.symbol), instrument.currency, paid),
      ...transfer("cash", "fees", fill.currency ?? instrument.currency, fee),
    ],
    reason: `${fill.side} ${fill.quantity} ${fill.symbol} ${fill.kind === "CORPORATE_ACTION" ? "by a corporate action" : `at ${fill.price}`}`,
    at: parse(fill.filled_at),
  };
}

/** Takes a busted fill back: what its entry posted, the other way round. The trade stays where it was, and this is booked when it was busted. */
export function bustEntry(
  traded: LedgerEntry,
  bust: FillBusted,
  booked: Pick<BookedAs, "entryId" | "bookedBy">,
): LedgerEntry {
  const { fundId, strategyId, symbol, quantity, postings } = traded;
  return {
    ...booked,
    fundId,
    ...(strategyId !== undefined && { strategyId }),
    kind: "BUST",
    ...(symbol !== undefined && { symbol }),
    ...(quantity !== undefined && { quantity: decimal.negate(quantity) }),
    postings: postings.map((posting) => ({ ...posting, amount: decimal.negate(posting.amount) })),
    reason: `bust ${bust.bust_id} of fill ${bust.fill_id}: ${bust.reason}`.slice(0, reasonLengthMax),
    at: parse(bust.at),
  };
}

/** The money that a fund begins with. */
export function capitalEntry({ currency, amount, ...rest }: MovedMoney): LedgerEntry {
  return { ...rest, kind: "CAPITAL", postings: transfer("capital", "cash", currency, amount) };
}

/** A deposit, or a withdrawal when the amount is negative. */
export function flowEntry({ currency, amount, ...rest }: MovedMoney): LedgerEntry {
  return { ...rest, kind: "FLOW", postings: transfer("flows", "cash", currency, amount) };
}

/** What a strategy pays for a day of borrowed shares; a negative amount is a rebate. */
export function borrowFeeEntry({ currency, amount, ...rest }: BorrowCharge): LedgerEntry {
  return { ...rest, kind: "BORROW_FEE", postings: transfer("cash", "borrow_fees", currency, amount) };
}

/** What a strategy is due for what it held when the share went ex, or owes for what it was short of: income from that moment on, and no cash yet. */
export function dividendDueEntry({ currency, amount, ...rest }: BorrowCharge): LedgerEntry {
  return { ...rest, kind: "DIVIDEND_DUE", postings: transfer("dividends", "dividends_due", currency, amount) };
}

/** What was due becomes cash. */
export function dividendPaidEntry({ currency, amount, ...rest }: BorrowCharge): LedgerEntry {
  return { ...rest, kind: "DIVIDEND", postings: transfer("dividends_due", "cash", currency, amount) };
}

/** What a strategy receives at once for what it held, or pays for what it was short of when the amount is negative: income, and no flow. */
export function dividendEntry({ currency, amount, ...rest }: BorrowCharge): LedgerEntry {
  return { ...rest, kind: "DIVIDEND", postings: transfer("dividends", "cash", currency, amount) };
}

/** In whole cents, half up, away from zero alike for who receives and who pays. */
export function dividendOf(quantity: Decimal, perShare: Decimal): Decimal {
  const amount = decimal.round(decimal.multiply(decimal.abs(quantity), perShare, "half-up"), feePlaces, "half-up");
  return quantity < decimal.zero ? decimal.negate(amount) : amount;
}

/** Nothing is posted for nothing. */
function transfer(from: string, to: string, currency: string, amount: Decimal): readonly LedgerPosting[] {
  if (amount === decimal.zero) return [];
  return [
    { account: from, currency, amount: decimal.negate(amount) },
    { account: to, currency, amount },
  ];
}

/** The first currency in which the postings do not sum to zero; undefined for an entry in balance. */
export function imbalanceOf(
  postings: readonly LedgerPosting[],
): { readonly currency: string; readonly sum: Decimal } | undefined {
  const sums = new Map<string, Decimal>();
  for (const { currency, amount } of postings) {
    sums.set(currency, decimal.add(sums.get(currency) ?? decimal.zero, amount));
  }
  for (const [currency, sum] of sums) if (sum !== decimal.zero) return { currency, sum };
  return undefined;
}

/** What an entry does to the holdings, each symbol and currency once and in order. */
export function movesOf({ postings, symbol, quantity }: LedgerEntry): readonly HoldingMove[] {
  const sums = new Map<string, Decimal>();
  if (symbol !== undefined && quantity !== undefined) sums.set(symbol, quantity);
  for (const { account, currency, amount } of postings) {
    if (account === "cash") sums.set(currency, decimal.add(sums.get(currency) ?? decimal.zero, amount));
  }
  return [...sums]
    .filter(([, moved]) => moved !== decimal.zero)
    .map(([moved, by]) => ({ symbol: moved, quantity: by }))
    .sort((one, other) => (one.symbol < other.symbol ? -1 : 1));
}

const daysPerYear = decimal.fromInteger(365n);
const feePlaces = 2;

/** One day's fee for what was borrowed, worth that much: a 365th of the yearly fraction, in whole cents. */
export function borrowFeeOfDay(value: Decimal, yearlyFraction: Decimal): Decimal {
  const yearly = decimal.multiply(decimal.abs(value), yearlyFraction, "half-up");
  return decimal.round(decimal.divide(yearly, daysPerYear, "half-up"), feePlaces, "half-up");
}

/** A fee divided in proportion to the weights, which are above zero, in whole cents: what is due up to each of them, less what was due before it. */
export function sharesOf(fee: Decimal, weights: readonly Decimal[]): readonly Decimal[] {
  const whole = weights.reduce<Decimal>(decimal.add, decimal.zero);
  let weighed = decimal.zero;
  let charged = decimal.zero;
  return weights.map((weight) => {
    weighed = decimal.add(weighed, weight);
    const part = decimal.multiply(fee, decimal.divide(weighed, whole, "half-even"), "half-even");
    const due = decimal.round(part, feePlaces, "half-even");
    const share = decimal.subtract(due, charged);
    charged = due;
    return share;
  });
}
