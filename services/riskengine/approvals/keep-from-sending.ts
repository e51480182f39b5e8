// Before an approval is released, order management is kept from sending it: freed room must not be in the market as well. Both work under the lock of
// the order in the store. Either the order was let out first, and nothing is released, or the note is there first, and nothing is let out.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { OrderState } from "../../../contracts/src/records/values.ts";
import { hasEnded } from "../../../core/orders/order-lifecycle.ts";
import type { Unsent } from "../../../core/orders/unsent-approvals.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";

type Ports = Pick<ServicePorts, "store" | "timers" | "log">;

/** "sent" when it may be with the broker already. An order that our order management does not have is its owner's business. */
export function keepFromSending(ports: Ports, orderId: string, unsent: Unsent): Promise<"kept" | "sent"> {
  return transactToKnownEnd(ports, "risk.approval-note", async (unit) => {
    const stored = await unit.oms.lockOrder(orderId);
    if (stored === undefined) return "kept";
    if (wasLetOut(stored, unsent)) return "sent";
    const { releasedThrough } = stored;
    const isNoted = releasedThrough !== undefined && releasedThrough >= unsent.through;
    if (!isNoted && !hasEnded(stored.state)) await unit.oms.updateOrder({ ...stored, releasedThrough: unsent.through });
    return "kept";
  });
}

/** States that only an order has that order management has let out. */
const letOut: ReadonlySet<OrderState> = new Set([
  "ROUTED",
  "WORKING",
  "PARTIALLY_FILLED",
  "CANCEL_PENDING",
  "UNKNOWN",
  "FILLED",
]);

function wasLetOut(stored: StoredOrder, { what, keys }: Unsent): boolean {
  if (what === "ORDER") return letOut.has(stored.state) || stored.filledQuantity > decimal.zero;
  const { amendment, settledAmendments = [] } = stored;
  if (amendment?.handedAt !== undefined) return true;
  // One without a key stands for several: any of those in force may be among them.
  const isAny = keys.includes(undefined);
  return settledAmendments.some(({ idempotency_key: key, denial }) => {
    return denial === undefined && (isAny || keys.includes(key));
  });
}
