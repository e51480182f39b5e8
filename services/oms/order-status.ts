// Orders, trades and positions as people read them.
import * as decimal from "../../contracts/src/decimal.ts";
import type {
  Fill as FillMessage,
  FillQuotes,
  KeptQuote as KeptQuoteMessage,
  OrderQuotes,
  OrderStatus,
  Position,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { valued } from "../../core/ledger/position.ts";
import type { StoredOrder, StoredPosition } from "../../ports/oms-records.ts";
import type { KeptQuote, QuoteMoment } from "../../ports/quote-records.ts";
import { bookedPosition } from "./booking.ts";
import type { Priced } from "./instruments.ts";
import { remainingOf } from "./transitions.ts";

export function statusOf(stored: StoredOrder): OrderStatus {
  const { order, filledQuantity, filledValue } = stored;
  const hasFilled = filledQuantity > decimal.zero;
  return {
    order,
    state: stored.state,
    filled_quantity: decimal.format(filledQuantity),
    remaining_quantity: decimal.format(remainingOf(stored)),
    ...(hasFilled && { average_price: decimal.format(decimal.divide(filledValue, filledQuantity, "half-even")) }),
    ...(stored.decision !== undefined && { decision: stored.decision }),
    updated_at: format(stored.updatedAt),
    ...(stored.code !== undefined && { code: stored.code }),
    ...(stored.reason !== undefined && { reason: stored.reason }),
    ...(stored.brokerOrderId !== undefined && { broker_order_id: stored.brokerOrderId }),
    ...(stored.parentOrderId !== undefined && { parent_order_id: stored.parentOrderId }),
    ...(stored.cutFrom !== undefined && { cut_from: stored.cutFrom }),
    created_at: format(stored.createdAt),
    submitted_by: stored.submittedBy,
  };
}

/** Those that were known; undefined when none was. */
export function orderQuotesOf(kept: readonly KeptQuote[]): OrderQuotes | undefined {
  const [created, routed] = [quoteAt(kept, "CREATED"), quoteAt(kept, "ROUTED")];
  if (created === undefined && routed === undefined) return undefined;
  return { ...(created !== undefined && { created }), ...(routed !== undefined && { routed }) };
}

export function fillQuotesOf(kept: readonly KeptQuote[]): FillQuotes | undefined {
  const [atFill, after] = [quoteAt(kept, "FILLED"), quoteAt(kept, "AFTER_300S")];
  if (atFill === undefined && after === undefined) return undefined;
  return { ...(atFill !== undefined && { at_fill: atFill }), ...(after !== undefined && { after_300s: after }) };
}

function quoteAt(kept: readonly KeptQuote[], moment: QuoteMoment): KeptQuoteMessage | undefined {
  const quote = kept.find((one) => one.moment === moment)?.quote;
  return quote === undefined ? undefined : { bid: quote.bid, ask: quote.ask, quoted_at: format(quote.at) };
}

export function fillMessageOf(fill: Fill): FillMessage {
  const { sequence, venue, kind, ...rest } = fill;
  return { ...rest, kind: kind ?? "TRADE" };
}

export function positionMessageOf(
  position: StoredPosition,
  instrument: Instrument | undefined,
  priced: Priced | undefined,
): Position {
  const multiplier = decimal.parse(instrument?.multiplier ?? "1");
  const { fundId, strategyId, symbol, quantity, averagePrice } = position;
  const valuation = priced === undefined ? undefined : valued(bookedPosition(position), priced.price, multiplier);
  return {
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    quantity: decimal.format(quantity),
    average_price: decimal.format(averagePrice),
    ...(priced !== undefined && { mark_price: decimal.format(priced.price), mark_at: format(priced.at) }),
    ...(valuation !== undefined && {
      market_value: decimal.format(valuation.value),
      unrealised_pnl: decimal.format(valuation.unrealisedPnl),
    }),
    currency: instrument?.currency ?? "",
    as_of: format(position.updatedAt),
  };
}
