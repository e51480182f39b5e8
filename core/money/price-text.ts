// How a price reads in a sentence: with no more digits than its instrument is quoted with. A price halfway between bid and ask has more.
import * as decimal from "../../contracts/src/decimal.ts";

/** Without a tick size, as it is. */
export function priceText(price: decimal.Decimal, tickSize: decimal.Decimal | undefined): string {
  if (tickSize === undefined) return decimal.format(price);
  const places = decimal.format(tickSize).split(".")[1]?.length ?? 0;
  return decimal.format(decimal.round(price, places, "half-even"));
}
