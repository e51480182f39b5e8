// How an exit that is worth more than a fund's largest order is cut: slices of whole lots, none worth more than that at the price of the moment,
// as long as there are not too many of them.

import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";

interface Exit {
  /** What is still to be sold or bought. */
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly multiplier: Decimal;
  readonly lot: Decimal;
  readonly notionalMax: Decimal;
  /** How many more slices there may be. */
  readonly slicesMax: number;
}

/** The quantity of the next slice; all of it when it needs no cutting. */
export function nextSlice({ quantity, price, multiplier, lot, notionalMax, slicesMax }: Exit): Decimal {
  const unitValue = decimal.multiply(decimal.abs(price), multiplier, "up");
  if (unitValue === decimal.zero || slicesMax <= 1) return quantity;
  const value = decimal.multiply(quantity, unitValue, "up");
  if (value <= notionalMax) return quantity;
  const affordable = decimal.roundToIncrement(decimal.divide(notionalMax, unitValue, "down"), lot, "down");
  // With too many slices to go, they grow: an exit that never ends is worse than a large one.
  const evenly = decimal.divide(quantity, decimal.fromInteger(BigInt(slicesMax)), "up");
  const fewest = decimal.roundToIncrement(evenly, lot, "up");
  return decimal.min(decimal.max(decimal.max(affordable, fewest), lot), quantity);
}
