// How far an order's own prices may lie from the market. Only prices that its type trades at: another one says nothing about where it will.
// A marked and proven exit has a wider collar, and none where no fresh price is known: a typing error must not sell a holding for nothing, and
// a missing price must not keep it in.
import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { isLimited, isStopped } from "../exposure/valuation.ts";
import * as amounts from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { priceText } from "../money/price-text.ts";
import type { Notes } from "../state/gate.ts";
import { assured, isFresh } from "../state/new-risk.ts";
import type { FundView } from "../state/view.ts";
import { amount, percent } from "../state/wording.ts";

/** The collar is a fraction of the price, which must be there. */
export function collarDenial(order: Order, view: FundView, collar: amounts.Amount): Denial | undefined {
  const limitPrice = isLimited(order.order_type) ? view.terms.limitPrice : undefined;
  const stopPrice = isStopped(order.order_type) ? view.terms.stopPrice : undefined;
  if (limitPrice === undefined && stopPrice === undefined) return undefined;
  const price = assured(view.price, "a price");
  const band = exact.product(collar, price);
  if (limitPrice !== undefined && isOutside(limitPrice, price, band)) {
    return outside("limit_price", limitPrice, price, collar, view);
  }
  if (stopPrice !== undefined && isOutside(stopPrice, price, band)) {
    return outside("stop_price", stopPrice, price, collar, view);
  }
  return undefined;
}

/** Says which field, and the bound that it is beyond: the lowest or the highest price that would pass, in whole ticks. */
function outside(
  field: string,
  given: amounts.Amount,
  price: amounts.Amount,
  collar: amounts.Amount,
  { instrument }: FundView,
): Denial {
  const [market, share] = [amounts.toDecimal(price), amounts.toDecimal(collar)];
  const tick = amounts.toDecimal(instrument?.tickSize ?? amounts.oneUnit);
  const isAbove = amounts.isMore(given, price);
  const band = (share * market) / decimal.one;
  // A quotient is cut towards zero.
  const ticks = isAbove ? (market + band) / tick : (market - band + tick - 1n) / tick;
  const edge = `${decimal.format((ticks * tick) as decimal.Decimal)} is the ${isAbove ? "highest" : "lowest"} that would pass`;
  const reason = `${field} is ${amount(given)}, more than ${percent(collar)} from ${priceText(market, tick)}; ${edge}.`;
  return { code: "PRICE_OUTSIDE_COLLAR", reason };
}

export function exitCollarDenial(order: Order, view: FundView, envelope: Envelope, notes: Notes): Denial | undefined {
  // A MARKET order has no price.
  if (order.order_type === "MARKET") return undefined;
  const { price, priceAgeMs } = view;
  if (price === undefined || !amounts.isPositive(price) || !isFresh(priceAgeMs, view.ages.mark)) {
    notes.word("exit_collar", "no fresh price");
    return undefined;
  }
  notes.decimal("price", price, priceAgeMs);
  notes.decimal("exit_collar_pct", envelope.exitCollar);
  return collarDenial(order, view, envelope.exitCollar);
}

function isOutside(own: amounts.Amount, price: amounts.Amount, band: exact.Notional): boolean {
  const distance = amounts.magnitude(amounts.minus(own, price));
  return exact.isMore(exact.product(distance, amounts.oneUnit), band);
}
