// What a trade does to a position: quantity, what the current opening of it cost, average price, and what was won or lost by closing.
//
// Invariants (position-book.test.ts names them):
//  1. The quantity is the sum of the trades, bought less sold.
//  2. The average price is that of what opened the position: closing does not change it, and a trade that flips begins anew at its own price.
//  3. When the position is flat, the realised result is exactly what was received less what was paid, whatever was rounded on the way: what a
//     part of the position cost is taken from the whole, and the last part takes all that is left.

import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Side } from "../../contracts/src/records/values.ts";

export interface BookedPosition {
  /** Negative when short. */
  readonly quantity: Decimal;
  /** What the current opening cost in all, per unit of the multiplier: negative when short, zero when flat. */
  readonly cost: Decimal;
  readonly averagePrice: Decimal;
  readonly realisedPnl: Decimal;
  /** The trade with which it left zero the last time; empty before the first. */
  readonly openedBy: string;
}

interface BookedTrade {
  readonly fillId: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly price: Decimal;
  /** Of the instrument. */
  readonly multiplier: Decimal;
}

export const flatPosition: BookedPosition = {
  quantity: decimal.zero,
  cost: decimal.zero,
  averagePrice: decimal.zero,
  realisedPnl: decimal.zero,
  openedBy: "",
};

/** What the side adds to the position. */
export function signedQuantity(side: Side, quantity: Decimal): Decimal {
  return side === "BUY" || side === "BUY_TO_COVER" ? quantity : decimal.negate(quantity);
}

export function bookTrade(position: BookedPosition, trade: BookedTrade): BookedPosition {
  const change = signedQuantity(trade.side, trade.quantity);
  if (change === decimal.zero) return position;
  const before = position.quantity;
  const isOpening = before === decimal.zero || decimal.sign(before) === decimal.sign(change);
  if (isOpening) return opened(position, change, trade);
  const closing = decimal.min(decimal.abs(change), decimal.abs(before));
  const closed = closePart(position, closing, trade);
  const rest = decimal.subtract(decimal.abs(change), closing);
  if (rest === decimal.zero) return closed;
  return opened(closed, decimal.sign(change) === 1 ? rest : decimal.negate(rest), trade);
}

function opened(position: BookedPosition, change: Decimal, { price, fillId }: BookedTrade): BookedPosition {
  const quantity = decimal.add(position.quantity, change);
  const cost = decimal.add(position.cost, decimal.multiply(change, price, "half-even"));
  return {
    ...position,
    quantity,
    cost,
    averagePrice: decimal.divide(cost, quantity, "half-even"),
    openedBy: position.quantity === decimal.zero ? fillId : position.openedBy,
  };
}

function closePart(position: BookedPosition, closing: Decimal, { price, multiplier }: BookedTrade): BookedPosition {
  const isWhole = closing === decimal.abs(position.quantity);
  const isLong = decimal.sign(position.quantity) === 1;
  const part = isLong ? closing : decimal.negate(closing);
  const costPart = isWhole ? position.cost : partOf(position, part);
  const received = decimal.multiply(part, price, "half-even");
  const gain = decimal.multiply(decimal.subtract(received, costPart), multiplier, "half-even");
  const quantity = decimal.subtract(position.quantity, part);
  return {
    ...position,
    quantity,
    cost: decimal.subtract(position.cost, costPart),
    averagePrice: isWhole ? decimal.zero : position.averagePrice,
    realisedPnl: decimal.add(position.realisedPnl, gain),
  };
}

/** What a part of the position cost, by the average. */
function partOf({ averagePrice }: BookedPosition, part: Decimal): Decimal {
  return decimal.multiply(part, averagePrice, "half-even");
}

/** Worth at a price, and what would be won by closing there. */
export function valued(
  position: Pick<BookedPosition, "quantity" | "cost">,
  price: Decimal,
  multiplier: Decimal,
): { readonly value: Decimal; readonly unrealisedPnl: Decimal } {
  const notional = decimal.multiply(position.quantity, price, "half-even");
  return {
    value: decimal.multiply(notional, multiplier, "half-even"),
    unrealisedPnl: decimal.multiply(decimal.subtract(notional, position.cost), multiplier, "half-even"),
  };
}
