// What an order is worth at worst. A price that flatters the order is never used: of the prices that could apply the highest is taken,
// and where the order names no highest price the envelope's collar is put on top. Everything is rounded up.
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import { type Exact, larger, product } from "./exact.ts";
import type { FundView, InstrumentFacts, Terms } from "./view.ts";

/** The highest of last price, bid and ask; undefined without a price, or when the price cannot value anything. */
export function marketPrice(view: FundView): Decimal | undefined {
  const { price, bid, ask } = view;
  if (price === undefined || price <= 0n) return undefined;
  let highest = price;
  if (bid !== undefined && bid > highest) highest = bid;
  if (ask !== undefined && ask > highest) highest = ask;
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
export function valuationPrice(orderType: string, terms: Terms, market: Decimal, collar: Decimal): Decimal {
  let price = market;
  if (terms.limitPrice !== undefined && terms.limitPrice > price) price = terms.limitPrice;
  if (terms.stopPrice !== undefined && terms.stopPrice > price) price = terms.stopPrice;
  // A limit is a promise about the price; a market order, also one that a stop lets loose, has none.
  return isLimited(orderType) ? price : timesUp(price, (decimal.one + collar) as Decimal);
}

/** What one unit of the instrument is worth at that price, in the fund's currency. */
export function unitValueAt(price: Decimal, instrument: InstrumentFacts, fxRate: Decimal): Decimal {
  return timesUp(timesUp(price, instrument.multiplier), fxRate);
}

/**
 * What the order is worth against the largest order that is allowed: the part that does not only close, at its worst price, and never less
 * than its share of what the order itself says. Of an amended order also what has filled counts, or amending would be a way around.
 */
export function notionalAtWorst(view: FundView, unitValue: Decimal, fxRate: Decimal): Exact {
  const quantity = view.terms.quantity ?? decimal.zero;
  const judged = (quantity - view.closingQuantity) as Decimal;
  const computed = product(judged, unitValue);
  const { notional } = view.terms;
  if (notional === undefined || quantity === 0n) return computed;
  const claimed = product(notional, fxRate);
  if (judged === quantity) return larger(computed, claimed);
  return larger(computed, quotientUp(claimed * judged, quantity) as Exact);
}

/** The price that the order will trade at by its own words: its limit, else its stop, of those that its type needs. */
export function ownPrice(orderType: string, terms: Terms): Decimal | undefined {
  if (isLimited(orderType)) return terms.limitPrice;
  return isStopped(orderType) ? terms.stopPrice : undefined;
}

/** The product of two decimals that are not negative, rounded up. It may be wider than a decimal: whoever keeps it looks first. */
export function timesUp(left: Decimal, right: Decimal): Decimal {
  if (right === decimal.one) return left;
  return quotientUp(left * right, decimal.one) as Decimal;
}

function quotientUp(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return quotient * divisor === dividend ? quotient : quotient + 1n;
}
