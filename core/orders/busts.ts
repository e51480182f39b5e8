// A fill that its publisher takes back. What it moved moves the other way, and nothing else does.
//
// Invariants (busts.test.ts names them):
//  1. Positions, of the fund, of the strategy and at the broker, are the sums of the fills that were not busted, whatever came first.
//  2. While an order is with a broker, what was busted of it may trade again, and is reserved: a venue may put it back. An ending frees it.
//  3. An order that is complete or has ended does not come back; whoever trades it again asks again.
import * as decimal from "../../contracts/src/decimal.ts";
import type { BookedFill, FillReversal } from "../../contracts/src/records/order.ts";
import type { Side } from "../../contracts/src/records/values.ts";
import { movePosition } from "../exposure/exposure.ts";
import * as amounts from "../money/amount.ts";
import { parseAmount } from "../money/amount.ts";
import { type Books, fundBookOf, symbolBookOf } from "../state/records.ts";
import { moveStrategyPosition } from "../state/strategy-positions.ts";
import { directionOf } from "../state/terms.ts";
import { noteBroker } from "./broker-holdings.ts";
import { type OrderBook, settle } from "./reservations.ts";

const otherSide: Readonly<Record<Side, Side>> = {
  BUY: "SELL",
  SELL: "BUY",
  SELL_SHORT: "BUY_TO_COVER",
  BUY_TO_COVER: "SELL_SHORT",
};

/** What takes the fill back, as it was booked. */
export function reversalOf(fill: BookedFill, bustId: string): FillReversal {
  const fee = fill.fee === undefined ? {} : { fee: decimal.format(decimal.negate(decimal.parse(fill.fee))) };
  return { ...fill, ...fee, side: otherSide[fill.side], kind: "BUST", bust_id: bustId };
}

/** Once, and after its fill; the shell asks its store. */
export function applyReversal(books: Books, orders: OrderBook, reversal: FillReversal): void {
  const quantity = parseAmount(reversal.quantity);
  const direction = directionOf(reversal.side);
  const fund = fundBookOf(books, reversal.fund_id);
  const book = symbolBookOf(books, reversal.symbol);
  const change = direction === 1 ? quantity : amounts.negated(quantity);
  moveStrategyPosition(books.strategyPositions, fund.id, reversal.strategy_id, reversal.symbol, change);
  movePosition(books, fund, book, change);
  noteBroker(books, reversal, undefined);
  const open = orders.open.get(reversal.order_id);
  // While the journal is read back an amendment may still find an order that is complete.
  const order = open ?? orders.unfilled.get(reversal.order_id) ?? orders.ended?.get(reversal.order_id);
  if (order === undefined || order.fund !== fund || order.book.symbol !== book.symbol) return;
  if (order.direction === direction) return;
  // A fill that came before its order was asked about is none of the order's.
  const taken = amounts.isMore(quantity, order.filled) ? order.filled : quantity;
  order.filled = amounts.minus(order.filled, taken);
  order.busted = amounts.plus(order.busted, taken);
  if (open !== undefined) settle(books, orders, open);
}
