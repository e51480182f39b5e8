// Exact decimals: a bigint that counts 10^-18ths. Money, prices, quantities and limits are of this kind; binary floating
// point is for statistics only. Import it whole (`import * as decimal from …`), so that every use reads `decimal.add(a, b)`.
//
// Invariants (decimal.test.ts names them):
//  1. A Decimal has at most 20 digits before and 18 after the point. An operation whose result does not fit throws a
//     DecimalError with reason "overflow"; nothing ever wraps, saturates or turns into NaN.
//  2. Addition, subtraction, negation and comparison are exact. Whatever can lose digits takes a Rounding by name.
//  3. Text is `-?(0|[1-9][0-9]*)(\.[0-9]+)?` within those digits, ASCII only: no exponent, no plus sign, no leading zeros,
//     no bare point ("1.", ".5"), no spaces, no NaN or Infinity. "-0" and "-0.00" are zero. Trailing zeros are allowed,
//     but count: a 19th place is refused even if it is a zero.
//  4. format(parse(text)) is the shortest text of the same value, and parse(format(value)) is the value.
//  5. The comparison operators of bigint (<, ===, …) order Decimals correctly; `*` and `/` are never right: use ours.
declare const decimalBrand: unique symbol;
export type Decimal = bigint & { readonly [decimalBrand]: "decimal" };

/**
 * How a result that does not fit its places is rounded. Down goes towards zero, up away from it; floor and ceiling go
 * towards minus and plus infinity; half-even and half-up go to the nearest, with ties to the even digit or away from zero.
 */
export type Rounding = "down" | "up" | "floor" | "ceiling" | "half-even" | "half-up";

export type DecimalProblem = "malformed" | "overflow" | "too precise" | "division by zero";

/** Thrown by the arithmetic, and by `parse`; `tryParse` answers undefined instead, for input that may be anything. */
export class DecimalError extends Error {
  override readonly name = "DecimalError";
  readonly reason: DecimalProblem;

  constructor(reason: DecimalProblem, message: string) {
    super(message);
    this.reason = reason;
  }
}

export const fractionDigitsMax = 18;
export const integerDigitsMax = 20;
/** A sign, the digits before the point, the point, the digits after it. */
export const textLengthMax = 1 + integerDigitsMax + 1 + fractionDigitsMax;

const unit = 10n ** 18n;
const magnitudeMax = 10n ** 38n - 1n;
const powersOfTen: readonly bigint[] = Array.from(
  { length: fractionDigitsMax + 1 },
  (_, power) => 10n ** BigInt(power),
);

export const zero = 0n as Decimal;
export const one = unit as Decimal;
export const largest = magnitudeMax as Decimal;

function powerOfTen(power: number): bigint {
  const known = powersOfTen[power];
  if (known === undefined) {
    throw new DecimalError("too precise", `${power} is not a number of places from 0 to ${fractionDigitsMax}`);
  }
  return known;
}

function bounded(value: bigint): Decimal {
  if (value > magnitudeMax || value < -magnitudeMax) {
    throw new DecimalError("overflow", `the result has more than ${integerDigitsMax} digits before the point`);
  }
  return value as Decimal;
}

const smallWholes: readonly Decimal[] = Array.from({ length: 1_000 }, (_, whole) => (BigInt(whole) * unit) as Decimal);

const codeOfZero = 48;
const codeOfPoint = 46;
const codeOfMinus = 45;
/** Integers of up to this many digits are exact as a binary double, which accumulates them much faster than a bigint. */
const exactDigitsMax = 15;

/** The value of the text, or undefined when the text is not a decimal (invariant 3). */
export function tryParse(text: string): Decimal | undefined {
  const length = text.length;
  if (length === 0 || length > textLengthMax) return undefined;
  const negative = text.charCodeAt(0) === codeOfMinus;
  const start = negative ? 1 : 0;
  let pointAt = -1;
  let mantissa = 0;
  for (let index = start; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === codeOfPoint) {
      if (pointAt !== -1) return undefined;
      pointAt = index;
      continue;
    }
    const digit = code - codeOfZero;
    if (digit < 0 || digit > 9) return undefined;
    mantissa = mantissa * 10 + digit;
  }
  const integerEnd = pointAt === -1 ? length : pointAt;
  const integerDigits = integerEnd - start;
  const fractionDigits = pointAt === -1 ? 0 : length - pointAt - 1;
  if (integerDigits === 0 || integerDigits > integerDigitsMax) return undefined;
  if (integerDigits > 1 && text.charCodeAt(start) === codeOfZero) return undefined;
  if (fractionDigits > fractionDigitsMax || (pointAt !== -1 && fractionDigits === 0)) return undefined;
  // Quantities are mostly small whole numbers, and every order has one.
  if (fractionDigits === 0 && !negative && mantissa < smallWholes.length) return smallWholes[mantissa];
  const whole =
    integerDigits + fractionDigits <= exactDigitsMax
      ? BigInt(mantissa)
      : BigInt(text.slice(start, integerEnd) + (pointAt === -1 ? "" : text.slice(pointAt + 1)));
  const magnitude = whole * powerOfTen(fractionDigitsMax - fractionDigits);
  return (negative ? -magnitude : magnitude) as Decimal;
}

/** The value of the text; throws a DecimalError when it is not a decimal (invariant 3). */
export function parse(text: string): Decimal {
  const value = tryParse(text);
  if (value === undefined) {
    const shown = text.length > textLengthMax ? `a text of ${text.length} characters` : JSON.stringify(text);
    throw new DecimalError("malformed", `${shown} is not a decimal such as -12.5`);
  }
  return value;
}

export function isDecimalText(text: string): boolean {
  return tryParse(text) !== undefined;
}

/** The shortest text: no trailing zeros, no point without digits behind it. */
export function format(value: Decimal): string {
  const magnitude = value < 0n ? -value : value;
  const sign = value < 0n ? "-" : "";
  const whole = magnitude / unit;
  const fraction = magnitude - whole * unit;
  if (fraction === 0n) return `${sign}${whole}`;
  const padded = fraction.toString().padStart(fractionDigitsMax, "0");
  let end = fractionDigitsMax;
  while (padded.charCodeAt(end - 1) === codeOfZero) end -= 1;
  return `${sign}${whole}.${padded.slice(0, end)}`;
}

/** Text with exactly that many places after the point. */
export function formatFixed(value: Decimal, places: number, rounding: Rounding): string {
  const digits = divideIntegers(value, powerOfTen(fractionDigitsMax - places), rounding);
  const sign = digits < 0n ? "-" : "";
  const padded = (digits < 0n ? -digits : digits).toString().padStart(places + 1, "0");
  const pointAt = padded.length - places;
  return places === 0 ? `${sign}${padded}` : `${sign}${padded.slice(0, pointAt)}.${padded.slice(pointAt)}`;
}

export function add(left: Decimal, right: Decimal): Decimal {
  return bounded(left + right);
}

export function subtract(left: Decimal, right: Decimal): Decimal {
  return bounded(left - right);
}

export function multiply(left: Decimal, right: Decimal, rounding: Rounding): Decimal {
  return bounded(divideIntegers(left * right, unit, rounding));
}

export function divide(dividend: Decimal, divisor: Decimal, rounding: Rounding): Decimal {
  return bounded(divideIntegers(dividend * unit, divisor, rounding));
}

export function negate(value: Decimal): Decimal {
  return -value as Decimal;
}

export function abs(value: Decimal): Decimal {
  return (value < 0n ? -value : value) as Decimal;
}

export function sign(value: Decimal): -1 | 0 | 1 {
  if (value === 0n) return 0;
  return value < 0n ? -1 : 1;
}

export function compare(left: Decimal, right: Decimal): -1 | 0 | 1 {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function min(left: Decimal, right: Decimal): Decimal {
  return left < right ? left : right;
}

export function max(left: Decimal, right: Decimal): Decimal {
  return left > right ? left : right;
}

/** The value with at most that many places. */
export function round(value: Decimal, places: number, rounding: Rounding): Decimal {
  return roundToIncrement(value, powerOfTen(fractionDigitsMax - places) as Decimal, rounding);
}

/** Whether the value lies on the grid of a tick or lot size; zero lies on every grid. The increment must be positive. */
export function isMultipleOf(value: Decimal, increment: Decimal): boolean {
  return value % positive(increment) === 0n;
}

/** The nearest multiple of a tick or lot size in the named direction. The increment must be positive. */
export function roundToIncrement(value: Decimal, increment: Decimal, rounding: Rounding): Decimal {
  return bounded(divideIntegers(value, positive(increment), rounding) * increment);
}

/** The value of a whole number, exactly. */
export function fromInteger(value: bigint): Decimal {
  return bounded(value * unit);
}

/**
 * The decimal that the number's shortest text names: 0.07 becomes exactly 0.07. Exponents are written out (1e-7 is
 * 0.0000001); a number that needs a 19th place or a 21st digit before the point is refused and never rounded.
 */
export function fromNumber(value: number): Decimal {
  if (!Number.isFinite(value)) throw new DecimalError("malformed", `${value} is not a decimal`);
  const text = String(value);
  const exponentAt = text.indexOf("e");
  if (exponentAt === -1) {
    const plain = tryParse(text);
    if (plain !== undefined) return plain;
    const problem = Math.abs(value) >= 1e20 ? "overflow" : "too precise";
    throw new DecimalError(problem, `${text} does not fit a decimal's digits`);
  }
  const exponent = Number(text.slice(exponentAt + 1));
  if (exponent > 0) throw new DecimalError("overflow", `${text} has more than ${integerDigitsMax} digits`);
  const [whole = "0", fraction = ""] = text.slice(0, exponentAt).split(".");
  const places = fraction.length - exponent;
  if (places > fractionDigitsMax) throw new DecimalError("too precise", `${text} has ${places} places`);
  return (BigInt(whole + fraction) * powerOfTen(fractionDigitsMax - places)) as Decimal;
}

/** The nearest binary double: for statistics and charts, never for a decision about money. */
export function toNumber(value: Decimal): number {
  return Number(format(value));
}

function positive(increment: Decimal): Decimal {
  if (increment > 0n) return increment;
  throw new DecimalError("division by zero", `an increment must be above zero, not ${format(increment)}`);
}

/** The quotient of two integers, rounded by name. */
function divideIntegers(dividend: bigint, divisor: bigint, rounding: Rounding): bigint {
  if (divisor === 0n) throw new DecimalError("division by zero", "division by zero");
  const quotient = dividend / divisor;
  const remainder = dividend - quotient * divisor;
  if (remainder === 0n) return quotient;
  const away = dividend < 0n === divisor < 0n ? 1n : -1n;
  switch (rounding) {
    case "down":
      return quotient;
    case "up":
      return quotient + away;
    case "floor":
      return away === 1n ? quotient : quotient - 1n;
    case "ceiling":
      return away === 1n ? quotient + 1n : quotient;
    case "half-up":
    case "half-even": {
      const twice = 2n * (remainder < 0n ? -remainder : remainder);
      const whole = divisor < 0n ? -divisor : divisor;
      if (twice > whole) return quotient + away;
      if (twice < whole) return quotient;
      return rounding === "half-up" || quotient % 2n !== 0n ? quotient + away : quotient;
    }
  }
}
