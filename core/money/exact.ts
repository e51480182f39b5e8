// Products of two amounts, kept whole: a value times a price, a fraction times a NAV. Nothing is rounded before two of them are
// compared, so that "exactly at the limit" means exactly. As bigints their unit is 10^-36; where a plain number keeps them, they are one.
import * as decimal from "../../contracts/src/decimal.ts";
import { type Amount, toDecimal } from "./amount.ts";
import * as plain from "./plain.ts";

declare const exactBrand: unique symbol;
export type Exact = bigint & { readonly [exactBrand]: "exact" };
export type Notional = Exact | plain.Plain;

export const zeroNotional: Notional = plain.plainZero;

const units: readonly bigint[] = Array.from(
  { length: plain.placeMax + 1 },
  (_, place) => 10n ** BigInt(36 - 2 * place),
);
/** The product of the largest decimal with one. */
const exactMax = decimal.largest * decimal.one;

/** A whole number, as a count or a time in milliseconds is one. */
export function wholeOf(count: number): Notional {
  return plain.plainOf(count, 0);
}

export function toExact(notional: Notional): Exact {
  if (typeof notional === "bigint") return notional;
  return (BigInt(plain.digitsOf(notional)) * (units[plain.placeOf(notional)] ?? 0n)) as Exact;
}

export function product(left: Amount, right: Amount): Notional {
  if (typeof left === "number" && typeof right === "number") {
    const product = plain.product(left, right);
    if (!Number.isNaN(product)) return product;
  }
  return (toDecimal(left) * toDecimal(right)) as Exact;
}

export function plus(left: Notional, right: Notional): Notional {
  if (typeof left === "number" && typeof right === "number") {
    const sum = plain.sum(left, right);
    if (!Number.isNaN(sum)) return sum;
  }
  return (toExact(left) + toExact(right)) as Exact;
}

export function minus(left: Notional, right: Notional): Notional {
  if (typeof left === "number" && typeof right === "number") {
    const difference = plain.difference(left, right);
    if (!Number.isNaN(difference)) return difference;
  }
  return (toExact(left) - toExact(right)) as Exact;
}

export function magnitude(notional: Notional): Notional {
  if (typeof notional === "number") return plain.isBelowZero(notional) ? plain.negative(notional) : notional;
  return (notional < 0n ? -notional : notional) as Exact;
}

export function isMore(left: Notional, right: Notional): boolean {
  if (typeof left === "number" && typeof right === "number") return plain.compared(left, right) > 0;
  return toExact(left) > toExact(right);
}

/** Whether it is less than half of the other. */
export function isLessThanHalf(part: Notional, whole: Notional): boolean {
  if (typeof part === "number" && typeof whole === "number") return plain.isLessThanHalf(part, whole);
  return toExact(part) * 2n < toExact(whole);
}

/** The same at cents or finer, so that it compares with sums of money in one step. */
export function inCents(notional: Notional): Notional {
  if (typeof notional === "bigint" || plain.placeOf(notional) > 0) return notional;
  const cents = plain.atPlace(notional, 1);
  return Number.isNaN(cents) ? notional : cents;
}

export function isPositive(notional: Notional): boolean {
  return typeof notional === "number" ? plain.isAboveZero(notional) : notional > 0n;
}

export function larger(left: Notional, right: Notional): Notional {
  return isMore(left, right) ? left : right;
}

/** Whether it has more digits than a decimal keeps. */
export function isTooLarge(notional: Notional): boolean {
  return typeof notional === "bigint" && notional > exactMax;
}
