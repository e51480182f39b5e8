// What a broker's answer about an order changes. Trades are booked from reports alone, so an answer that tells of trades which were not
// reported yet ends nothing: it says that the broker has the order, and the reports bring the rest.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { OrderEvent } from "../../core/orders/order-lifecycle.ts";
import type { BrokerOrderState, BrokerOrderStatus } from "../../ports/broker.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { move, note, type OrderChanges } from "./transitions.ts";

const eventOf: Readonly<Record<BrokerOrderState, OrderEvent>> = {
  WORKING: "acknowledge",
  PARTIALLY_FILLED: "acknowledge",
  // Everything that it traded is booked and that is all of it, whatever quantity we believed in.
  FILLED: "fill_whole",
  CANCELLED: "broker_cancel",
  EXPIRED: "broker_expire",
  REJECTED: "broker_reject",
};

/** Takes in what the broker says of a locked order. */
export async function learn(
  unit: UnitOfWork,
  stored: StoredOrder,
  status: BrokerOrderStatus,
  at: Instant,
): Promise<StoredOrder> {
  const isBooked = status.filledQuantity <= stored.filledQuantity;
  const event = isBooked ? eventOf[status.state] : "acknowledge";
  const named: OrderChanges = stored.brokerOrderId === undefined ? { brokerOrderId: status.brokerOrderId } : {};
  const moved = await move(unit, stored, event, at, { ...named, ...wordsOf(status, event, stored) });
  if (moved !== stored || named.brokerOrderId === undefined) return moved;
  return note(unit, stored, at, named);
}

function wordsOf(status: BrokerOrderStatus, event: OrderEvent, stored: StoredOrder): OrderChanges {
  if (event === "broker_reject") {
    const reason = status.reason ?? `The broker refused ${status.clientOrderId}.`;
    return { code: "ORDER_BROKER_REJECTED", reason };
  }
  if (event === "broker_cancel" && stored.cancelReason !== undefined) return { reason: stored.cancelReason };
  if (event === "broker_cancel" && status.reason !== undefined) return { reason: status.reason };
  return {};
}

/** Whether the broker reported trades that no report has brought yet. */
export function hasUnreported(stored: StoredOrder, status: BrokerOrderStatus): boolean {
  return decimal.compare(status.filledQuantity, stored.filledQuantity) > 0;
}
