// How much more of a symbol a fund may buy or sell, and which limit binds. The gates themselves are asked, again and again with another
// quantity, so that what is promised here is exactly what a check would let through. The order that is imagined is a market order, valued at
// the market plus the collar, and not marked reduce_only; pace, throttle and the halts of single strategies are left out, because the question
// names no strategy.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Headroom, LimitHeadroom } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { marketPrice, unitValueAt, valuationPrice } from "../exposure/valuation.ts";
import * as amounts from "../money/amount.ts";
import { toDecimal } from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { product, toExact, type Worth } from "../money/exact.ts";
import { stressLosses } from "../options/option-case.ts";
import { endsOf } from "../options/option-sums.ts";
import { classify } from "../orders/classify.ts";
import { firstDenial } from "./check.ts";
import { namesOf } from "./fast/order-hash.ts";
import { fillView } from "./fill-view.ts";
import type { EngineState } from "./state.ts";
import type { FundView } from "./view.ts";

export interface HeadroomQuestion {
  readonly fundId: string;
  readonly symbol: string;
  /** BUY, SELL, SELL_SHORT or BUY_TO_COVER. */
  readonly side: string;
}

const broker = "headroom";
/** Above every fraction and every amount that an envelope may hold. */
const boundless = decimal.parse("1000000000000000000");
const exactUnitPerCent = 10n ** 34n;
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
  const at = askedAt > state.lastAt ? askedAt : state.lastAt;
  const order = imaginedOrder(question);
  const { view, notes } = state;
  // The view belongs to the next question now, whoever still holds a result.
  notes.reset();
  fillView(view, state, state.found, order, namesOf(order), at);
  order.order_id = "headroom";
  order.asset_class = view.instrument?.assetClass ?? "EQUITY";
  view.keySeen = "no";
  view.strategyKnown = view.fundKnown;
  view.strategyOrdersInSecond = 0;
  view.fundOrdersInSecond = 0;
  const { envelope } = view;
  if (envelope !== undefined) view.envelope = imaginedEnvelope(envelope);
  const search: Search = { view, order, at, lot: toDecimal(view.instrument?.lotSize ?? decimal.one) };
  const most = envelope === undefined ? decimal.zero : largestAllowed(search, view.envelope ?? envelope);
  const denial = denialAt(search, (most + search.lot) as Decimal);
  const limits = envelope === undefined ? [] : limitsOf(search, imaginedEnvelope(envelope));
  view.envelope = envelope;
  const sector = view.instrument?.sector ?? "";
  const field = denial === "SECTOR_LIMIT_EXCEEDED" ? `sector_limits_pct.${sector}` : fieldsByCode.get(denial ?? "");
  return {
    fund_id: question.fundId,
    symbol: question.symbol,
    side: question.side,
    quantity: decimal.format(most),
    notional: worthOf(view, envelope, most),
    binding: field ?? denial ?? "",
    price: priceFigure(view),
    limits,
    envelope_version: envelope?.version,
    halt_epoch: view.haltEpoch,
    as_of: instant.format(at),
  };
}

function imaginedOrder({ fundId, symbol, side }: HeadroomQuestion): Order {
  return {
    idempotency_key: "headroom",
    // No order has an empty id, so this one amends nobody's; it gets one when it goes to the gates.
    order_id: "",
    fund_id: fundId,
    strategy_id: "headroom",
    symbol,
    side,
    quantity: "1",
    order_type: "MARKET",
    tif: "DAY",
    broker,
    asset_class: "EQUITY",
    actor: "headroom",
  };
}

function imaginedEnvelope(envelope: Envelope): Envelope {
  return {
    ...envelope,
    allowedBrokers: new Set([broker]),
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

interface Limit {
  readonly field: string;
  readonly used: Worth;
  readonly allowed: Worth;
  /** The envelope with this limit and no other. */
  readonly alone: Partial<Envelope>;
}

/** What each limit by itself still allows; nothing can be said about a fund without a value or a price. */
function limitsOf(search: Search, envelope: Envelope): LimitHeadroom[] {
  const { view } = search;
  const { nav, unitValue, instrument } = view;
  if (nav === undefined || !amounts.isPositive(nav) || unitValue === undefined || instrument === undefined) return [];
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
  // What can be borrowed is no limit of the envelope; it binds or it does not, and is named when it does.
  const { borrowAvailable, borrowFee, borrowAgeMs } = view;
  Object.assign(view, { borrowAvailable: decimal.largest, borrowFee: decimal.zero, borrowAgeMs: 0 });
  const limits = limitsInForce(view, envelope, nav, unitValue).map(({ field, used, allowed, alone }) => ({
    limit: field,
    used: centsUp(used),
    allowed: centsDown(allowed),
    quantity: decimal.format(largestAllowed(search, { ...without, ...alone })),
  }));
  Object.assign(view, { borrowAvailable, borrowFee, borrowAgeMs });
  return limits;
}

function limitsInForce(view: FundView, envelope: Envelope, nav: amounts.Amount, unitValue: amounts.Amount): Limit[] {
  const high = product(amounts.plus(view.position, view.pendingBuy), unitValue);
  const low = product(amounts.minus(view.position, view.pendingSell), unitValue);
  const position = exact.larger(exact.magnitude(high), exact.magnitude(low));
  const { option } = view;
  const ends =
    option?.netValue === undefined
      ? { high, low }
      : endsOf(view.position, view.pendingBuy, view.pendingSell, option.netValue);
  const netHigh = exact.magnitude(exact.plus(view.netHighOthers, ends.high));
  const net = exact.larger(netHigh, exact.magnitude(exact.plus(view.netLowOthers, ends.low)));
  // Everything on one underlying counts together.
  const group = option === undefined ? position : exact.plus(option.groupOthers, position);
  const sector = view.instrument?.sector ?? "";
  const sectorLimit = envelope.sectorLimits.get(sector);
  const { maxNotional, maxPosition, maxGrossExposure, maxNetExposure, sectorLimits } = envelope;
  const limits: Limit[] = [
    limit("max_notional", exact.worthless, product(maxNotional, decimal.one), { maxNotional }),
    limit("max_position_pct", group, product(maxPosition, nav), { maxPosition }),
    limit("max_gross_exposure_pct", exact.plus(view.grossOthers, position), product(maxGrossExposure, nav), {
      maxGrossExposure,
    }),
    limit("max_net_exposure_pct", net, product(maxNetExposure, nav), { maxNetExposure }),
  ];
  if (sectorLimit !== undefined) {
    const used = exact.plus(view.sectorOthers, position);
    limits.push(limit(`sector_limits_pct.${sector}`, used, product(sectorLimit, nav), { sectorLimits }));
  }
  const { maxStressLoss } = envelope;
  if (maxStressLoss !== undefined && option !== undefined) {
    const { before } = stressLosses(view, option, amounts.nothing);
    limits.push(limit("max_stress_loss_pct", before, product(maxStressLoss, nav), { maxStressLoss }));
  }
  return limits;
}

function limit(field: string, used: Worth, allowed: Worth, alone: Partial<Envelope>): Limit {
  return { field, used, allowed, alone };
}

function centsUp(value: Worth): string {
  return decimal.format(
    (((toExact(value) + exactUnitPerCent - 1n) / exactUnitPerCent) * (decimal.one / 100n)) as Decimal,
  );
}

function centsDown(value: Worth): string {
  return decimal.format(((toExact(value) / exactUnitPerCent) * (decimal.one / 100n)) as Decimal);
}

/** The quantity at the worst price of a market order, in the fund's currency; zero without a price. */
function worthOf(view: FundView, envelope: Envelope | undefined, quantity: Decimal): string {
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
