// An order that is open, has ended lately or ran out unsent belongs to the source that asked for it: whoever else asks under its id changes nothing of it, and
// is told so by the gate schema.
import { sourceOfActor } from "../../contracts/src/platform-services.ts";
import type { FundView } from "../state/view.ts";
import { rememberedOrder } from "./ended-orders.ts";
import { type HandOver, ownerOf } from "./order-owner.ts";
import type { OrderBook } from "./reservations.ts";
import type { Asker } from "./waiting-exits.ts";

interface OwnedOrders {
  readonly orders: OrderBook;
  readonly handOvers: readonly HandOver[];
}

/** The source that an order which is remembered belongs to; undefined for any other, and where nobody knows who asked. */
export function ownerOfOrder({ orders, handOvers }: OwnedOrders, orderId: string): string | undefined {
  const asked = orders.open.get(orderId) ?? rememberedOrder(orders, orderId) ?? orders.open.endedOrder(orderId);
  if (asked === undefined) return undefined;
  return ownerOf(orderId, sourceOfActor(asked.askedBy), asked.approvedAt, handOvers) || undefined;
}

export function keepToOwner(view: FundView, state: OwnedOrders, orderId: string, asker: Asker): void {
  if (asker.actor === "" || (!view.amends && !state.orders.expired.has(orderId))) return;
  const owner = ownerOfOrder(state, orderId);
  if (owner === undefined || owner === sourceOfActor(asker.actor)) return;
  view.amends = true;
  view.amendsAnother = true;
  view.amendRefusal = "not yours";
  view.lowers = false;
}
