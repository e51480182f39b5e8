// The names and the order of a stop. All of them follow from the opening and the number of the attempt, so that whatever is done twice is done once.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Order } from "../../../contracts/src/records/order.ts";
import type { AssetClass } from "../../../contracts/src/records/values.ts";
import type { Sha256 } from "../../../ports/hashing.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { StopAttempt, StoredStop } from "../../../ports/stop-records.ts";
import { shortHash } from "../short-hash.ts";

export interface Opening {
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  readonly openedBy: string;
}

export function stopIdOf(sha256: Sha256, { fundId, strategyId, symbol, openedBy }: Opening): string {
  return `stop-${shortHash(sha256, [fundId, strategyId, symbol, openedBy])}`;
}

export function attemptOrderId(stopId: string, number: number): string {
  return `${stopId}-${number}`;
}

/** As order management knows us. */
const ownActor = "service:operations";

/** Whether an order with the name of an attempt is one: names can be guessed, so it is known by all that it says and by who handed it in. */
export function isAttempt(stored: StoredOrder | undefined, stop: StoredStop): stored is StoredOrder {
  if (stored === undefined || stored.submittedBy !== ownActor) return false;
  const { order } = stored;
  return (
    order.idempotency_key === order.order_id &&
    order.fund_id === stop.fundId &&
    order.strategy_id === stop.strategyId &&
    order.symbol === stop.symbol &&
    order.side === stop.side
  );
}

/** Good until cancelled: outside of trading hours it waits for the opening instead of running out before it. */
export function exitOrder(stop: StoredStop, attempt: StopAttempt, broker: string, assetClass: AssetClass): Order {
  return {
    idempotency_key: attempt.orderId,
    order_id: attempt.orderId,
    fund_id: stop.fundId,
    strategy_id: stop.strategyId,
    symbol: stop.symbol,
    side: stop.side,
    quantity: decimal.format(attempt.quantity),
    order_type: "MARKET",
    tif: "GTC",
    broker,
    asset_class: assetClass,
    actor: ownActor,
    thesis: `Synthetic stop ${stop.stopId}: ${decimal.format(stop.observedPrice)} has reached ${decimal.format(stop.triggerPrice)}.`,
    reduce_only: true,
  };
}
