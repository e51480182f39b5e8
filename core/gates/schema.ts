// Gate 2: is this an order at all? Every field, every rule between fields, and whether what it names exists. Nothing later has to wonder
// whether a number is a number. Checks go from the order's own words to what we know about them; the first mistake is the answer.

import type { Denial } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import { isLimited, isStopped, ownPrice } from "../exposure/valuation.ts";
import * as amounts from "../money/amount.ts";
import { isTooLarge, product, toExact } from "../money/exact.ts";
import type { Gate, Notes } from "../state/gate.ts";
import { assured, isFresh, isMarkedExit, isNewRisk, reduces } from "../state/new-risk.ts";
import type { AmendRefusal, FundView } from "../state/view.ts";
import { amount, quoted } from "../state/wording.ts";
import { fieldDenial } from "./schema-fields.ts";

const createdAheadMsMax = 300_000;
const createdAgeMsMax = 86_400_000;

export const schema: Gate = {
  name: "schema",
  question: "Is it an order, complete and in terms that its instrument has?",
  phase: "order",
  inputs: [],
  decide(order, view, at, notes) {
    if (view.classification !== undefined) {
      notes.word("classification", view.classification);
      notes.decimal("position", view.position);
      notes.decimal("closing_quantity", view.closingQuantity);
      notes.decimal("opening_quantity", view.openingQuantity);
    }
    const denial =
      fieldDenial(order, view.textsFit) ??
      shortDenial(order, view) ??
      numberDenial(order, view) ??
      priceDenial(order, view) ??
      timeDenial(order, view, at) ??
      unknownDenial(order, view) ??
      gridDenial(order, view) ??
      notionalDenial(order, view) ??
      claimDenial(order, view, notes);
    if (denial !== undefined) notes.word("mistake", denial.code);
    return denial;
  },
};

/** One that is with a broker since before this was asked may still be made smaller. */
function shortDenial(order: Order, view: FundView): Denial | undefined {
  if (order.reduce_only !== true || order.side !== "SELL_SHORT") return undefined;
  if (view.lowers === true) return undefined;
  const reason =
    "A SELL_SHORT order opens or adds to a short position and cannot be reduce_only: close a long position with SELL.";
  return { code: "SCHEMA_SHORT_NOT_REDUCING", reason };
}

function numberDenial(order: Order, view: FundView): Denial | undefined {
  const { terms } = view;
  if (terms.quantity === undefined) return notADecimal("quantity", order.quantity);
  if (order.limit_price !== undefined && terms.limitPrice === undefined) {
    return notADecimal("limit_price", order.limit_price);
  }
  if (order.stop_price !== undefined && terms.stopPrice === undefined) {
    return notADecimal("stop_price", order.stop_price);
  }
  if (order.notional === undefined || terms.notional !== undefined) return undefined;
  const expected = "notional must be a number of zero or more with at most 20 digits before and 18 after the point";
  return { code: "SCHEMA_FIELD_INVALID", reason: `${expected}, not ${quoted(order.notional)}.` };
}

function notADecimal(field: string, text: string): Denial {
  const reason = `${field} must be a plain decimal above zero, not ${quoted(text)}.`;
  return { code: "SCHEMA_DECIMAL_INVALID", reason };
}

/** A price that the type does not use is a mistake: whoever sends a limit means it, and the order would trade beyond it. */
function priceDenial(order: Order, view: FundView): Denial | undefined {
  const { limitPrice, stopPrice } = view.terms;
  const type = order.order_type;
  if (isLimited(type) && limitPrice === undefined) {
    return { code: "SCHEMA_LIMIT_PRICE_MISSING", reason: `A ${type} order needs a limit_price.` };
  }
  if (isStopped(type) && stopPrice === undefined) {
    return { code: "SCHEMA_STOP_PRICE_MISSING", reason: `A ${type} order needs a stop_price.` };
  }
  if (!isLimited(type) && limitPrice !== undefined) return unusedPrice(type, "limit_price");
  return isStopped(type) || stopPrice === undefined ? undefined : unusedPrice(type, "stop_price");
}

function unusedPrice(type: string, field: "limit_price" | "stop_price"): Denial {
  const types = field === "limit_price" ? "LIMIT or STOP_LIMIT" : "STOP or STOP_LIMIT";
  const reason = `A ${type} order has no use for ${field}: leave it out, or make it a ${types} order.`;
  return { code: "SCHEMA_FIELD_INVALID", reason };
}

function timeDenial(order: Order, view: FundView, at: instant.Instant): Denial | undefined {
  if (order.expires_at !== undefined || order.tif === "GTD") {
    const denial = expiryDenial(order, at);
    if (denial !== undefined) return denial;
  }
  if (order.created_at === undefined) return undefined;
  const created = instant.tryParse(order.created_at);
  if (created === undefined) return notATime("created_at", order.created_at);
  const ageMs = instant.millisecondsBetween(created, at);
  // An amendment may speak of an order that was made days ago.
  if (ageMs >= -createdAheadMsMax && (ageMs <= createdAgeMsMax || view.amends)) return undefined;
  const reason =
    ageMs < 0
      ? `created_at ${quoted(order.created_at)} lies more than 5 minutes ahead.`
      : `created_at ${quoted(order.created_at)} lies more than 24 hours back.`;
  return { code: "SCHEMA_CREATED_AT_IMPLAUSIBLE", reason };
}

function expiryDenial(order: Order, at: instant.Instant): Denial | undefined {
  if (order.tif !== "GTD") {
    return { code: "SCHEMA_EXPIRY_INVALID", reason: `A ${order.tif} order has no use for expires_at.` };
  }
  if (order.expires_at === undefined) {
    return { code: "SCHEMA_EXPIRY_INVALID", reason: "A GTD order needs an expires_at." };
  }
  const expires = instant.tryParse(order.expires_at);
  if (expires === undefined) return notATime("expires_at", order.expires_at);
  if (expires > at) return undefined;
  return { code: "SCHEMA_EXPIRY_INVALID", reason: `expires_at ${quoted(order.expires_at)} has passed.` };
}

function notATime(field: string, text: string): Denial {
  const reason = `${field} must be a time such as 2026-11-15T13:30:00.000000Z, not ${quoted(text)}.`;
  return { code: "SCHEMA_FIELD_INVALID", reason };
}

function unknownDenial(order: Order, view: FundView): Denial | undefined {
  if (!view.fundKnown) return { code: "SCHEMA_FUND_UNKNOWN", reason: `There is no fund ${quoted(order.fund_id)}.` };
  if (!view.strategyKnown && !isMarkedExit(order, view)) {
    const reason = `Fund ${quoted(order.fund_id)} has no strategy ${quoted(order.strategy_id)}.`;
    return { code: "SCHEMA_STRATEGY_UNKNOWN", reason };
  }
  const { instrument } = view;
  if (instrument === undefined) {
    return { code: "SCHEMA_SYMBOL_UNKNOWN", reason: `There is no instrument ${quoted(order.symbol)}.` };
  }
  if (order.asset_class !== instrument.assetClass) {
    const reason = `${quoted(order.symbol)} is of class ${instrument.assetClass}, not ${order.asset_class}.`;
    return { code: "SCHEMA_ASSET_CLASS_MISMATCH", reason };
  }
  if (order.currency !== undefined && order.currency !== instrument.currency) {
    const reason = `${quoted(order.symbol)} trades in ${instrument.currency}, not in ${order.currency}.`;
    return { code: "SCHEMA_CURRENCY_MISMATCH", reason };
  }
  if (!view.amendsAnother) return undefined;
  if (view.amendRefusal === "not yours") {
    const reason = `Order ${quoted(order.order_id)} was asked for by another source, which alone may ask again: choose another order_id.`;
    return { code: "ORDER_NOT_YOURS", reason };
  }
  const reason = `Order ${quoted(order.order_id)} ${unamendable[view.amendRefusal ?? "another"]}.`;
  return { code: "SCHEMA_AMENDMENT_MISMATCH", reason };
}

const unamendable: Readonly<Record<Exclude<AmendRefusal, "not yours">, string>> = {
  another: "is open with another fund, strategy, symbol or side",
  ended: "has ended, or only waits for its last fills, so nothing is left to amend",
  unapproved: "is not approved yet: the risk officer has not answered",
};

/** Ticks and lots. What closes all that can be closed is let through: otherwise nobody could sell the odd rest of a holding. */
function gridDenial(order: Order, view: FundView): Denial | undefined {
  const { tickSize, lotSize } = assured(view.instrument, "an instrument");
  const { limitPrice, stopPrice } = view.terms;
  const quantity = assured(view.terms.quantity, "a quantity");
  const type = order.order_type;
  if (isLimited(type) && isOffTick(limitPrice, tickSize)) return offTick("limit_price", limitPrice, tickSize);
  if (isStopped(type) && isOffTick(stopPrice, tickSize)) return offTick("stop_price", stopPrice, tickSize);
  if (amounts.isMultiple(quantity, lotSize) || closesAll(view)) return undefined;
  const reason = `The quantity ${amount(quantity)} of ${quoted(order.symbol)} is no multiple of the lot ${amount(lotSize)}.`;
  return { code: "SCHEMA_QUANTITY_OFF_LOT", reason };
}

function closesAll(view: FundView): boolean {
  if (!reduces(view)) return false;
  const pending = view.terms.direction === 1 ? view.pendingBuy : view.pendingSell;
  return amounts.isEqual(amounts.plus(view.closingQuantity, pending), amounts.magnitude(view.position));
}

function isOffTick(price: amounts.Amount | undefined, tickSize: amounts.Amount): price is amounts.Amount {
  return price !== undefined && !amounts.isMultiple(price, tickSize);
}

function offTick(field: string, price: amounts.Amount, tickSize: amounts.Amount): Denial {
  const reason = `The ${field} ${amount(price)} is no multiple of the tick ${amount(tickSize)}.`;
  return { code: "SCHEMA_PRICE_OFF_TICK", reason };
}

/**
 * Quantity times price must fit a decimal, and agree with what the order says it is worth: within 1 % of its own price, or within 10 % where
 * only a fresh mark is at hand. A mark that is too old contradicts nobody, or it would keep an exit from passing.
 */
function notionalDenial(order: Order, view: FundView): Denial | undefined {
  const { terms } = view;
  const { multiplier } = assured(view.instrument, "an instrument");
  const quantity = assured(terms.quantity, "a quantity");
  const own = ownPrice(order.order_type, terms);
  const price = own ?? freshMark(view);
  if (price === undefined) return undefined;
  const notional = product(quantity, amounts.timesUp(price, multiplier));
  if (isTooLarge(notional)) {
    const reason = `${amount(quantity)} at ${amount(price)} is worth more than can be kept exactly.`;
    return { code: "SCHEMA_NOTIONAL_OVERFLOW", reason };
  }
  if (terms.notional === undefined) return undefined;
  const value = toExact(notional);
  const claimed = toExact(product(terms.notional, amounts.oneUnit));
  const difference = claimed > value ? claimed - value : value - claimed;
  if (difference * (own === undefined ? 10n : 100n) <= value) return undefined;
  const tolerance = own === undefined ? "10 %" : "1 %";
  const contradicted = `${amount(quantity)} ${quoted(order.symbol)} at ${amount(price)}`;
  const reason = `The notional ${amount(terms.notional)} differs by more than ${tolerance} from ${contradicted}.`;
  return { code: "SCHEMA_NOTIONAL_MISMATCH", reason };
}

function freshMark(view: FundView): amounts.Amount | undefined {
  const { price } = view;
  return price !== undefined && amounts.isPositive(price) && isFresh(view.priceAgeMs, view.ages.mark)
    ? price
    : undefined;
}

function claimDenial(order: Order, view: FundView, notes: Notes): Denial | undefined {
  if (order.reduce_only !== true || !isNewRisk(view)) return undefined;
  const { position, closingQuantity, openingQuantity } = view;
  const buys = view.terms.direction === 1;
  const pending = buys ? view.pendingBuy : view.pendingSell;
  notes.decimal(buys ? "pending_buy" : "pending_sell", pending);
  // They explain something only where they stand against the position as well.
  const against = !amounts.isNothing(pending) && (buys ? amounts.isNegative(position) : amounts.isPositive(position));
  const others = against ? `, of which other open orders may ${buys ? "buy back" : "sell"} ${amount(pending)}` : "";
  const proven = `of it ${amount(closingQuantity)} could close and ${amount(openingQuantity)} would open`;
  const reason = `The order claims to reduce a position of ${amount(position)} only${others}, but ${proven}.`;
  return { code: "SCHEMA_REDUCE_ONLY_UNPROVEN", reason };
}
