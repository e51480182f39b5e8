// Amounts as the engine computes with them: quantities, prices, rates and what one unit is worth. Each is an exact decimal, kept as a plain
// number where that is exact and as a bigint where it is not; whoever uses the functions below need not care which.
//
// Never compare or add two amounts with the language's own operators: a plain number holds its place in its lowest bits.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import * as plain from "./plain.ts";

export type Amount = Decimal | plain.Plain;

export const nothing: Amount = plain.plainZero;
export const oneUnit: Amount = plain.plainOf(1, 0);

const units: readonly bigint[] = Array.from(
  { length: plain.placeMax + 1 },
  (_, place) => 10n ** BigInt(18 - 2 * place),
);
const digitsMax = BigInt(plain.digitsMax);

export function toDecimal(amount: Amount): Decimal {
  if (typeof amount === "bigint") return amount;
  return (BigInt(plain.digitsOf(amount)) * (units[plain.placeOf(amount)] ?? 0n)) as Decimal;
}

/** The amount of a decimal: plain if it can be. */
export function amountOf(value: Decimal): Amount {
  for (let place = 0; place <= plain.placeMax; place += 1) {
    const unit = units[place] ?? 1n;
    const digits = value / unit;
    if (digits > digitsMax || digits < -digitsMax) return value;
    if (digits * unit === value) return plain.plainOf(Number(digits), place);
  }
  return value;
}

/** The same amount, plain if it can be: what was computed the long way may have become simple again. */
export function simplified(amount: Amount): Amount {
  return typeof amount === "bigint" ? amountOf(amount) : amount;
}

const codeOfZero = 48;
const codeOfPoint = 46;
/** Texts up to this long have digits that a number keeps exactly. */
const plainTextMax = 15;

/** What `decimal.tryParse` reads, as an amount. */
export function readAmount(text: string): Amount | undefined {
  return readPlain(text) ?? readLong(text);
}

/** The amount of a text that must be a decimal; throws as `decimal.parse` does. */
export function parseAmount(text: string): Amount {
  return readPlain(text) ?? amountOf(decimal.parse(text));
}

function readLong(text: string): Amount | undefined {
  const value = decimal.tryParse(text);
  return value === undefined ? undefined : amountOf(value);
}

/** Undefined for what is not a short decimal of zero or more without leading zeros. */
function readPlain(text: string): Amount | undefined {
  const { length } = text;
  if (length === 0 || length > plainTextMax) return undefined;
  let digits = 0;
  let pointAt = -1;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    const digit = code - codeOfZero;
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
    else if (code === codeOfPoint && pointAt === -1) pointAt = index;
    else return undefined;
  }
  const whole = pointAt === -1 ? length : pointAt;
  if (whole === 0 || (whole > 1 && text.charCodeAt(0) === codeOfZero)) return undefined;
  const fraction = length - whole - 1;
  if (fraction <= 0) return pointAt === -1 ? plain.plainOf(digits, 0) : undefined;
  const read =
    fraction % 2 === 0 ? plain.plainOf(digits, fraction / 2) : plain.plainOf(digits * 10, (fraction + 1) / 2);
  return Number.isNaN(read) ? undefined : read;
}

export function plus(left: Amount, right: Amount): Amount {
  if (typeof left === "number" && typeof right === "number") {
    const sum = plain.sum(left, right);
    if (!Number.isNaN(sum)) return sum;
  }
  return (toDecimal(left) + toDecimal(right)) as Decimal;
}

export function minus(left: Amount, right: Amount): Amount {
  if (typeof left === "number" && typeof right === "number") {
    const difference = plain.difference(left, right);
    if (!Number.isNaN(difference)) return difference;
  }
  return (toDecimal(left) - toDecimal(right)) as Decimal;
}

export function negated(amount: Amount): Amount {
  return typeof amount === "number" ? plain.negative(amount) : (-amount as Decimal);
}

export function magnitude(amount: Amount): Amount {
  return isNegative(amount) ? negated(amount) : amount;
}

export function isMore(left: Amount, right: Amount): boolean {
  if (typeof left === "number" && typeof right === "number") return plain.compared(left, right) > 0;
  return toDecimal(left) > toDecimal(right);
}

export function isEqual(left: Amount, right: Amount): boolean {
  if (typeof left === "number" && typeof right === "number") return plain.compared(left, right) === 0;
  return toDecimal(left) === toDecimal(right);
}

/** Whether they are the very same: then they are equal, but equal amounts need not be. For whoever keeps what was computed from one. */
export function isIdentical(left: Amount | undefined, right: Amount | undefined): boolean {
  return left === right;
}

export function larger(left: Amount, right: Amount): Amount {
  return isMore(left, right) ? left : right;
}

export function isNegative(amount: Amount): boolean {
  return typeof amount === "number" ? plain.isBelowZero(amount) : amount < 0n;
}

export function isPositive(amount: Amount): boolean {
  return typeof amount === "number" ? plain.isAboveZero(amount) : amount > 0n;
}

export function isNothing(amount: Amount): boolean {
  return !isPositive(amount) && !isNegative(amount);
}

/** Whether it is a whole number of steps; the step is above zero. */
export function isMultiple(amount: Amount, step: Amount): boolean {
  if (typeof amount === "number" && typeof step === "number") {
    const steps = plain.stepsIn(amount, step);
    if (!Number.isNaN(steps)) return steps === Math.floor(steps);
  }
  return toDecimal(amount) % toDecimal(step) === 0n;
}

/** Whether it has more digits than a decimal keeps. */
export function isTooLarge(amount: Amount): boolean {
  return typeof amount === "bigint" && amount > decimal.largest;
}

/** The product of two amounts that are not negative, rounded up to a decimal's places. It may be wider than a decimal. */
export function timesUp(left: Amount, right: Amount): Amount {
  if (right === oneUnit) return left;
  if (typeof left === "number" && typeof right === "number") {
    const product = plain.product(left, right);
    if (!Number.isNaN(product)) return product;
  }
  const product = toDecimal(left) * toDecimal(right);
  const quotient = product / decimal.one;
  return (quotient * decimal.one === product ? quotient : quotient + 1n) as Decimal;
}
