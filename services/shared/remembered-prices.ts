// The prices with which a fund was valued the last time, for whoever counts with them again: each with the moment in whose terms it is, so that no
// corporate action turns it twice.
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, parse } from "../../contracts/src/instant.ts";
import type { RememberedFund } from "../../ports/ledger-records.ts";

interface RememberedPrice {
  readonly price: decimal.Decimal;
  /** When it was true. */
  readonly at: Instant;
  readonly turnedAt?: Instant;
}

/** Those of a value that an earlier version made are in the terms of that value. */
export function rememberedPrices({ newest, pricesTurned }: RememberedFund): ReadonlyMap<string, RememberedPrice> {
  return new Map(
    Object.entries(newest?.prices ?? {}).map(([symbol, { price, at }]) => {
      const turned = pricesTurned === undefined ? newest?.as_of : pricesTurned[symbol];
      const dated = { price: decimal.parse(price), at: parse(at) };
      return [symbol, turned === undefined ? dated : { ...dated, turnedAt: parse(turned) }];
    }),
  );
}
