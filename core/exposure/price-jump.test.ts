// Prices that jump, and sources that differ. Numbers in the names are the invariants of price-jump.ts; the whole against a plain look at everything that was heard.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { moment } from "../../testkit/risk/engine-fixture.ts";
import { hearPrice, type PriceWatch, passPrices, rangeOf, restate, watchPrice } from "./price-jump.ts";

const bound = { max: decimal.parse("0.25"), least: decimal.parse("0.05"), collar: decimal.parse("0.05") };
const seed = 20_261_119;

/** Seconds and prices; a third member is the source. */
type Said = readonly [second: number, price: string, source?: string];

function heard(...said: readonly Said[]): PriceWatch {
  const watch = watchPrice();
  for (const [second, price, source = "feed"] of said) {
    hearPrice(watch, decimal.parse(price), source, bound, moment(second * 1_000));
  }
  return watch;
}
function rangeAt(watch: PriceWatch, second: number): string {
  passPrices(watch, bound.collar, moment(second * 1_000));
  const range = rangeOf(watch);
  return range === undefined ? "" : `${decimal.format(range.low)} to ${decimal.format(range.high)}`;
}

describe("1: a price jumped", () => {
  it("by more than a quarter of the highest, or the lowest, of the 5 s before it", () => {
    expect(rangeAt(heard([0, "100"], [1, "125"]), 1)).toBe("");
    expect(rangeAt(heard([0, "100"], [1, "125.01"]), 1)).toBe("100 to 125.01");
    expect(rangeAt(heard([0, "100"], [1, "75"]), 1)).toBe("");
    expect(rangeAt(heard([0, "100"], [1, "74.99"]), 1)).toBe("74.99 to 100");
  });

  it("by steps that are each small, as soon as they are more than a quarter together", () => {
    expect(rangeAt(heard([0, "100"], [1, "120"], [2, "125"]), 2)).toBe("");
    expect(rangeAt(heard([0, "100"], [1, "120"], [2, "144"]), 2)).toBe("100 to 144");
    expect(rangeAt(heard([0, "100"], [1, "80"], [2, "74"]), 2)).toBe("74 to 100");
    // Of one moment, which is how a liar would do it.
    const steps = ["100", "124", "153", "190", "235", "291", "361", "447"].map((price): Said => [1, price]);
    expect(rangeAt(heard([0, "100"], ...steps), 1)).toBe("100 to 447");
    expect(rangeAt(heard(...steps), 1)).toBe("100 to 447");
    // A quarter every five seconds is a market.
    expect(rangeAt(heard([0, "100"], [6, "124"], [12, "153"], [18, "190"]), 18)).toBe("");
    // One tick that was wrong makes none of what follows it.
    expect(rangeAt(heard([0, "100"], [1, "80"], [2, "100"], [3, "101"]), 3)).toBe("");
  });

  it("held against the last that counted, however old, where nothing was heard since", () => {
    expect(rangeAt(heard([0, "100"], [3_600, "126"]), 3_600)).toBe("100 to 126");
    expect(rangeAt(heard([0, "100"], [1, "120"], [3_600, "126"]), 3_600)).toBe("");
    expect(rangeAt(heard([0, "100"]), 0)).toBe("");
  });

  it("by five ticks at least", () => {
    expect(rangeAt(heard([0, "0.1"], [1, "0.14"]), 1)).toBe("");
    expect(rangeAt(heard([0, "0.1"], [1, "0.15"]), 1)).toBe("0.1 to 0.15");
  });

  it("of an option by what its underlying alone may have moved it", () => {
    const watch = watchPrice();
    const option = { ...bound, distance: decimal.parse("20") };
    hearPrice(watch, decimal.parse("1"), "feed", option, moment(0));
    hearPrice(watch, decimal.parse("21"), "feed", option, moment(1));
    expect(rangeAt(watch, 0)).toBe("");
    hearPrice(watch, decimal.parse("41.01"), "feed", option, moment(2));
    expect(rangeAt(watch, 0)).toBe("1 to 41.01");
  });
});

describe("2, 3: a jump", () => {
  it("is over with a price that is back inside", () => {
    const watch = heard([0, "100"], [1, "500"]);
    expect(rangeAt(watch, 2)).toBe("100 to 500");
    hearPrice(watch, decimal.parse("101"), "feed", bound, moment(2_000));
    expect(rangeAt(watch, 2)).toBe("");
    // What jumped never counted.
    hearPrice(watch, decimal.parse("500"), "feed", bound, moment(3_000));
    expect(rangeAt(watch, 3)).toBe("100 to 500");
  });

  it("is confirmed after 5 s, also when nothing came since, and what follows is held against it", () => {
    const watch = heard([0, "100"], [1, "500"], [3, "40"], [5, "300"]);
    expect(rangeAt(watch, 5.999)).toBe("40 to 500");
    expect(rangeAt(watch, 6)).toBe("");
    hearPrice(watch, decimal.parse("100"), "feed", bound, moment(7_000));
    expect(rangeAt(watch, 7)).toBe("100 to 300");
    const silent = heard([0, "100"], [1, "50"]);
    expect([rangeAt(silent, 5.9), rangeAt(silent, 6)]).toEqual(["50 to 100", ""]);
  });

  it("is no jump after a clock that was set back", () => {
    const watch = heard([3_600, "100"], [3_601, "110"], [0, "115"], [1, "137"]);
    expect(rangeAt(watch, 1)).toBe("");
    hearPrice(watch, decimal.parse("500"), "feed", bound, moment(2_000));
    expect(rangeAt(watch, 2)).toBe("115 to 500");
  });
});

describe("4: sources", () => {
  it("that differ by more than the collar make a range until they have agreed for 5 s", () => {
    const watch = heard([0, "100"], [1, "106", "other"]);
    expect(rangeAt(watch, 1)).toBe("100 to 106");
    for (let second = 2; second <= 6; second += 1) {
      for (const source of ["feed", "other"])
        hearPrice(watch, decimal.parse("105"), source, bound, moment(second * 1_000));
      // The first is heard before the second has come closer.
      expect([second, rangeAt(watch, second)]).not.toEqual([second, ""]);
    }
    hearPrice(watch, decimal.parse("105"), "feed", bound, moment(7_000));
    expect(rangeAt(watch, 7)).toBe("");
  });

  it("until one falls silent, and up to the collar not at all", () => {
    const watch = heard([0, "100"], [1, "110", "other"]);
    for (let second = 2; second <= 5; second += 1)
      hearPrice(watch, decimal.parse("100"), "feed", bound, moment(second * 1_000));
    expect([rangeAt(watch, 5.9), rangeAt(watch, 6)]).toEqual(["100 to 110", ""]);
    expect(rangeAt(heard([0, "100"], [1, "105", "other"]), 1)).toBe("");
  });
});

describe("5: a corporate action", () => {
  it("turns what a price is held against: neither a split nor its absence is a jump, and five times the price is", () => {
    for (const [price, range] of [
      ["50", ""],
      ["100", ""],
      ["40", ""],
      ["260", "50 to 260"],
      ["30", "30 to 100"],
    ] as const) {
      const watch = heard([0, "100"]);
      restate(watch, [1, 2]);
      hearPrice(watch, decimal.parse(price), "feed", bound, moment(1_000));
      expect([price, rangeAt(watch, 1)]).toEqual([price, range]);
    }
  });
});

describe("the whole", () => {
  it("has no price that lies outside of its range, and every range ends 5 s after the last that differs", () => {
    const step = fc.record({
      afterMs: fc.integer({ min: 1, max: 4_000 }),
      price: fc.integer({ min: 20, max: 400 }),
      source: fc.constantFrom("a", "a", "b"),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const watch = watchPrice();
        let ms = 0;
        for (const { afterMs, price, source } of steps) {
          ms += afterMs;
          hearPrice(watch, decimal.parse(String(price)), source, bound, moment(ms));
          const range = rangeOf(watch);
          const exact = decimal.parse(String(price));
          if (range !== undefined) expect(exact >= range.low && exact <= range.high).toBe(true);
          expect(watch.recent.length).toBeLessThanOrEqual(6);
        }
        expect(rangeAt(watch, ms / 1_000 + 10)).toBe("");
      }),
      { numRuns: 200, seed },
    );
  });
});
