// What it means for the open orders of a strategy when an operator pauses it (`shadow`, `halted`) or a watchdog restricts it to reductions (`SHADOW`): they
// are cancelled, whoever handed them in, also those that no broker has yet. Marked exits that the risk engine proved stay, and so do, under a watchdog's
// restriction, orders that it proved to reduce and that reduce what the strategy itself holds. The strategy is read when the word of the change is heard:
// one that trades again by then keeps its orders.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { StrategyStatus } from "../../../contracts/src/records/values.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type EffectiveStrategy, effectiveStrategy, reductionsOf } from "../../../core/blocks/effective-strategy.ts";
import { isProvenReduction } from "../../../core/orders/may-send.ts";
import type { Subscription } from "../../../ports/bus.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { Cancelling } from "../cancelling.ts";
import type { OmsPorts } from "../oms-parts.ts";
import { remainingOf } from "../transitions.ts";

/** Both events name the strategy. */
interface Changed {
  readonly fund_id?: string;
  readonly strategy_id?: string;
}

export function sweepStrategies(ports: OmsPorts, cancelling: Cancelling): Promise<Subscription> {
  const names = [subjects.strategyChanged.name, subjects.watchdogStrategy.name];
  return ports.bus.subscribe({ name: "oms.strategies", subjects: names }, async ({ payload }) => {
    const { fund_id: fundId, strategy_id: strategyId } = payload as Changed;
    if (fundId === undefined || strategyId === undefined) return;
    const swept = await ports.store.transact("oms.look", (unit) => toCancel(unit, fundId, strategyId));
    for (const { orderId, reason } of swept) await cancelling.request(orderId, reason);
  });
}

interface ToCancel {
  readonly orderId: string;
  readonly reason: string;
}

async function toCancel(unit: UnitOfWork, fundId: string, strategyId: string): Promise<readonly ToCancel[]> {
  const known = (await unit.research.strategies()).find(
    (one) => one.strategyId === strategyId && one.fundId === fundId,
  );
  // One that research does not run is live as far as people are concerned; a watchdog may restrict it all the same.
  const status: StrategyStatus = known?.status ?? "live";
  const restrictions = await unit.restrictions.listOpen();
  const strategy = effectiveStrategy({ strategyId, fundId, status, allocationPct: 0 }, restrictions);
  if (strategy.status === "live") return [];
  const held = (await unit.oms.positions(fundId)).filter((one) => one.strategyId === strategyId);
  const positions = new Map(held.map(({ symbol, quantity }) => [symbol, quantity]));
  const shadow = restrictions.find(
    (one) => one.kind === "SHADOW" && one.fundId === fundId && one.strategyId === strategyId,
  );
  const why = strategy.onlyReduces
    ? `restricted to reductions by ${shadow?.watchdog ?? "a watchdog"}`
    : `paused (${status})`;
  const reason = `The strategy ${strategyId} is ${why}.`;
  return (await unit.oms.openOrders())
    .filter(({ order }) => order.fund_id === fundId && order.strategy_id === strategyId)
    .filter((stored) => !maySurvive(stored, strategy, positions))
    .map(({ order }) => ({ orderId: order.order_id, reason }));
}

function maySurvive(
  stored: StoredOrder,
  { onlyReduces }: EffectiveStrategy,
  positions: ReadonlyMap<string, decimal.Decimal>,
): boolean {
  const { order, decision, state, sliced, cancelReason } = stored;
  // The slices of an order speak for it.
  if (sliced === true || cancelReason !== undefined) return true;
  // Whether a marked exit is one is being asked.
  if (state === "PENDING_CHECK" && order.reduce_only === true) return true;
  if (isProvenReduction(order, decision)) return true;
  if (!onlyReduces || decision?.approved !== true || decision.classification !== "REDUCE") return false;
  return reductionsOf([{ ...order, quantity: decimal.format(remainingOf(stored)) }], positions).length > 0;
}
