// How much more of a symbol a fund may buy or sell, and which limit binds. The gates themselves are asked, again and again with another
// quantity, so that what is promised here is exactly what a check would let through. The order that is imagined is a market order, valued at
// the market plus the collar, and not marked reduce_only; pace, throttle and the halts of single strategies are left out, because the question
// names no strategy.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Headroom, LimitHeadroom, Room } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import * as instant from "../../contracts/src/instant.ts";
import { watchdogConditions } from "../blocks/restriction-book.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { marketPrice, unitValueAt, valuationPrice } from "../exposure/valuation.ts";
import { toDecimal } from "../money/amount.ts";
import { product } from "../money/exact.ts";
import { classify } from "../orders/classify.ts";
import type { FundView } from "../state/view.ts";
import { firstDenial } from "./check.ts";
import {
  centsDown,
  centsUp,
  type HeadroomQuestion,
  imagine,
  imaginedBroker,
  limitsInForce,
} from "./limits-in-force.ts";
import { asIfNothingStood } from "./preview/as-if.ts";
import type { EngineState } from "./state.ts";

/** Above every fraction and every amount that an envelope may hold. */
const boundless = decimal.parse("1000000000000000000");
/** The envelope's field for every code that a smaller quantity would escape. */
const fieldsByCode: ReadonlyMap<string, string> = new Map([
  ["NOTIONAL_ABOVE_MAX", "max_notional"],
  ["POSITION_LIMIT_EXCEEDED", "max_position_pct"],
  ["GROSS_EXPOSURE_EXCEEDED", "max_gross_exposure_pct"],
  ["NET_EXPOSURE_EXCEEDED", "max_net_exposure_pct"],
  ["STRESS_LOSS_EXCEEDED", "max_stress_loss_pct"],
  ["SHORTING_DISABLED", "shorting_enabled"],
  ["BORROW_FEE_EXCEEDED", "max_borrow_fee_pct"],
  ["COVER_EXCEEDS_SHORT", "strict_sides"],
  ["SELL_EXCEEDS_LONG", "strict_sides"],
  ["SHORT_WHILE_LONG", "strict_sides"],
  ["BUY_CROSSES_ZERO", "strict_sides"],
]);

export function headroom(state: EngineState, question: HeadroomQuestion, askedAt: instant.Instant): Headroom {
  const { view } = state;
  const search = searchFor(state, question, askedAt);
  const { at } = search;
  const { envelope } = view;
  const room = roomIn(search);
  const limits = envelope === undefined ? [] : limitsOf(search, imaginedEnvelope(envelope));
  view.envelope = envelope;
  return {
    fund_id: question.fundId,
    symbol: question.symbol,
    side: question.side,
    ...room,
    price: priceFigure(view),
    limits,
    envelope_version: envelope?.version,
    halt_epoch: view.haltEpoch,
    as_of: instant.format(at),
  };
}

/** The same, as if no halt, block or missing price stood. */
export function roomAsIf(state: EngineState, question: HeadroomQuestion, askedAt: instant.Instant): Room {
  const search = searchFor(state, question, askedAt);
  const isPriced = asIfNothingStood(state.view);
  const { quantity, ...room } = roomIn(search);
  return { ...room, ...(isPriced && { quantity }) };
}

function searchFor(state: EngineState, question: HeadroomQuestion, askedAt: instant.Instant): Search {
  const { order, at } = imagine(state, question, askedAt);
  const { view } = state;
  view.keySeen = "no";
  view.strategyKnown = view.fundKnown;
  view.strategyOrdersInSecond = 0;
  view.fundOrdersInSecond = 0;
  return { view, order, at, lot: toDecimal(view.instrument?.lotSize ?? decimal.one) };
}

/** The most that passes, and why no more does. The view keeps its envelope. */
function roomIn(search: Search): Pick<Headroom, "quantity" | "notional" | "binding"> {
  const { view, lot } = search;
  const { envelope } = view;
  if (envelope !== undefined) view.envelope = imaginedEnvelope(envelope);
  const most = envelope === undefined ? decimal.zero : largestAllowed(search, view.envelope ?? envelope);
  const denial = denialAt(search, (most + lot) as Decimal);
  view.envelope = envelope;
  const sector = view.instrument?.sector ?? "";
  const field = denial === "SECTOR_LIMIT_EXCEEDED" ? `sector_limits_pct.${sector}` : fieldsByCode.get(denial ?? "");
  return {
    quantity: decimal.format(most),
    notional: notionalOf(view, envelope, most),
    binding: field ?? denial ?? "",
  };
}

function imaginedEnvelope(envelope: Envelope): Envelope {
  return {
    ...envelope,
    allowedBrokers: new Set([imaginedBroker]),
    allowedOrderTypes: new Set(["MARKET"]),
    repeatedExecutionMax: undefined,
  };
}

interface Search {
  readonly view: FundView;
  readonly order: Order;
  readonly at: instant.Instant;
  readonly lot: Decimal;
}

/** The code that denies that quantity, or undefined. */
function denialAt({ view, order, at }: Search, quantity: Decimal): string | undefined {
  if (quantity > decimal.largest) return "SCHEMA_NOTIONAL_OVERFLOW";
  order.quantity = decimal.format(quantity);
  view.terms.quantity = quantity;
  classify(view);
  return firstDenial(view, order, at)?.code;
}

/** The largest multiple of the lot that passes. Whatever passes, everything smaller passes too. */
function largestAllowed(search: Search, envelope: Envelope): Decimal {
  const { view, lot } = search;
  view.envelope = envelope;
  const passes = (lots: bigint): boolean => denialAt(search, (lots * lot) as Decimal) === undefined;
  if (!passes(1n)) return decimal.zero;
  let low = 1n;
  let high = 2n;
  while (passes(high)) {
    low = high;
    high *= 2n;
  }
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (passes(middle)) low = middle;
    else high = middle;
  }
  return (low * lot) as Decimal;
}

/** What each limit by itself still allows; nothing can be said about a fund without a value or a price. */
function limitsOf(search: Search, envelope: Envelope): LimitHeadroom[] {
  const { view } = search;
  const inForce = limitsInForce(view, envelope);
  if (inForce.length === 0) return [];
  const without: Envelope = {
    ...envelope,
    maxNotional: boundless,
    maxPosition: boundless,
    maxGrossExposure: boundless,
    maxNetExposure: boundless,
    sectorLimits: new Map(),
    maxStressLoss: undefined,
    shortingEnabled: true,
    strictSides: false,
  };
  // What can be borrowed, an exit that goes first and what watchdogs restrict are no limits of the envelope; they are named when they bind.
  const { borrowAvailable, borrowFee, borrowAgeMs, exitWaits, restrictions, conditions } = view;
  Object.assign(view, {
    borrowAvailable: decimal.largest,
    borrowFee: decimal.zero,
    borrowAgeMs: 0,
    exitWaits: undefined,
    restrictions: undefined,
    conditions: conditions.filter(({ code }) => !watchdogConditions.has(code)),
  });
  const limits = inForce.map(({ field, used, allowed, alone }) => ({
    limit: field,
    used: centsUp(used),
    allowed: centsDown(allowed),
    quantity: decimal.format(largestAllowed(search, { ...without, ...alone })),
  }));
  Object.assign(view, { borrowAvailable, borrowFee, borrowAgeMs, exitWaits, restrictions, conditions });
  return limits;
}

/** The quantity at the worst price of a market order, in the fund's currency; zero without a price. */
function notionalOf(view: FundView, envelope: Envelope | undefined, quantity: Decimal): string {
  const market = marketPrice(view);
  const { instrument, fxRate } = view;
  if (market === undefined || instrument === undefined || fxRate === undefined || envelope === undefined) return "0";
  const noPrices = { ...view.terms, limitPrice: undefined, stopPrice: undefined };
  const price = valuationPrice("MARKET", noPrices, market, envelope.priceCollar);
  return centsUp(product(quantity, unitValueAt(price, instrument, fxRate)));
}

function priceFigure(view: FundView): Headroom["price"] {
  if (view.price === undefined) return undefined;
  const age_ms = Number.isNaN(view.priceAgeMs) ? undefined : Math.max(0, view.priceAgeMs);
  return { name: "price", value: decimal.format(toDecimal(view.price)), age_ms };
}
