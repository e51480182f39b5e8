// What a fund is worth: exact sums, multipliers and rates, and no value at all where a price or a rate is missing or old.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromUnixMs, minusMilliseconds } from "../../contracts/src/instant.ts";
import { exampleFill } from "../../contracts/src/records/examples.ts";
import { navUpdated } from "../../contracts/src/records/fund.ts";
import type { Reference } from "../../ports/reference-data.ts";
import { paperReference } from "../paper-seeds.ts";
import { legsOf } from "./book-fills.ts";
import { viewOf } from "./reference-view.ts";
import { navRecord, type ValuationInput, valueFund } from "./valuation.ts";

const at = fromUnixMs(1_794_744_000_000);
const contents = paperReference("2026-11-15T12:00:00.000000Z");
const versions = { instruments: 1, funds: 1, fx: 1, borrow: 1, restricted: 1, calendars: 1 };
const view = viewOf({ ...contents, versions, change: 1 } satisfies Reference);
const gamma = view.funds.get("gamma");
if (gamma === undefined) throw new Error("gamma");
const call = "SPY 281215C00650000";
const holding = (symbol: string, quantity: string) => ({ symbol, quantity: decimal.parse(quantity) });
const price = (text: string, ageMs = 0) => ({ price: decimal.parse(text), at: minusMilliseconds(at, ageMs) });

const input: ValuationInput = {
  fund: gamma,
  view,
  at,
  priceAgeMsMax: 10_000,
  fxAgeMsMax: 3_600_000,
  holdings: [holding("USD", "1000000.01"), holding("SPY", "200"), holding(call, "-3"), holding("XOM", "0")],
  prices: new Map([
    ["SPY", price("592.4", 400)],
    [call, price("68.55", 1_250)],
  ]),
};

function valued(differs: Partial<ValuationInput> = {}) {
  const value = valueFund({ ...input, ...differs });
  if (typeof value === "string") throw new Error(value);
  return value;
}

describe("a fund's value", () => {
  it("is cash plus quantity x multiplier x price, exactly, and tells the oldest price", () => {
    const record = navRecord(valued(), 7);
    expect(navUpdated.parse(record)).toEqual(record);
    expect(record).toMatchObject({
      fund_id: "gamma",
      nav: "1097915.01",
      cash: "1000000.01",
      positions_value: "97915",
      oldest_price_age_ms: 1_250,
      trading_day: "2026-11-13",
      sequence: 7,
    });
    expect(decimal.format(valued().grossValue)).toBe("139045");
  });

  it.each<[string, Partial<ValuationInput>, RegExp]>([
    ["a price is missing", { prices: new Map([["SPY", price("592.4")]]) }, /650000 has no price/],
    ["a price is too old", { priceAgeMsMax: 1_249 }, /650000 is 1250 ms old/],
    ["a rate is missing", { holdings: [holding("CHF", "1")] }, /no fresh rate from CHF to USD/],
    ["a rate is too old", { holdings: [holding("EUR", "1")], at: fromUnixMs(1_794_747_600_001) }, /rate from EUR/],
  ])("is none when %s", (_what, differs, why) => {
    expect(valueFund({ ...input, ...differs })).toMatch(why);
  });

  it("is there when a price is exactly as old as allowed", () => {
    expect(valued({ priceAgeMsMax: 1_250 }).oldestPriceAgeMs).toBe(1_250);
  });

  it("changes other currencies, by the rate in either direction", () => {
    const euros = { ...gamma, currency: "EUR" };
    expect(decimal.format(valued({ holdings: [holding("EUR", "100")] }).nav)).toBe("108.5");
    const inEuros = valued({ fund: euros, holdings: [holding("USD", "108.5")] });
    expect(decimal.formatFixed(inEuros.nav, 9, "half-even")).toBe("100.000000000");
  });

  it("is not changed by a trade at the mark without a fee, whatever it is", () => {
    const cents = fc
      .integer({ min: 1, max: 100_000_000 })
      .map((value) =>
        decimal.format(decimal.divide(decimal.fromInteger(BigInt(value)), decimal.fromInteger(100n), "half-even")),
      );
    const sides = fc.constantFrom("BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER");
    fc.assert(
      fc.property(cents, cents, sides, fc.constantFrom("SPY", call), (quantity, paid, side, symbol) => {
        const instrument = view.instruments.get(symbol);
        if (instrument === undefined) throw new Error(symbol);
        const prices = new Map([...input.prices, [symbol, price(paid)] as const]);
        const legs = legsOf({ ...exampleFill, symbol, quantity, price: paid, side }, instrument);
        expect(legs[0]?.quantity === decimal.parse(side.startsWith("BUY") ? quantity : `-${quantity}`)).toBe(true);
        const before = valued({ prices }).nav;
        expect(valued({ prices, holdings: [...input.holdings, ...legs] }).nav).toBe(before);
      }),
      { seed: 20_261_115, numRuns: 300 },
    );
  });

  it("loses the fee, in the fee's own currency", () => {
    const instrument = view.instruments.get("SPY");
    if (instrument === undefined) throw new Error("SPY");
    const fill = { ...exampleFill, symbol: "SPY", fee: "1.25" };
    expect(legsOf(fill, instrument).at(-1)).toEqual(holding("USD", "-1.25"));
    expect(legsOf({ ...fill, currency: "EUR" }, instrument).at(-1)).toEqual(holding("EUR", "-1.25"));
    expect(legsOf({ ...fill, fee: "-0.5" }, instrument).at(-1)).toEqual(holding("USD", "0.5"));
  });
});
