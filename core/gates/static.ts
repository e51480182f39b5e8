// Gate 3: what the envelope says about an order by itself, whatever the fund holds: where and how it may trade, how large it may be, how
// far its price may lie from the market, and how fast orders may come. A reduction that is not marked answers for all of it as well; a marked
// one, with a wider collar, for its price, for a type other than MARKET, and for a broker that does not hold what it closes; an amendment that only
// lowers for where and how.

import type { Denial } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { paperSource } from "../../contracts/src/records/market.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { marketPrice, notionalAtWorst, unitValueAt, valuationPrice } from "../exposure/valuation.ts";
import * as amounts from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { priceText } from "../money/price-text.ts";
import type { Gate, Notes } from "../state/gate.ts";
import { assured, isFresh, isMarkedExit, isNewRisk, obeysLimits } from "../state/new-risk.ts";
import type { FundView } from "../state/view.ts";
import { amount, money, quoted, seconds } from "../state/wording.ts";
import { collarDenial, exitCollarDenial } from "./collar.ts";
import { withMarkHint } from "./mark-hint.ts";
import { standingDenial } from "./standing-denial.ts";

/** Noted for every order that answers for its pace, and for no other: the journal is read back by it. */
export const paceInput = "strategy_orders_in_second";

/** Called so because `static` is a word of the language. */
export const staticLimits: Gate = {
  name: "static",
  question: "Do the fund's limits allow an order like this, at this size, price and pace?",
  phase: "order",
  inputs: ["mark", "fx"],
  decide(order, view, at, notes) {
    const { envelope } = view;
    if (envelope === undefined) {
      notes.word("envelope", "none");
      return { code: "ENVELOPE_MISSING", reason: `Fund ${quoted(order.fund_id)} has no risk envelope.` };
    }
    notes.count("envelope_version", envelope.version);
    const denial =
      expiredDenial(order, view, at, notes) ??
      allowedDenial(order, view, envelope, notes) ??
      standingDenial("static", "exits too", order, view, notes);
    if (denial !== undefined || view.lowers === true) return denial;
    if (!obeysLimits(order, view)) return exitCollarDenial(order, view, envelope, notes);
    const isReduction = !isNewRisk(view);
    const limited =
      (isReduction ? undefined : barredDenial(order, view, notes)) ??
      standingDenial("static", "the rest", order, view, notes) ??
      inputDenial(order, view, notes) ??
      sizeDenial(order, view, envelope, notes) ??
      collarDenial(order, view, envelope.priceCollar) ??
      paceDenial(order, view, envelope, notes);
    return limited === undefined || !isReduction ? limited : withMarkHint(limited, order, view, at);
  },
};

/** What has ended nobody trades, not even out of it. What only takes away from an open order does no harm. */
function expiredDenial({ symbol }: Order, view: FundView, at: Instant, notes: Notes): Denial | undefined {
  const endsAt = view.option?.endsAt ?? Number.NaN;
  if (!(at >= endsAt) || view.lowers === true) return undefined;
  const ended = format(endsAt as Instant);
  notes.word("option_ended", ended);
  return { code: "OPTION_EXPIRED", reason: `The option ${quoted(symbol)} ended at ${ended}.` };
}

/** A marked exit may go to the broker that holds what it closes, by MARKET, in any class. */
function allowedDenial(order: Order, view: FundView, envelope: Envelope, notes: Notes): Denial | undefined {
  const isExit = isMarkedExit(order, view);
  if (!envelope.allowedBrokers.has(order.broker) && !(isExit && view.heldAtBroker)) {
    notes.word("broker", quoted(order.broker));
    return { code: "BROKER_NOT_ALLOWED", reason: `Broker ${quoted(order.broker)} is not allowed.` };
  }
  if (!envelope.allowedOrderTypes.has(order.order_type) && !(isExit && order.order_type === "MARKET")) {
    notes.word("order_type", order.order_type);
    return { code: "ORDER_TYPE_NOT_ALLOWED", reason: `Order type ${order.order_type} is not allowed.` };
  }
  if (!envelope.allowedAssetClasses.has(order.asset_class) && !isExit) {
    notes.word("asset_class", order.asset_class);
    return { code: "ASSET_CLASS_NOT_ALLOWED", reason: `Asset class ${order.asset_class} is not allowed.` };
  }
  return undefined;
}

function barredDenial(order: Order, view: FundView, notes: Notes): Denial | undefined {
  const restriction = view.instrument?.restriction;
  if (restriction === undefined) return undefined;
  notes.word("restriction", restriction);
  return { code: "SYMBOL_RESTRICTED", reason: `${quoted(order.symbol)} is restricted: ${quoted(restriction)}.` };
}

function noPrice({ priceSource }: FundView): string {
  return priceSource === paperSource
    ? "no price but that of the simulated market, which no LIVE fund sees"
    : "no price";
}

/** The price and the rate that new risk is valued with. A price of zero or less can value nothing. */
function inputDenial(order: Order, view: FundView, notes: Notes): Denial | undefined {
  const { price, priceAgeMs, fxRate, fxAgeMs, ages } = view;
  if (price === undefined || !amounts.isPositive(price)) {
    const words = price === undefined ? noPrice(view) : `the price ${amount(price)}`;
    return { code: "REFERENCE_PRICE_MISSING", reason: `${quoted(order.symbol)} has ${words}.` };
  }
  notes.decimal("price", price, priceAgeMs);
  if (view.priceSource !== "") notes.word("price_source", view.priceSource);
  if (!isFresh(priceAgeMs, ages.mark)) {
    const age = `${seconds(priceAgeMs)} old; ${seconds(ages.mark)} is the most`;
    return { code: "REFERENCE_PRICE_STALE", reason: `The price of ${quoted(order.symbol)} is ${age}.` };
  }
  const currency = assured(view.instrument, "an instrument").currency;
  if (fxRate === undefined || !amounts.isPositive(fxRate)) {
    return { code: "FX_RATE_MISSING", reason: `There is no rate from ${currency} into ${view.fundCurrency}.` };
  }
  if (currency === view.fundCurrency) return undefined;
  notes.decimal("fx_rate", fxRate, fxAgeMs);
  if (isFresh(fxAgeMs, ages.fx)) return undefined;
  const rate = `The rate from ${currency} into ${view.fundCurrency}`;
  return { code: "FX_RATE_STALE", reason: `${rate} is ${seconds(fxAgeMs)} old; ${seconds(ages.fx)} is the most.` };
}

function sizeDenial(order: Order, view: FundView, envelope: Envelope, notes: Notes): Denial | undefined {
  const market = assured(marketPrice(view), "a price");
  const fxRate = assured(view.fxRate, "a rate");
  const price = valuationPrice(order.order_type, view.terms, market, envelope.priceCollar);
  const unitValue = unitValueAt(price, assured(view.instrument, "an instrument"), fxRate);
  const notional = notionalAtWorst(view, unitValue, fxRate);
  const limits = view.limits?.envelope === envelope ? view.limits : undefined;
  const allowed = limits?.notional ?? exact.product(envelope.maxNotional, amounts.oneUnit);
  notes.decimal("valuation_price", price);
  notes.exact("notional", notional);
  notes.share("max_notional", notional, allowed);
  if (!exact.isMore(notional, allowed) && !amounts.isTooLarge(unitValue)) return undefined;
  const most = money(allowed, view.fundCurrency);
  const tick = amounts.toDecimal(view.instrument?.tickSize ?? amounts.oneUnit);
  const at = priceText(amounts.toDecimal(price), tick);
  const reason = `The order is worth ${money(notional, view.fundCurrency)} at ${at}; ${most} is the most.`;
  return { code: "NOTIONAL_ABOVE_MAX", reason };
}

/**
 * The pace comes last: only an order that is fine otherwise counts as one more. It was judged when the order was asked about, and is not judged again
 * with the risk officer's answer: how long that takes is none of the order's doing.
 */
export function paceDenial(order: Order, view: FundView, envelope: Envelope, notes: Notes): Denial | undefined {
  const { strategyOrdersInSecond: ofStrategy, fundOrdersInSecond: ofFund } = view;
  const rateMax = envelope.orderRateMaxPerS;
  notes.count(paceInput, ofStrategy);
  notes.count("fund_orders_in_second", ofFund);
  if (view.verdict.kind !== "none") return undefined;
  const most = ofStrategy > ofFund ? ofStrategy : ofFund;
  if ((most + 1) * 2 >= rateMax) notes.share("order_rate_max_per_s", exact.wholeOf(most + 1), exact.wholeOf(rateMax));
  if (most >= rateMax) {
    const who = ofStrategy >= rateMax ? `Strategy ${quoted(order.strategy_id)}` : `Fund ${quoted(order.fund_id)}`;
    const reason = `${who} asked ${most} times within a second; ${rateMax} is the most.`;
    return { code: "ORDER_RATE_EXCEEDED", reason };
  }
  if (!view.amends && view.openOrders >= view.openOrdersMax) {
    notes.count("open_orders", view.openOrders);
    const reason = `The fund has ${view.openOrders} open orders; ${view.openOrdersMax} is the most.`;
    return { code: "OPEN_ORDERS_EXCEEDED", reason };
  }
  const repeatedMax = envelope.repeatedExecutionMax;
  if (repeatedMax === undefined || view.repeatedExecutions < repeatedMax) return undefined;
  notes.count("repeated_executions", view.repeatedExecutions);
  const within = seconds(envelope.repeatedExecutionWindowMs);
  const reason = `The same order was approved ${view.repeatedExecutions} times within ${within}, which trips the throttle.`;
  return { code: "THROTTLE_TRIPPED", reason };
}
