// An exit exits what is its own: a marked exit that is larger than what its strategy holds, net of the strategy's other exits, is cut to that before the risk
// engine is asked, which never changes a quantity itself. Read in the transaction that takes the order in, with the strategy's position locked, so that of
// two exits that come at once the second sees the first. With nothing left to exit the order stays as it was asked, and the engine says why not.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import { signedQuantity } from "../../core/ledger/position.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { remainingOf } from "./transitions.ts";

/** Exits of stops and of a flattened fund, whose sizes follow the positions: names that nobody else may give. */
const sizedBeginnings = ["stop-", "flatten-"] as const;

/** The order as it goes on; with the quantity that was asked and the reason when it was cut. */
interface OwnExit {
  readonly order: Order;
  readonly cut?: { readonly cutFrom: string; readonly reason: string };
}

export async function ownExit(unit: UnitOfWork, order: Order): Promise<OwnExit> {
  const { fund_id: fundId, strategy_id: strategyId, symbol, order_id: orderId } = order;
  if (order.reduce_only !== true || sizedBeginnings.some((beginning) => orderId.startsWith(beginning)))
    return { order };
  const held = (await unit.oms.lockPosition(fundId, strategyId, symbol))?.quantity ?? decimal.zero;
  const exits = (await unit.oms.openOrders()).filter((other) => mayCloseFirst(other, order));
  const exiting = exits.reduce((sum, other) => decimal.add(sum, remainingOf(other)), decimal.zero);
  const asked = decimal.parse(order.quantity);
  const left = decimal.subtract(opposite(order, held), exiting);
  if (left <= decimal.zero || asked <= left) return { order };
  const { notional, ...terms } = order;
  const cut = { cutFrom: order.quantity, reason: reasonOf(order, held, exiting, left) };
  return { order: { ...terms, quantity: decimal.format(left) }, cut };
}

/** What the order's side could close of it; negative when it would add to it. */
function opposite({ side }: Order, held: Decimal): Decimal {
  return signedQuantity(side, decimal.one) > decimal.zero ? decimal.negate(held) : held;
}

/** Whatever else of the strategy trades that way, marked or not, as the engine counts it; an order in slices counts whole. */
function mayCloseFirst({ order: other, parentOrderId }: StoredOrder, order: Order): boolean {
  return (
    parentOrderId === undefined &&
    other.order_id !== order.order_id &&
    other.fund_id === order.fund_id &&
    other.strategy_id === order.strategy_id &&
    other.symbol === order.symbol &&
    signedQuantity(other.side, decimal.one) === signedQuantity(order.side, decimal.one)
  );
}

function reasonOf({ quantity, strategy_id, symbol }: Order, held: Decimal, exiting: Decimal, left: Decimal): string {
  const others =
    exiting === decimal.zero ? "" : `, of which its other open orders may close ${decimal.format(exiting)}`;
  const holds = `the strategy ${strategy_id} holds ${decimal.format(held)} ${symbol}${others}`;
  return `The exit was cut from ${quantity} to ${decimal.format(left)}: ${holds}.`;
}
