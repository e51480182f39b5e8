// Which orders that a halt covers may still be with a broker. Order management cancels them (services/oms/halt-sweep.ts); here is only looked, at
// what the store says, because a cancel that was asked for proves nothing.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import { haltCovers, isProvenReduction, passesHalt } from "../../../core/orders/may-send.ts";
import { mayBeWithBroker } from "../../../core/orders/order-lifecycle.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Acknowledgement } from "./acknowledge.ts";

const namedMax = 5;

/** Looks once for all of these halts; what comes says it for each. */
export async function ordersLeft(
  { store, riskStore }: Pick<ServicePorts, "store" | "riskStore">,
  halts: readonly ActiveHalt[],
): Promise<(halt: ActiveHalt) => Acknowledgement> {
  try {
    const orders = await store.transact("halts.look", (unit) => unit.oms.openOrders());
    // What goes out in slices is never with a broker itself: its slices are.
    const working = orders.filter(
      ({ state, sliced, order }) =>
        mayBeWithBroker(state) && sliced !== true && halts.some((halt) => haltCovers(halt, order)),
    );
    const hasExits = working.some(({ order, decision }) => isProvenReduction(order, decision));
    const exits = new Map(
      hasExits ? (await riskStore.envelopes()).map((one) => [one.fund_id, one.halt_allow_reduce_only]) : [],
    );
    const mayStay = ({ order, decision }: StoredOrder): boolean =>
      exits.get(order.fund_id) === true &&
      halts.every((halt) => !haltCovers(halt, order) || passesHalt(order, decision, halt));
    const left = working.filter((order) => !mayStay(order));
    return (halt) =>
      outcomeOf(
        left.filter(({ order }) => haltCovers(halt, order)),
        working.length - left.length,
      );
  } catch (thrown) {
    if (thrown instanceof Defect) throw thrown;
    return () => ({ complaint: messageOf(thrown) });
  }
}

function outcomeOf(left: readonly StoredOrder[], exitCount: number): Acknowledgement {
  if (left.length === 0) {
    const exits = exitCount === 0 ? "" : ` ${exitCount} proven exits stay.`;
    return { proof: `No order that it covers is with a broker.${exits}` };
  }
  const named = left.slice(0, namedMax).map(({ order, state }) => `${order.order_id} (${state})`);
  return { complaint: `${left.length} orders may still be with a broker: ${named.join(", ")}.` };
}
