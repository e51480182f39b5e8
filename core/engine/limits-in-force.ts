// The limits of a fund that a symbol counts for, with what is used of each in the worst case, open orders on both sides counted, and what is allowed.
// One function, which headroom, the use of limits and the bands are made from, so that none of them can say what the others do not.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { endsOf } from "../exposure/option-sums.ts";
import { stressLosses } from "../gates/option-case.ts";
import * as amounts from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { type Notional, product, toExact } from "../money/exact.ts";
import type { FundView } from "../state/view.ts";
import { namesOf } from "./fast/order-hash.ts";
import { fillView } from "./fill-view.ts";
import type { EngineState } from "./state.ts";

export interface HeadroomQuestion {
  readonly fundId: string;
  readonly symbol: string;
  /** BUY, SELL, SELL_SHORT or BUY_TO_COVER. */
  readonly side: string;
}

/** The broker of the order that is imagined. */
export const imaginedBroker = "headroom";
const exactUnitPerCent = 10n ** 34n;

/** Fills the view with the fund and the symbol for an order that nobody sends. */
export function imagine(
  state: EngineState,
  question: HeadroomQuestion,
  askedAt: Instant,
): { readonly order: Order; readonly at: Instant } {
  const at = askedAt > state.lastAt ? askedAt : state.lastAt;
  const order = imaginedOrder(question);
  const { view, notes } = state;
  // The view belongs to the next question now, whoever still holds a result.
  notes.reset();
  fillView(view, state, state.found, order, namesOf(order), at);
  order.order_id = "headroom";
  order.asset_class = view.instrument?.assetClass ?? "EQUITY";
  return { order, at };
}

interface LimitInForce {
  /** The envelope's field; a sector's limit is sector_limits_pct.<sector>. */
  readonly field: string;
  /** The symbol or the sector that it is about; empty when it is the fund's own. */
  readonly scope: string;
  readonly used: Notional;
  readonly allowed: Notional;
  /** The envelope with this limit and no other. */
  readonly alone: Partial<Envelope>;
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
    broker: imaginedBroker,
    asset_class: "EQUITY",
    actor: "headroom",
  };
}

/** None when nothing can be said: of a fund without a value, or a symbol without a price. */
export function limitsInForce(view: FundView, envelope: Envelope): readonly LimitInForce[] {
  const { nav, unitValue, instrument } = view;
  if (nav === undefined || !amounts.isPositive(nav) || unitValue === undefined || instrument === undefined) return [];
  // Fills that nobody vouches for may not have happened: the worse end counts.
  const buys = amounts.plus(view.pendingBuy, view.doubt?.buys ?? amounts.nothing);
  const sells = amounts.plus(view.pendingSell, view.doubt?.sells ?? amounts.nothing);
  const high = product(amounts.plus(view.position, buys), unitValue);
  const low = product(amounts.minus(view.position, sells), unitValue);
  const position = exact.larger(exact.magnitude(high), exact.magnitude(low));
  const { option } = view;
  const ends = option?.netValue === undefined ? { high, low } : endsOf(view.position, buys, sells, option.netValue);
  const netHigh = exact.magnitude(exact.plus(view.netHighOthers, ends.high));
  const net = exact.larger(netHigh, exact.magnitude(exact.plus(view.netLowOthers, ends.low)));
  // Everything on one underlying counts together.
  const group = option === undefined ? position : exact.plus(option.groupOthers, position);
  const { symbol, sector } = instrument;
  const sectorLimit = envelope.sectorLimits.get(sector);
  const { maxNotional, maxPosition, maxGrossExposure, maxNetExposure, sectorLimits } = envelope;
  const limits: LimitInForce[] = [
    limit("max_notional", "", exact.zeroNotional, product(maxNotional, decimal.one), { maxNotional }),
    limit("max_position_pct", symbol, group, product(maxPosition, nav), { maxPosition }),
    limit("max_gross_exposure_pct", "", exact.plus(view.grossOthers, position), product(maxGrossExposure, nav), {
      maxGrossExposure,
    }),
    limit("max_net_exposure_pct", "", net, product(maxNetExposure, nav), { maxNetExposure }),
  ];
  if (sectorLimit !== undefined) {
    const used = exact.plus(view.sectorOthers, position);
    limits.push(limit(`sector_limits_pct.${sector}`, sector, used, product(sectorLimit, nav), { sectorLimits }));
  }
  const { maxStressLoss } = envelope;
  if (maxStressLoss !== undefined && option !== undefined) {
    const { before } = stressLosses(view, option, amounts.nothing);
    limits.push(limit("max_stress_loss_pct", "", before, product(maxStressLoss, nav), { maxStressLoss }));
  }
  return limits;
}

function limit(
  field: string,
  scope: string,
  used: Notional,
  allowed: Notional,
  alone: Partial<Envelope>,
): LimitInForce {
  return { field, scope, used, allowed, alone };
}

export function centsUp(value: Notional): string {
  return decimal.format(
    (((toExact(value) + exactUnitPerCent - 1n) / exactUnitPerCent) * (decimal.one / 100n)) as Decimal,
  );
}

export function centsDown(value: Notional): string {
  return decimal.format(((toExact(value) / exactUnitPerCent) * (decimal.one / 100n)) as Decimal);
}
