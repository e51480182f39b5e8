// An order's numbers, from good text and from every kind of bad one.
import fc from "fast-check";
import { expect, test } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { passingDraft } from "../../testkit/passing-order.ts";
import { isNegative, isPositive, nothing, toDecimal } from "../money/amount.ts";
import { noTerms, readTerms } from "./terms.ts";
import type { Terms } from "./view.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");

function termsOf(changes: Partial<Order>): Terms {
  const terms = noTerms();
  readTerms({ ...passingDraft().order, ...changes }, terms);
  return terms;
}

test("good numbers are read exactly", () => {
  const terms = termsOf({ quantity: "0.1", limit_price: "200.05", stop_price: "199", notional: 20.005 });
  const { quantity, limitPrice, stopPrice, notional } = terms;
  const read = [quantity, limitPrice, stopPrice, notional].map((amount) => toDecimal(amount ?? nothing));
  expect(read).toEqual(["0.1", "200.05", "199", "20.005"].map(decimal.parse));
  expect(terms.direction).toBe(1);
});

test("each side has its direction", () => {
  const directions = ["BUY", "BUY_TO_COVER", "SELL", "SELL_SHORT", "buy", "", "HOLD"].map(
    (side) => termsOf({ side }).direction,
  );
  expect(directions).toEqual([1, 1, -1, -1, 0, 0, 0]);
});

test("trap: NaN, Infinity, negative, -0 and huge exponents are no numbers", () => {
  for (const text of ["NaN", "Infinity", "-1", "-0", "0", "0.0", "1e3", "1E400", "+1", " 1", "1 ", "1,000", "", "٣"]) {
    expect(termsOf({ quantity: text }).quantity, text).toBeUndefined();
    expect(termsOf({ limit_price: text }).limitPrice, text).toBeUndefined();
    expect(termsOf({ stop_price: text }).stopPrice, text).toBeUndefined();
  }
  for (const notional of [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -1,
    -0,
    1e20,
    1e300,
    5e-324,
  ]) {
    expect(termsOf({ notional }).notional, String(notional)).toBeUndefined();
  }
  expect(termsOf({ notional: 0 }).notional).toBe(nothing);
});

test("one object serves again: nothing of the order before stays", () => {
  const terms = noTerms();
  readTerms({ ...passingDraft().order, stop_price: "1", notional: 1 }, terms);
  readTerms({ ...passingDraft().order, side: "", quantity: "", limit_price: undefined }, terms);
  expect(terms).toEqual(noTerms());
});

test(`whatever arrives, nothing throws and nothing is zero or less (seed ${seed})`, () => {
  const anything = fc.anything() as fc.Arbitrary<never>;
  fc.assert(
    fc.property(anything, anything, anything, (quantity, limit_price, notional) => {
      const terms = termsOf({ quantity, limit_price, notional });
      expect(terms.quantity === undefined || isPositive(terms.quantity)).toBe(true);
      expect(terms.limitPrice === undefined || isPositive(terms.limitPrice)).toBe(true);
      expect(terms.notional === undefined || !isNegative(terms.notional)).toBe(true);
    }),
    { seed, numRuns: inputCount(500) },
  );
});
