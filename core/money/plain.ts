// Exact decimals as one plain number each: a check computes with dozens of them, and a bigint costs some twenty times as much. A plain
// number holds digits and place, digits x 8 + place; what it is worth is digits x 10^(-2 x place).
//
// Invariants (amount.test.ts compares each with bigints):
//  1. Digits are whole and below 2^50, so that digits and place together are a whole number that a double keeps exactly.
//  2. A sum, difference or product is exact or NaN; NaN tells the caller to take the long way, with bigints. A comparison is always exact.
//  3. A value may have several forms (1 at place 0, 100 at place 1): equal forms are equal values, but not the other way round.
declare const plainBrand: unique symbol;
export type Plain = number & { readonly [plainBrand]: "plain" };

/** The places are 0 to 7: units of 1, 10^-2 and so on to 10^-14. */
const placeCount = 8;
export const placeMax = placeCount - 1;
export const digitsMax = 2 ** 50 - 1;
/** The most that digits can be when they are packed, without the place. */
export const packedMax = digitsMax * placeCount;
const { floor } = Math;
const hundreds = Float64Array.from({ length: placeCount }, (_, place) => 100 ** place);

export const plainZero = 0 as Plain;

export function digitsOf(value: Plain): number {
  return floor(value / placeCount);
}

export function placeOf(value: Plain): number {
  return value - floor(value / placeCount) * placeCount;
}

/** Of one whose place is known. */
export function digitsAt(value: number, place: number): number {
  return (value - place) / placeCount;
}

/** NaN when there are too many digits, or too fine ones. Digits that are no longer exact are always too many. */
export function plainOf(digits: number, place: number): Plain {
  return (
    digits <= digitsMax && digits >= -digitsMax && place <= placeMax ? digits * placeCount + place : Number.NaN
  ) as Plain;
}

/** How much one unit of a place is in units of a finer one. */
export function unitsBetween(place: number, finer: number): number {
  return hundreds[(finer - place) | 0] ?? Number.NaN;
}

/** The same value at a finer place, or NaN. */
export function atPlace(value: Plain, finer: number): Plain {
  const place = placeOf(value);
  return place === finer ? value : plainOf(digitsOf(value) * unitsBetween(place, finer), finer);
}

// What follows is written out rather than composed: each is a few machine instructions, and as calls of one another they would cost more
// than the arithmetic.

export function sum(left: Plain, right: Plain): Plain {
  const place = left - floor(left / placeCount) * placeCount;
  const other = right - floor(right / placeCount) * placeCount;
  if (place !== other) return sumOfPlaces(left, right);
  const added = left + right - place;
  return (added <= packedMax && added >= -packedMax ? added : Number.NaN) as Plain;
}

export function difference(left: Plain, right: Plain): Plain {
  const place = left - floor(left / placeCount) * placeCount;
  const other = right - floor(right / placeCount) * placeCount;
  if (place !== other) return sumOfPlaces(left, negative(right));
  const taken = left - right + place;
  return (taken <= packedMax && taken >= -packedMax ? taken : Number.NaN) as Plain;
}

/** Of two at different places. */
function sumOfPlaces(left: Plain, right: Plain): Plain {
  const place = placeOf(left);
  const other = placeOf(right);
  return place < other
    ? plainOf(digitsOf(left) * unitsBetween(place, other) + digitsOf(right), other)
    : plainOf(digitsOf(right) * unitsBetween(other, place) + digitsOf(left), place);
}

export function negative(value: Plain): Plain {
  return (2 * placeOf(value) - value) as Plain;
}

export function product(left: Plain, right: Plain): Plain {
  const digits = floor(left / placeCount);
  const others = floor(right / placeCount);
  const place = left - digits * placeCount + (right - others * placeCount);
  const multiplied = digits * others;
  return (
    multiplied <= digitsMax && multiplied >= -digitsMax && place < placeCount
      ? multiplied * placeCount + place
      : Number.NaN
  ) as Plain;
}

/** Below zero, zero or above, as the left is less than, equal to or more than the right. */
export function compared(left: Plain, right: Plain): number {
  const place = left - floor(left / placeCount) * placeCount;
  const other = right - floor(right / placeCount) * placeCount;
  return place === other ? left - right : comparedAcross(left, right);
}

function comparedAcross(left: Plain, right: Plain): number {
  const place = placeOf(left);
  const other = placeOf(right);
  // What is scaled beyond a double's exact digits is still farther from zero than any digits of the other side.
  return place < other
    ? digitsOf(left) * unitsBetween(place, other) - digitsOf(right)
    : digitsOf(left) - digitsOf(right) * unitsBetween(other, place);
}

/** Whether twice the part is less than the whole. */
export function isLessThanHalf(part: Plain, whole: Plain): boolean {
  const place = placeOf(part);
  const other = placeOf(whole);
  const twice = 2 * digitsOf(part);
  if (place === other) return twice < digitsOf(whole);
  return place < other
    ? twice * unitsBetween(place, other) < digitsOf(whole)
    : twice < digitsOf(whole) * unitsBetween(other, place);
}

export function isBelowZero(value: Plain): boolean {
  return value < 0;
}

export function isAboveZero(value: Plain): boolean {
  return value >= placeCount;
}

/** Whether the value is a whole number of steps; the step is above zero. NaN stands for "not known". */
export function stepsIn(value: Plain, step: Plain): number {
  if (placeOf(value) === placeOf(step)) return digitsOf(value) / digitsOf(step);
  const place = Math.max(placeOf(value), placeOf(step));
  const digits = digitsOf(value) * unitsBetween(placeOf(value), place);
  const stride = digitsOf(step) * unitsBetween(placeOf(step), place);
  if (digits > digitsMax || digits < -digitsMax || stride > digitsMax) return Number.NaN;
  return digits / stride;
}
