// Products of two decimals, kept whole: a value times a price, a fraction times a NAV. Nothing is rounded before two of them are
// compared, so that "exactly at the limit" means exactly. Their unit is 10^-36.
import type { Decimal } from "../contracts/src/decimal.ts";

declare const exactBrand: unique symbol;
export type Exact = bigint & { readonly [exactBrand]: "exact" };

export const exactZero = 0n as Exact;

export function product(left: Decimal, right: Decimal): Exact {
  return (left * right) as Exact;
}

export function magnitude(value: Exact): Exact {
  return (value < 0n ? -value : value) as Exact;
}

export function larger(left: Exact, right: Exact): Exact {
  return left > right ? left : right;
}
