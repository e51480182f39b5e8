// Plain numbers against bigints: whatever is computed with them is exactly what bigints give, over values of every size and place, and
// above all around the edges of what a double keeps exactly.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { inputCount } from "../../testkit/full-count.ts";
import * as amounts from "./amount.ts";
import { type Amount, amountOf, toDecimal } from "./amount.ts";
import * as exact from "./exact.ts";
import { type Exact, type Notional, toExact } from "./exact.ts";
import { digitsMax, placeMax, plainOf } from "./plain.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
const runs = { seed, numRuns: inputCount(10_000) };

/** Digits of every length, and the neighbours of the powers of two and ten that something could go wrong at. */
const edges = [0, 1, 2 ** 26, 2 ** 49, 2 ** 50, 2 ** 53, 10 ** 8, 10 ** 15].flatMap((edge) => [
  edge - 1,
  edge,
  edge + 1,
]);
const digits = fc.oneof(
  fc.constantFrom(...edges),
  fc.integer({ min: 0, max: 1_000 }),
  fc.maxSafeNat(),
  fc.maxSafeNat().map((large) => Math.floor(large / 2 ** 20)),
);
const signed = fc.tuple(digits, fc.boolean()).map(([count, isNegative]) => BigInt(isNegative ? -count : count));
const decimals = fc
  .tuple(signed, fc.integer({ min: 0, max: 18 }))
  .map(([count, places]) => (count * 10n ** BigInt(18 - places)) as Decimal)
  .filter((value) => decimal.abs(value) <= decimal.largest);
/** Every plain number that there can be. */
const plains = fc
  .tuple(signed, fc.integer({ min: 0, max: placeMax }))
  .filter(([count]) => count <= BigInt(digitsMax) && count >= -BigInt(digitsMax))
  .map(([count, place]) => plainOf(Number(count), place));
const values: fc.Arbitrary<Amount> = fc.oneof(plains, decimals.map(amountOf), decimals);
/** Any plain one, products, and sums of them. */
const worths: fc.Arbitrary<Notional> = fc.oneof(
  plains,
  fc.tuple(values, values).map(([left, right]) => exact.product(left, right)),
  fc
    .tuple(values, values, values)
    .map(([left, right, more]) => exact.plus(exact.product(left, right), exact.product(more, amounts.oneUnit))),
);

test(`an amount is the decimal it was made of, and plain whenever it can be (seed ${seed})`, () => {
  fc.assert(
    fc.property(decimals, (value) => {
      const amount = amountOf(value);
      expect(toDecimal(amount)).toBe(value);
      const cents = value / 10n ** 16n;
      const isPlainCents = cents * 10n ** 16n === value && decimal.abs(cents as Decimal) <= BigInt(digitsMax);
      if (isPlainCents) expect(typeof amount).toBe("number");
    }),
    runs,
  );
});

test("text is read as the decimal's own grammar reads it", () => {
  const texts = fc.oneof(
    decimals.map(decimal.format),
    fc.string({ unit: fc.constantFrom("0", "1", "5", "9", ".", "-", "+", "e", " ", "٣"), maxLength: 20 }),
    fc.tuple(fc.nat(), fc.string({ unit: fc.constantFrom("0", "7"), maxLength: 19 })).map((parts) => parts.join(".")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const read = amounts.readAmount(text);
      expect(read === undefined ? undefined : toDecimal(read)).toBe(decimal.tryParse(text));
    }),
    runs,
  );
});

describe(`amounts give what bigints give (seed ${seed})`, () => {
  test("in sums, differences and comparisons", () => {
    fc.assert(
      fc.property(values, values, (left, right) => {
        const [one, other] = [toDecimal(left), toDecimal(right)];
        return (
          toDecimal(amounts.plus(left, right)) === one + other &&
          toDecimal(amounts.minus(left, right)) === one - other &&
          amounts.isMore(left, right) === one > other &&
          amounts.isEqual(left, right) === (one === other) &&
          toDecimal(amounts.larger(left, right)) === (one > other ? one : other) &&
          toDecimal(amounts.negated(left)) === -one &&
          toDecimal(amounts.magnitude(left)) === decimal.abs(one) &&
          amounts.isNegative(left) === one < 0n &&
          amounts.isPositive(left) === one > 0n &&
          amounts.isNothing(left) === (one === 0n) &&
          toDecimal(amounts.simplified(one)) === one
        );
      }),
      runs,
    );
  });
  test("in products that are rounded up, and in whole numbers of steps", () => {
    fc.assert(
      fc.property(values, values, (first, second) => {
        const [left, right] = [amounts.magnitude(first), amounts.magnitude(second)];
        const product = toDecimal(left) * toDecimal(right);
        const rest = product % decimal.one;
        expect(toDecimal(amounts.timesUp(left, right))).toBe(product / decimal.one + (rest === 0n ? 0n : 1n));
        if (amounts.isNothing(right)) return;
        expect(amounts.isMultiple(first, right)).toBe(toDecimal(first) % toDecimal(right) === 0n);
        const multiple = (toDecimal(right) * 3n) as Decimal;
        expect(amounts.isMultiple(amountOf(multiple), right)).toBe(true);
      }),
      runs,
    );
  });
});

test(`exact products give what bigints give (seed ${seed})`, () => {
  fc.assert(
    fc.property(values, values, (left, right) => {
      return toExact(exact.product(left, right)) === toDecimal(left) * toDecimal(right);
    }),
    runs,
  );
  fc.assert(
    fc.property(worths, worths, (left: Notional, right: Notional) => {
      const [one, other]: [Exact, Exact] = [toExact(left), toExact(right)];
      return (
        toExact(exact.plus(left, right)) === one + other &&
        toExact(exact.minus(left, right)) === one - other &&
        exact.isMore(left, right) === one > other &&
        exact.isPositive(left) === one > 0n &&
        exact.isLessThanHalf(left, right) === one * 2n < other &&
        toExact(exact.inCents(left)) === one &&
        toExact(exact.larger(left, right)) === (one > other ? one : other) &&
        toExact(exact.magnitude(left)) === (one < 0n ? -one : one)
      );
    }),
    runs,
  );
});

test("what is too large for a decimal is told from what is not", () => {
  expect(amounts.isTooLarge(decimal.largest)).toBe(false);
  expect(amounts.isTooLarge((decimal.largest + 1n) as Decimal)).toBe(true);
  expect(exact.isTooLarge(exact.product(decimal.largest, decimal.one))).toBe(false);
  expect(exact.isTooLarge((decimal.largest * decimal.one + 1n) as Exact)).toBe(true);
  expect(exact.isTooLarge(exact.wholeOf(digitsMax))).toBe(false);
});
