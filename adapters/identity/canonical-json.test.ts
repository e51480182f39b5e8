// Canonical JSON: equal values have equal texts, different values different ones, and what has no exact text is refused.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { canonicalJson } from "./canonical-json.ts";

const seed = 20_261_115;

describe(`canonical JSON (seed ${seed})`, () => {
  it("sorts by UTF-16 code units and writes numbers in their shortest form", () => {
    // The example of RFC 8785, section 3.2.3, in which a pair of surrogates sorts before U+FB33.
    const sorted = canonicalJson({
      "\u20ac": 1,
      "\r": 2,
      "\ufb33": 3,
      "1": 4,
      "\ud83d\ude00": 5,
      "\u0080": 6,
      "\u00f6": 7,
    });
    expect(sorted).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
    expect(canonicalJson([Number("333333333.33333329"), 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
      "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]",
    );
  });

  it("is the same for the same value in another order, and reads back as the value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ stringUnit: "grapheme" })), (value) => {
        const backwards = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(backwards)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { seed },
    );
  });

  it("tells apart what looks alike", () => {
    const texts = [{ a: 1 }, { a: "1" }, { a: [1] }, { a: null }, {}, { a: { b: 1 } }, { "a.b": 1 }].map(canonicalJson);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("refuses what JSON cannot carry exactly", () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 40; depth += 1) deep = [deep];
    const sparse: unknown[] = [];
    sparse[1] = 1;
    for (const value of [
      undefined,
      { a: undefined },
      Number.NaN,
      1 / 0,
      1n,
      Symbol("s"),
      () => 1,
      new Date(0),
      new Map(),
      "\ud800",
      { "\udc00": 1 },
      deep,
      sparse,
    ]) {
      expect(() => canonicalJson(value)).toThrow(Fault);
    }
  });
});
