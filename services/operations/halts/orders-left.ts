// Which orders that a halt covers may still be with a broker. Order management cancels ours (services/oms/sweeps/halt-sweep.ts), a foreign one its own; here is only
// looked, at what the store says of ours and the risk engine of theirs, because a cancel that was asked for proves nothing.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import { haltCancelReason } from "../../../core/orders/halt-cancel-reason.ts";
import { haltCovers, isProvenReduction, passesHalt } from "../../../core/orders/may-send.ts";
import { mayBeWithBroker } from "../../../core/orders/order-lifecycle.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Acknowledgement } from "./acknowledge.ts";
import { type ForeignOrder, foreignOrders, type Reservations, waitingFor } from "./foreign-left.ts";

const namedMax = 5;
/** A foreign system hears the halt, cancels, hears its broker and reports; then it alarms. */
const foreignMsMax = 45_000;

/** Looks once for all of these halts; what comes says it for each. */
export async function ordersLeft(
  ports: Pick<ServicePorts, "store" | "riskStore"> & Reservations,
  halts: readonly ActiveHalt[],
): Promise<(halt: ActiveHalt) => Acknowledgement> {
  const { store, riskStore } = ports;
  try {
    const foreign = (await foreignOrders(ports)).filter((order) =>
      halts.some((halt) => haltCovers(halt, scopeOf(order))),
    );
    const { orders, cancelled } = await store.transact("halts.look", async (unit) => ({
      orders: await unit.oms.openOrders(),
      cancelled: await cancelledFor(unit, halts),
    }));
    // What goes out in slices is never with a broker itself: its slices are.
    const working = orders.filter(
      ({ state, sliced, order }) =>
        mayBeWithBroker(state) && sliced !== true && halts.some((halt) => haltCovers(halt, order)),
    );
    const hasExits =
      foreign.some(({ isExit }) => isExit) || working.some(({ order, decision }) => isProvenReduction(order, decision));
    const exits = new Map(
      hasExits ? (await riskStore.envelopes()).map((one) => [one.fund_id, one.halt_allow_reduce_only]) : [],
    );
    const mayStay = ({ order, decision }: StoredOrder): boolean =>
      exits.get(order.fund_id) === true &&
      halts.every((halt) => !haltCovers(halt, order) || passesHalt(order, decision, halt));
    const left = working.filter((order) => !mayStay(order));
    // Whether a foreign exit reduces its own strategy's position is not known here: under a strategy's halt it counts.
    const theyMayKeep = (order: ForeignOrder): boolean =>
      order.isExit &&
      exits.get(order.fundId) === true &&
      halts.every((halt) => halt.severity !== "STRATEGY_HALT" || !haltCovers(halt, scopeOf(order)));
    const theirs = foreign.filter((order) => !theyMayKeep(order));
    const exitCount = working.length - left.length + (foreign.length - theirs.length);
    return (halt) =>
      outcomeOf(
        left.filter(({ order }) => haltCovers(halt, order)),
        theirs.filter((order) => haltCovers(halt, scopeOf(order))),
        exitCount,
        cancelled.get(halt.halt_id) ?? 0,
      );
  } catch (thrown) {
    if (thrown instanceof Defect) throw thrown;
    return () => ({ complaint: messageOf(thrown) });
  }
}

async function cancelledFor(
  unit: Pick<UnitOfWork, "oms">,
  halts: readonly ActiveHalt[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { halt_id: id } of halts) counts.set(id, await unit.oms.cancelledFor(haltCancelReason(id)));
  return counts;
}

const scopeOf = ({ fundId, strategyId }: ForeignOrder) => ({ fund_id: fundId, strategy_id: strategyId });

function outcomeOf(
  left: readonly StoredOrder[],
  theirs: readonly ForeignOrder[],
  exitCount: number,
  cancelled: number,
): Acknowledgement {
  const waiting = waitingFor(theirs);
  if (left.length === 0 && waiting !== "") return { complaint: `${waiting}.`, patienceMs: foreignMsMax };
  if (left.length === 0) {
    const exits = exitCount === 0 ? "" : ` ${exitCount} proven exits stay.`;
    const gone = cancelled === 1 ? "1 order was cancelled" : `${cancelled} orders were cancelled`;
    return { proof: `No order that it covers is with a broker; ${gone}.${exits}` };
  }
  const named = left.slice(0, namedMax).map(({ order, state }) => `${order.order_id} (${state})`);
  const also = waiting === "" ? "" : ` And ${waiting}.`;
  return { complaint: `${left.length} orders may still be with a broker: ${named.join(", ")}.${also}` };
}
