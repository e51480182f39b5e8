// The terms of an amendment: what they make of an order, whether an order or a broker has them already, and which an order has no use for.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Order } from "../../../contracts/src/records/order.ts";
import type { BrokerAmendment, BrokerOrderStatus } from "../../../ports/broker.ts";
import type { Amendment } from "../../../ports/oms-records.ts";

/** Decimals in their plain form. */
export interface Terms {
  readonly quantity?: string;
  readonly limit_price?: string;
  readonly stop_price?: string;
}

function isThere(wanted: string | undefined, is: decimal.Decimal | undefined): boolean {
  return wanted === undefined || (is !== undefined && decimal.parse(wanted) === is);
}

const read = (text: string | undefined): decimal.Decimal | undefined =>
  text === undefined ? undefined : decimal.parse(text);

export function isInForce(order: Order, terms: Terms): boolean {
  return (
    isThere(terms.quantity, read(order.quantity)) &&
    isThere(terms.limit_price, read(order.limit_price)) &&
    isThere(terms.stop_price, read(order.stop_price))
  );
}

/** Whether the broker has taken every one of them. */
export function isAtBroker(status: BrokerOrderStatus, terms: Terms): boolean {
  return (
    isThere(terms.quantity, status.quantity) &&
    isThere(terms.limit_price, status.limitPrice) &&
    isThere(terms.stop_price, status.stopPrice)
  );
}

/** Whether two amendments ask for the same. */
export function isSameTerms(one: Terms, other: Terms): boolean {
  return (["quantity", "limit_price", "stop_price"] as const).every((name) => read(one[name]) === read(other[name]));
}

/** A price that the order's type does not use: it would be accepted and mean nothing. */
export function unusedPrice({ order_type: type }: Order, terms: Terms): string | undefined {
  const isLimited = type === "LIMIT" || type === "STOP_LIMIT";
  const isStopped = type === "STOP" || type === "STOP_LIMIT";
  if (terms.limit_price !== undefined && !isLimited) return `A ${type} order has no use for limit_price: leave it out.`;
  if (terms.stop_price !== undefined && !isStopped) return `A ${type} order has no use for stop_price: leave it out.`;
  return undefined;
}

/** Only less of the same: like a cancellation of a part, which no halt stands against. */
export function isLowering(order: Order, terms: Terms): boolean {
  if (terms.quantity === undefined || !isInForce(order, { ...terms, quantity: order.quantity })) return false;
  return decimal.parse(terms.quantity) < decimal.parse(order.quantity);
}

export function amendedTerms(order: Order, { quantity, limit_price, stop_price }: Terms): Order {
  return {
    ...order,
    ...(quantity !== undefined && { quantity }),
    ...(limit_price !== undefined && { limit_price }),
    ...(stop_price !== undefined && { stop_price }),
  };
}

/** As it is asked about: the notional of the old terms says nothing about the new ones. */
export function amendedOrder(order: Order, amendment: Amendment): Order {
  const { notional, ...rest } = amendedTerms(order, amendment);
  return { ...rest, idempotency_key: amendment.idempotency_key };
}

export function brokerTermsOf({ quantity, limit_price, stop_price }: Terms): BrokerAmendment {
  return {
    ...(quantity !== undefined && { quantity: decimal.parse(quantity) }),
    ...(limit_price !== undefined && { limitPrice: decimal.parse(limit_price) }),
    ...(stop_price !== undefined && { stopPrice: decimal.parse(stop_price) }),
  };
}
