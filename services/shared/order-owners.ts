// Whose orders are, for every service that hears what foreign programs report: read from the journal and from what was handed over, so that all of them and the
// door say the same.
import { sourceOfActor } from "../../contracts/src/platform-services.ts";
import { foreignKindOf } from "../../core/foreign/judge-event.ts";
import type { OrderStanding } from "../../core/foreign/judge-order.ts";
import { ownerOf } from "../../core/orders/order-owner.ts";
import type { BusEvent } from "../../ports/bus.ts";
import { foreignSourceOf, isUnpairedLogin, numberedBy } from "./foreign-intake.ts";
import type { ServicePorts } from "./service.ts";

/** What is known of an order, whoever speaks of it. */
export type OrderOwners = Pick<OrderStanding, "owners" | "isUnclaimed">;

const nobody: OrderOwners = { owners: [], isUnclaimed: false };

/** Of each of these orders; one that nobody asked about is nobody's. */
export async function ownersOf(
  { riskStore, store }: Pick<ServicePorts, "riskStore" | "store">,
  orderIds: readonly string[],
): Promise<(orderId: string) => OrderOwners> {
  const ids = [...new Set(orderIds)];
  const asked = ids.length === 0 ? [] : await riskStore.askers(ids);
  if (asked.length === 0) return () => nobody;
  const handOvers = await store.transact("foreign.look", (unit) => unit.foreign.handOvers(ids), {
    isOneStatement: true,
  });
  const owned = new Map<string, OrderOwners>();
  for (const { orderId, askedBy, at } of asked) {
    const owner = ownerOf(orderId, sourceOfActor(askedBy), at, handOvers) ?? "";
    const before = owned.get(orderId) ?? nobody;
    const owners = owner === "" || before.owners.includes(owner) ? before.owners : [...before.owners, owner];
    owned.set(orderId, { owners, isUnclaimed: before.isUnclaimed || owner === "" });
  }
  return (orderId) => owned.get(orderId) ?? nobody;
}

/** Of a foreign event the order that it is about; undefined for values, prices and events of ours. */
export function orderIdOf({ subject, payload }: Pick<BusEvent, "subject" | "payload">): string | undefined {
  const kind = foreignKindOf(subject);
  if (kind !== "orders" && kind !== "fills") return undefined;
  return (payload as { readonly order_id: string }).order_id;
}

/** What an event from the bus is judged by. */
export function orderStanding(
  event: Pick<BusEvent, "source" | "subject" | "login">,
  owners: OrderOwners,
): OrderStanding {
  const login = event.login === undefined ? undefined : numberedBy(event);
  return { source: foreignSourceOf(event), isUnpaired: isUnpairedLogin(event), login, ...owners };
}
