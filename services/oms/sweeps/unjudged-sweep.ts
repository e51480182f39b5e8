// What it means for orders that are with a broker when a fund's losses could not be judged in full for a minute: those that add risk are cancelled, and
// asked for until the broker has said that they are gone. What the risk engine proved to reduce stays, marked or not, and so does every exit.
import type { LossesUnjudged } from "../../../contracts/src/records/halt.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { mayBeWithBroker } from "../../../core/orders/order-lifecycle.ts";
import type { Subscription } from "../../../ports/bus.ts";
import type { Cancelling } from "../cancelling.ts";
import type { OmsPorts } from "../oms-parts.ts";

export function sweepUnjudged(ports: OmsPorts, cancelling: Cancelling): Promise<Subscription> {
  const options = { name: "oms.unjudged", subjects: [subjects.lossesUnjudged.name] };
  return ports.bus.subscribe(options, async ({ payload }) => {
    const { fund_id: fundId, reason } = payload as LossesUnjudged;
    const open = await ports.store.transact("oms.look", (unit) => unit.oms.openOrders());
    for (const { order, decision, state, sliced, cancelReason } of open) {
      // What is not with a broker yet has an approval that ran out long ago; the slices of an order speak for it.
      if (order.fund_id !== fundId || sliced === true || cancelReason !== undefined || !mayBeWithBroker(state))
        continue;
      if (decision?.approved === true && decision.classification === "REDUCE") continue;
      await cancelling.request(order.order_id, reason);
    }
  });
}
