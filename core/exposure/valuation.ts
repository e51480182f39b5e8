// What an order is worth at worst. A price that flatters the order is never used: of the prices that could apply the highest is taken,
// and where the order names no highest price the envelope's collar is put on top. Everything is rounded up.

import { type Amount, isMore, isNothing, isPositive, nothing, oneUnit, plus, timesUp } from "../money/amount.ts";
import { larger, type Notional, product } from "../money/exact.ts";
import type { FundView, InstrumentFacts, Terms } from "../state/view.ts";

/** The highest of last price, bid and ask; undefined without a price, or when the price cannot value anything. */
export function marketPrice(view: FundView): Amount | undefined {
  return view.market ?? highestPrice(view.price, view.bid, view.ask);
}

export function highestPrice(
  price: Amount | undefined,
  bid: Amount | undefined,
  ask: Amount | undefined,
): Amount | undefined {
  if (price === undefined || !isPositive(price)) return undefined;
  let highest = price;
  if (bid !== undefined && isMore(bid, highest)) highest = bid;
  if (ask !== undefined && isMore(ask, highest)) highest = ask;
  return highest;
}

/** Whether an order of that type trades at its limit or better. Every order may carry a limit price. */
export function isLimited(orderType: string): boolean {
  return orderType === "LIMIT" || orderType === "STOP_LIMIT";
}

/** Whether an order of that type waits for its stop. Every order may carry a stop price. */
export function isStopped(orderType: string): boolean {
  return orderType === "STOP" || orderType === "STOP_LIMIT";
}

/** The price that one unit could trade at, at worst, with every price that the order carries; the collar is a fraction. */
export function valuationPrice(orderType: string, terms: Terms, market: Amount, collar: Amount): Amount {
  let price = market;
  if (terms.limitPrice !== undefined && isMore(terms.limitPrice, price)) price = terms.limitPrice;
  if (terms.stopPrice !== undefined && isMore(terms.stopPrice, price)) price = terms.stopPrice;
  // A limit is a promise about the price; a market order, also one that a stop lets loose, has none.
  return isLimited(orderType) ? price : timesUp(price, plus(oneUnit, collar));
}

/** What one unit of the instrument is worth at that price, in the fund's currency. */
export function unitValueAt(price: Amount, instrument: InstrumentFacts, fxRate: Amount): Amount {
  return timesUp(timesUp(price, instrument.multiplier), fxRate);
}

/**
 * What the order is worth against the largest order that is allowed: all of it at its worst price, and never less than what the order itself
 * says. Of an amended order also what has filled counts, or amending would be a way around.
 */
export function notionalAtWorst(view: FundView, unitValue: Amount, fxRate: Amount): Notional {
  const quantity = view.terms.quantity ?? nothing;
  const computed = product(quantity, unitValue);
  const { notional } = view.terms;
  if (notional === undefined || isNothing(quantity)) return computed;
  return larger(computed, product(notional, fxRate));
}

/** The price that the order will trade at by its own words: its limit, else its stop, of those that its type needs. */
export function ownPrice(orderType: string, terms: Terms): Amount | undefined {
  if (isLimited(orderType)) return terms.limitPrice;
  return isStopped(orderType) ? terms.stopPrice : undefined;
}
