// An order's terms, and whether it is over, in the words of every face.
import type { AnswerOf } from "../client/src/types.ts";

type OrderStatus = AnswerOf<"getOrder">;

const endedStates: ReadonlySet<OrderStatus["state"]> = new Set(["FILLED", "CANCELLED", "EXPIRED", "REJECTED"]);

export function isOpen({ state }: Pick<OrderStatus, "state">): boolean {
  return !endedStates.has(state);
}

/** "BUY 10 AAPL LIMIT 187.5 DAY, reduce only". */
export function termsText({ order }: Pick<OrderStatus, "order">): string {
  const prices = [order.limit_price, order.stop_price === undefined ? undefined : `stop ${order.stop_price}`];
  const words = [order.side, order.quantity, order.symbol, order.order_type, ...prices, order.tif];
  const spoken = words.filter((word) => word !== undefined).join(" ");
  return order.reduce_only === true ? `${spoken}, reduce only` : spoken;
}
