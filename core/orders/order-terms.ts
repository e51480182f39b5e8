// The terms under which an order works, besides its quantity: how, where and how long it may fill. The engine keeps them for open orders, so
// that it can tell an amendment that only lowers the quantity from one that changes anything else.
import * as decimal from "../../contracts/src/decimal.ts";

/** Named as the order's fields, so that an order has them and a snapshot keeps them as they are. */
export interface OrderTerms {
  readonly order_type: string;
  readonly limit_price?: string | undefined;
  readonly stop_price?: string | undefined;
  readonly tif: string;
  readonly expires_at?: string | undefined;
  readonly broker: string;
  readonly venue?: string | undefined;
  readonly reduce_only?: boolean | undefined;
}

/** A copy of the terms alone, so that nothing else of the order is kept alive; the one at hand when it says the same to the letter. */
export function keptTerms(order: OrderTerms, atHand: OrderTerms | undefined): OrderTerms {
  const { order_type, limit_price, stop_price, tif, expires_at, broker, venue, reduce_only } = order;
  if (
    atHand !== undefined &&
    atHand.limit_price === limit_price &&
    atHand.stop_price === stop_price &&
    haveSameWords(atHand, order)
  ) {
    return atHand;
  }
  return { order_type, limit_price, stop_price, tif, expires_at, broker, venue, reduce_only };
}

/** Whether they are the same terms; a price may be written in two ways. */
export function areSameTerms(one: OrderTerms, other: OrderTerms): boolean {
  return (
    haveSameWords(one, other) &&
    isSamePrice(one.limit_price, other.limit_price) &&
    isSamePrice(one.stop_price, other.stop_price)
  );
}

function haveSameWords(one: OrderTerms, other: OrderTerms): boolean {
  return (
    one.order_type === other.order_type &&
    one.tif === other.tif &&
    one.expires_at === other.expires_at &&
    one.broker === other.broker &&
    one.venue === other.venue &&
    one.reduce_only === other.reduce_only
  );
}

function isSamePrice(one: string | undefined, other: string | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  const value = decimal.tryParse(one);
  return value !== undefined && value === decimal.tryParse(other);
}
