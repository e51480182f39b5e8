// What the paper broker holds of a symbol for an account, and how a trade moves it.
import * as decimal from "../../contracts/src/decimal.ts";

export interface PaperPosition {
  readonly account: string;
  readonly symbol: string;
  /** Negative when short. */
  readonly quantity: decimal.Decimal;
  /** Weighted average of what opened it; zero when flat. */
  readonly averagePrice: decimal.Decimal;
}

/** Adding moves the average, taking away leaves it, and turning round begins anew at the trade's price. */
export function movePosition(held: PaperPosition, change: decimal.Decimal, price: decimal.Decimal): PaperPosition {
  const quantity = decimal.add(held.quantity, change);
  if (quantity === decimal.zero) return { ...held, quantity, averagePrice: decimal.zero };
  if (decimal.sign(quantity) !== decimal.sign(held.quantity)) return { ...held, quantity, averagePrice: price };
  if (decimal.sign(change) !== decimal.sign(held.quantity)) return { ...held, quantity };
  const value = decimal.add(
    decimal.multiply(held.quantity, held.averagePrice, "half-even"),
    decimal.multiply(change, price, "half-even"),
  );
  return { ...held, quantity, averagePrice: decimal.divide(value, quantity, "half-even") };
}
