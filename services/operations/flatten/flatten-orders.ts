// The orders that a flatten wants gone: whatever is open in its funds and is no exit, because an entry that trades after the fund was closed opens it
// again. They are asked for until each has ended, and what one of them traded meanwhile is closed as well. Order management takes no new entries
// in a fund while its flatten runs (services/oms/submitting.ts); one that was taken in at the moment when the flatten began is found here.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { FlattenOrder } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import { format } from "../../../contracts/src/instant.ts";
import { hasEnded } from "../../../core/orders/order-lifecycle.ts";
import type { StoredFlatten, StoredFlattenLine, StoredFlattenOrder } from "../../../ports/flatten-records.ts";
import type { StoredOrder, StoredPosition } from "../../../ports/oms-records.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../shared/service.ts";

/** A silent order management costs one wait for so many of them, not one for each. */
const atOnce = 16;
const own = "service:operations";

/** Those of these funds that are to go; `known` are on the list already. */
export async function ordersToCancel(
  unit: UnitOfWork,
  fundIds: readonly string[],
  known: readonly StoredFlattenOrder[] = [],
): Promise<readonly StoredFlattenOrder[]> {
  const names = new Set(known.map(({ orderId }) => orderId));
  const open = await unit.oms.openOrders();
  return open
    .filter((one) => fundIds.includes(one.order.fund_id) && !names.has(one.order.order_id) && !isExit(one))
    .map(({ order, filledQuantity }) => ({
      orderId: order.order_id,
      fundId: order.fund_id,
      strategyId: order.strategy_id,
      symbol: order.symbol,
      filledBefore: decimal.format(filledQuantity),
    }));
}

/** What the engine proved to reduce stays, marked or not; before it has answered only our own exits are known to be some. Only exits go out in slices. */
function isExit({ order, decision, sliced, parentOrderId, submittedBy }: StoredOrder): boolean {
  if (sliced === true || parentOrderId !== undefined) return true;
  if (decision === undefined) return order.reduce_only === true && submittedBy === own;
  return decision.approved && decision.classification === "REDUCE";
}

function unprovedOf({ fundIds, provedFundIds }: StoredFlatten): readonly string[] {
  return fundIds.filter((fundId) => !provedFundIds.includes(fundId));
}

/** Those that were open when it was asked, and those that are open now. */
async function ordersOf(unit: UnitOfWork, flatten: StoredFlatten): Promise<readonly StoredFlattenOrder[]> {
  const { orders = [] } = flatten;
  return [...orders, ...(await ordersToCancel(unit, unprovedOf(flatten), orders))];
}

/** Whether something of that fund is left to do about its orders. */
export async function owesOrders(unit: UnitOfWork, flatten: StoredFlatten, fundId: string): Promise<boolean> {
  for (const { orderId, fundId: of } of await ordersOf(unit, flatten)) {
    if (of !== fundId) continue;
    const stored = await unit.oms.order(orderId);
    if (stored !== undefined && !hasEnded(stored.state)) return true;
  }
  return false;
}

/** Positions of funds that are not proved flat yet, and that no open line closes. What strategies hold against each other needs no closing. */
export async function latePositions(
  unit: UnitOfWork,
  flatten: StoredFlatten,
  lines: readonly StoredFlattenLine[],
): Promise<readonly StoredPosition[]> {
  const late: StoredPosition[] = [];
  for (const fundId of unprovedOf(flatten)) {
    const held = await unit.oms.positions(fundId);
    const net = new Map<string, decimal.Decimal>();
    for (const { symbol, quantity } of held) {
      net.set(symbol, decimal.add(net.get(symbol) ?? decimal.zero, quantity));
    }
    const isLate = (one: StoredPosition): boolean =>
      one.quantity !== 0n && net.get(one.symbol) !== 0n && !lines.some((line) => isOwedFor(line, one));
    late.push(...held.filter(isLate));
  }
  return late;
}

/** Whether the line is there to close that position. */
export function isOwedFor(line: StoredFlattenLine, { fundId, strategyId, symbol }: StoredPosition): boolean {
  return line.fundId === fundId && line.strategyId === strategyId && line.symbol === symbol && line.ended === undefined;
}

interface OrderCanceller {
  /** Asks for those that nobody has asked for yet; gives how many have not ended. */
  cancel(flatten: StoredFlatten): Promise<number>;
  complaint(orderId: string): string | undefined;
}

interface OrderCancellerOptions {
  readonly ports: Pick<ServicePorts, "store" | "crash">;
  readonly orderManagement: OrderManagement;
  isEnding(): boolean;
}

export function createOrderCanceller({ ports, orderManagement, isEnding }: OrderCancellerOptions): OrderCanceller {
  const complaints = new Map<string, string>();

  async function ask({ order, cancelReason }: StoredOrder, flattenId: string): Promise<void> {
    if (cancelReason !== undefined) return;
    try {
      const answered = await orderManagement.cancel(order.order_id, `The flatten ${flattenId} closes the fund.`);
      if ("denial" in answered) complaints.set(order.order_id, `${answered.denial.code}: ${answered.denial.reason}`);
      else complaints.delete(order.order_id);
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      complaints.set(order.order_id, `order management does not take the request to cancel it (${messageOf(thrown)})`);
    }
  }

  const openOf = (flatten: StoredFlatten): Promise<readonly StoredOrder[]> =>
    ports.store.transact("flatten.look", async (unit) => {
      const found: StoredOrder[] = [];
      for (const { orderId } of await ordersOf(unit, flatten)) {
        const stored = await unit.oms.order(orderId);
        if (stored === undefined || hasEnded(stored.state)) complaints.delete(orderId);
        else found.push(stored);
      }
      return found;
    });

  return {
    complaint: (orderId) => complaints.get(orderId),
    async cancel(flatten) {
      const open = await openOf(flatten);
      for (let first = 0; first < open.length && !isEnding(); first += atOnce) {
        await Promise.all(open.slice(first, first + atOnce).map((one) => ask(one, flatten.flattenId)));
      }
      return open.length === 0 ? 0 : (await openOf(flatten)).length;
    },
  };
}

/** As order management has them now. */
export async function shownOrders(
  unit: UnitOfWork,
  flatten: StoredFlatten,
  complaint: (orderId: string) => string | undefined,
): Promise<FlattenOrder[]> {
  const shown: FlattenOrder[] = [];
  for (const { orderId, fundId, strategyId, symbol } of await ordersOf(unit, flatten)) {
    const stored = await unit.oms.order(orderId);
    const state = stored?.state ?? "CANCELLED";
    const waits = `it is ${state}, and the broker has not confirmed that it is gone`;
    const why = hasEnded(state) ? undefined : (complaint(orderId) ?? waits);
    shown.push({
      fund_id: fundId,
      strategy_id: strategyId,
      symbol,
      order_id: orderId,
      state,
      side: stored?.order.side ?? "",
      quantity: stored?.order.quantity ?? "",
      filled_quantity: decimal.format(stored?.filledQuantity ?? decimal.zero),
      ...(why !== undefined && { complaint: why }),
      at: format(stored?.updatedAt ?? flatten.at),
    });
  }
  return shown;
}
