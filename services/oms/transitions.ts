// One step in an order's life, as one write with its event. The table of core/orders/order-lifecycle.ts says which step may follow; what it does not
// know changes nothing. Every event of an order is written here.
import type { AlarmCode } from "../../contracts/src/codes/alarms.ts";
import { alarms } from "../../contracts/src/codes/alarms.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { OrderTransition } from "../../contracts/src/records/order.ts";
import type { OrderState } from "../../contracts/src/records/values.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { hasEnded, nextState, type OrderEvent } from "../../core/orders/order-lifecycle.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { line } from "../shared/one-line.ts";

export type OrderChanges = Partial<
  Pick<
    StoredOrder,
    | "order"
    | "filledQuantity"
    | "filledValue"
    | "decision"
    | "brokerOrderId"
    | "cancelReason"
    | "amendment"
    | "settledAmendments"
    | "sliced"
    | "code"
    | "reason"
  >
>;

/** Moves a locked order on; the order as it is then, which is the same one when the event says nothing about it. */
export async function move(
  unit: UnitOfWork,
  stored: StoredOrder,
  event: OrderEvent,
  at: Instant,
  changes: OrderChanges = {},
  more?: Pick<OrderTransition, "cancel_asked_by">,
): Promise<StoredOrder> {
  const to = nextState(stored.state, event);
  if (to === undefined) return stored;
  return write(unit, stored, to, at, changes, more);
}

/** Changes something about a locked order and leaves its state as it is. */
export function note(
  unit: UnitOfWork,
  stored: StoredOrder,
  at: Instant,
  changes: OrderChanges,
  more?: Pick<OrderTransition, "dropped_amendment_key" | "cancel_asked_by">,
): Promise<StoredOrder> {
  return write(unit, stored, stored.state, at, changes, more);
}

async function write(
  unit: UnitOfWork,
  stored: StoredOrder,
  to: OrderState,
  at: Instant,
  changes: OrderChanges,
  more: Partial<OrderTransition> = {},
): Promise<StoredOrder> {
  const reason = changes.reason === undefined ? {} : { reason: line(changes.reason, 2_000) };
  const moved: StoredOrder = { ...stored, ...changes, ...reason, state: to, updatedAt: at };
  await unit.oms.updateOrder(moved);
  await unit.events.publish(subjectOf(stored.state, to), { ...transitionOf(stored, moved), ...more });
  return moved;
}

/** An order that has ended before is only updated: it does not end twice. */
function subjectOf(from: OrderState, to: OrderState): Subject<OrderTransition> {
  if (from === to) return subjects.ordersUpdated;
  if (to === "ACCEPTED") return subjects.ordersAccepted;
  if (to === "REJECTED") return subjects.ordersRejected;
  if (to === "CANCELLED") return subjects.ordersCancelled;
  if (to === "EXPIRED") return subjects.ordersExpired;
  return subjects.ordersUpdated;
}

/** Terms are told when they changed, and when the order goes out: that is what ends an amendment in the risk engine. */
export function transitionOf(before: Pick<StoredOrder, "state" | "order">, after: StoredOrder): OrderTransition {
  const { order, decision } = after;
  const termsChanged = before.order !== order;
  return {
    order_id: order.order_id,
    fund_id: order.fund_id,
    strategy_id: order.strategy_id,
    symbol: order.symbol,
    from: before.state,
    to: after.state,
    filled_quantity: decimal.format(after.filledQuantity),
    remaining_quantity: decimal.format(remainingOf(after)),
    ...(termsChanged && {
      quantity: order.quantity,
      ...(order.limit_price !== undefined && { limit_price: order.limit_price }),
      ...(order.stop_price !== undefined && { stop_price: order.stop_price }),
    }),
    ...(decision !== undefined && { decision_id: decision.decision_id }),
    ...(after.brokerOrderId !== undefined && { broker_order_id: after.brokerOrderId }),
    ...(after.parentOrderId !== undefined && { parent_order_id: after.parentOrderId }),
    ...(after.code !== undefined && { code: after.code }),
    ...(after.reason !== undefined && { reason: after.reason }),
    at: format(after.updatedAt),
  };
}

/** What may still trade. */
export function remainingOf({ order, filledQuantity, state }: StoredOrder): decimal.Decimal {
  if (hasEnded(state)) return decimal.zero;
  return decimal.max(decimal.subtract(decimal.parse(order.quantity), filledQuantity), decimal.zero);
}

/** Reported in the transaction that found it. */
export async function alarm(
  unit: UnitOfWork,
  code: AlarmCode,
  about: string,
  sentence: string,
  at: Instant,
): Promise<void> {
  await unit.events.publish(subjects.alarmRaised, {
    code,
    level: alarms[code].level,
    service: "oms",
    sentence: line(sentence, 2_000),
    facts: { about },
    at: format(at),
  });
}
