// Whose an order of ours is: of the machine that handed it in, or of the one that an admin gave its orders to. Only that machine cancels and amends it, beside
// people and our own services, who act on every order. What a person or an alert brought is no machine's.
import type { Denial } from "../../../contracts/src/codes.ts";
import { isOwnSource, machineOfActor } from "../../../contracts/src/platform-services.ts";
import { ownerOf } from "../../../core/orders/order-owner.ts";
import type { Identity } from "../../../ports/identity.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { OmsPorts } from "../oms-parts.ts";

type Speaker = Pick<Identity, "kind" | "name">;

const mayTouchAll = ({ kind, name }: Speaker): boolean => kind !== "service" || isOwnSource(name);

/** Whether the order is the speaker's to ask about and to change. */
export async function isOwn(
  unit: Pick<UnitOfWork, "foreign">,
  { order: { order_id: orderId }, submittedBy, createdAt }: Pick<StoredOrder, "order" | "submittedBy" | "createdAt">,
  speaker: Speaker,
): Promise<boolean> {
  if (mayTouchAll(speaker)) return true;
  const handOvers = await unit.foreign.handOvers([orderId]);
  return ownerOf(orderId, machineOfActor(submittedBy), createdAt, handOvers) === speaker.name;
}

/** Undefined when it may, and when there is no such order. */
export async function whyNotYours(
  { store }: Pick<OmsPorts, "store">,
  orderId: string,
  { kind, name }: Speaker,
): Promise<Denial | undefined> {
  if (mayTouchAll({ kind, name })) return undefined;
  const isTheirs = await store.transact("oms.look", async (unit) => {
    const stored = await unit.oms.order(orderId);
    return stored === undefined || isOwn(unit, stored, { kind, name });
  });
  if (isTheirs) return undefined;
  const reason = `Order ${orderId} was handed in by somebody else: only they, people and the platform itself cancel and amend it.`;
  return { code: "ORDER_NOT_YOURS", reason };
}
