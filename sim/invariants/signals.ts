// What must be true of alerts of a charting platform, however often their sender resends them and whatever is killed in between.
import type { OrderCreated } from "../../contracts/src/records/order.ts";
import type { SignalFailed, SignalReceived } from "../../contracts/src/records/signal.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Evidence } from "../evidence.ts";
import type { ReportedAlert } from "../signal-history.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

const keyWindowUs = 300_000_000;

/** Slices are named after their order, behind a slash. */
const isOfAlert = ({ order_id: id }: OrderCreated): boolean => id.startsWith("tv-") && !id.includes("/");

export const alertsTradeOnce: Invariant = {
  name: "alerts_trade_once",
  sentence:
    "An alert is accepted once and becomes at most one order, or it ends and becomes none, because its sender resends whatever got no answer.",
  violated(evidence) {
    const { reported, past, settled } = evidence;
    if (reported === undefined) {
      return settled ? first(past.alerts.values(), (alert) => withoutEnd(evidence, alert)) : undefined;
    }
    return (
      onMessage<SignalReceived>(evidence, subjects.signalReceived, (received, { at }) =>
        takenBefore(evidence, received, at),
      ) ??
      onMessage<OrderCreated>(evidence, subjects.ordersCreated, (order) => {
        if (!isOfAlert(order)) return undefined;
        const alert = past.alerts.get(order.order_id);
        if (alert === undefined) return `${order.order_id} is an order of no accepted alert`;
        return alert.failed ? `${order.order_id} was created after its alert had ended without an order` : undefined;
      }) ??
      onMessage<SignalFailed>(evidence, subjects.signalFailed, ({ order_id: id, status }) =>
        status === "FAILED" && past.orders.has(id)
          ? `the alert of ${id} is said to be no order, and it is one`
          : undefined,
      )
    );
  },
};

function takenBefore(
  { past }: Evidence,
  { fund_id: fund, idempotency_key: key, signal_id: id }: SignalReceived,
  at: number,
) {
  return first(past.alerts.values(), (other) => {
    const { received } = other;
    const isSame = received.fund_id === fund && received.idempotency_key === key && received.signal_id !== id;
    return isSame && at - other.at < keyWindowUs
      ? `${id} was accepted under the key ${key} of ${fund}, which ${received.signal_id} had taken`
      : undefined;
  });
}

function withoutEnd({ past }: Evidence, { received, failed }: ReportedAlert): string | undefined {
  const isDone = failed || past.orders.has(received.order_id);
  return isDone ? undefined : `the accepted alert ${received.signal_id} has neither an order nor an end`;
}

export const alertsInOrder: Invariant = {
  name: "alerts_in_order",
  sentence:
    "Alerts of one fund and symbol become orders in order of receipt, each when the one before was sent or has ended, because an exit that overtakes its entry leaves a position that nobody wanted.",
  violated(evidence) {
    return onMessage<OrderCreated>(evidence, subjects.ordersCreated, (order) => {
      const { past } = evidence;
      const own = past.alerts.get(order.order_id);
      if (!isOfAlert(order) || own === undefined) return undefined;
      for (const earlier of past.alerts.values()) {
        if (earlier === own) return undefined;
        const isItsLane =
          earlier.received.fund_id === own.received.fund_id && earlier.received.symbol === own.received.symbol;
        if (!isItsLane || earlier.failed) continue;
        const { signal_id: id, order_id: orderId } = earlier.received;
        const state = past.orders.get(orderId)?.state;
        if (state === undefined)
          return `${order.order_id} was handed in before ${orderId}, whose alert ${id} came first`;
        if (state === "PENDING_CHECK" || state === "ACCEPTED") {
          return `${order.order_id} was handed in while ${orderId}, whose alert came first, was ${state}`;
        }
      }
      return undefined;
    });
  },
};
