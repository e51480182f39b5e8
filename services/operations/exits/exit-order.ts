// The names and the order of an exit. All of them follow from what is owed and the number of the attempt, so that whatever is done twice is done once.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Order } from "../../../contracts/src/records/order.ts";
import type { AssetClass } from "../../../contracts/src/records/values.ts";
import { closingSide } from "../../../core/stops/synthetic-stops.ts";
import type { ExitAttempt } from "../../../ports/exit-attempt.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { OwedExit } from "./owed-exit.ts";

export function attemptOrderId(exitId: string, number: number): string {
  return `${exitId}-${number}`;
}

/** Both fills of a cross have it as their order_id; numbered, so that the same one is asked for until it is booked. */
export function crossIdOf(exitId: string, number: number): string {
  return `${exitId}-cross-${number}`;
}

/** As order management knows us. */
const ownActor = "service:operations";

/** Whether an order with the name of an attempt is one: names can be guessed, so it is known by all that it says and by who handed it in. */
export function isAttempt(stored: StoredOrder | undefined, exit: OwedExit): stored is StoredOrder {
  if (stored === undefined || stored.submittedBy !== ownActor) return false;
  const { order } = stored;
  return (
    order.idempotency_key === order.order_id &&
    order.fund_id === exit.fundId &&
    order.strategy_id === exit.strategyId &&
    order.symbol === exit.symbol &&
    order.side === closingSide(exit.quantity)
  );
}

interface ExitOrderTerms {
  readonly attempt: ExitAttempt;
  readonly broker: string;
  readonly assetClass: AssetClass;
  readonly thesis: string;
}

/** Good until cancelled: outside of trading hours it waits for the opening instead of running out before it. */
export function exitOrder(exit: OwedExit, { attempt, broker, assetClass, thesis }: ExitOrderTerms): Order {
  return {
    idempotency_key: attempt.orderId,
    order_id: attempt.orderId,
    fund_id: exit.fundId,
    strategy_id: exit.strategyId,
    symbol: exit.symbol,
    side: closingSide(exit.quantity),
    quantity: decimal.format(attempt.quantity),
    order_type: "MARKET",
    tif: "GTC",
    broker,
    asset_class: assetClass,
    actor: ownActor,
    thesis,
    reduce_only: true,
  };
}
