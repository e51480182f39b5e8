// What the paper broker charges for a trade: a small table by asset class, close to what retail brokers ask.
import * as decimal from "../../contracts/src/decimal.ts";
import type { AssetClass } from "../../contracts/src/records/values.ts";

interface FeeRule {
  /** For every share, coin or contract. */
  readonly perUnit: decimal.Decimal;
  /** A fraction of quantity x price. */
  readonly ofValue: decimal.Decimal;
}

const paperFees: Readonly<Record<AssetClass, FeeRule>> = {
  EQUITY: { perUnit: decimal.parse("0.005"), ofValue: decimal.zero },
  CRYPTO: { perUnit: decimal.zero, ofValue: decimal.parse("0.001") },
  OPTION: { perUnit: decimal.parse("0.65"), ofValue: decimal.zero },
};

/** In whole cents, rounded up: a broker never rounds against itself. */
export function feeOf(assetClass: AssetClass, quantity: decimal.Decimal, price: decimal.Decimal): decimal.Decimal {
  const rule = paperFees[assetClass];
  const value = decimal.multiply(quantity, decimal.abs(price), "up");
  const exact = decimal.add(
    decimal.multiply(quantity, rule.perUnit, "up"),
    decimal.multiply(value, rule.ofValue, "up"),
  );
  return decimal.round(exact, 2, "up");
}
