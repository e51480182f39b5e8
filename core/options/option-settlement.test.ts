// What becomes of an option that has ended: each case, and that strategies settle to what their account does.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { type SettledTerms, settlementLegs } from "./option-settlement.ts";

const d = decimal.parse;
const call: SettledTerms = {
  symbol: "C",
  underlying: "S",
  right: "CALL",
  strike: d("500"),
  multiplier: d("100"),
  isDelivered: true,
};
const put: SettledTerms = { ...call, symbol: "P", right: "PUT" };
const legs = (terms: SettledTerms, contracts: string, price: string) =>
  settlementLegs(terms, d(contracts), d(price)).map(({ symbol, change, price: at }) =>
    [symbol, decimal.format(change), decimal.format(at)].join(" "),
  );

describe("23.8: an option that has ended", () => {
  it("is gone where it is worth nothing, also exactly at the strike", () => {
    expect(legs(call, "-3", "500")).toEqual(["C 3 0"]);
    expect(legs(put, "2", "500")).toEqual(["P -2 0"]);
    expect(legs(put, "0", "400")).toEqual([]);
  });

  it("is delivered at the strike where it is on a share", () => {
    expect(legs(call, "-3", "520")).toEqual(["C 3 0", "S -300 500"]);
    expect(legs(call, "3", "520")).toEqual(["C -3 0", "S 300 500"]);
    expect(legs(put, "-2", "480")).toEqual(["P 2 0", "S 200 500"]);
    expect(legs(put, "2", "480")).toEqual(["P -2 0", "S -200 500"]);
  });

  it("is paid out where it is not", () => {
    expect(legs({ ...call, isDelivered: false }, "-3", "520.5")).toEqual(["C 3 20.5"]);
    expect(legs({ ...put, isDelivered: false }, "2", "480")).toEqual(["P -2 20"]);
  });

  it("is worth the same either way, and what strategies settle adds up to their account", () => {
    const value = (terms: SettledTerms, contracts: number, price: number): number => {
      const legs = settlementLegs(terms, d(String(contracts)), d(String(price)));
      return legs.reduce((sum, leg) => {
        const [change, at] = [decimal.toNumber(leg.change), decimal.toNumber(leg.price)];
        return sum + (leg.symbol === terms.symbol ? -change * at * 100 : change * (price - at));
      }, 0);
    };
    const contracts = fc.integer({ min: -50, max: 50 });
    fc.assert(
      fc.property(
        fc.constantFrom(call, put),
        contracts,
        contracts,
        fc.integer({ min: 1, max: 999 }),
        (terms, a, b, price) => {
          expect(value(terms, a, price)).toBe(value({ ...terms, isDelivered: false }, a, price));
          const sum = (of: readonly number[]) => {
            const all = of.flatMap((one) => settlementLegs(terms, d(String(one)), d(String(price))));
            return ["C", "P", "S"].map((symbol) =>
              all.filter((leg) => leg.symbol === symbol).reduce((total, leg) => total + leg.change, 0n),
            );
          };
          expect(sum([a, b])).toEqual(sum([a + b]));
        },
      ),
      { seed: 20_261_117, numRuns: 200 },
    );
  });
});
