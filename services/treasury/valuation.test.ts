// What a fund is worth: exact sums, multipliers and rates, old prices named with their age, and no value at all where a price was never there or a
// rate is missing or old.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, fromUnixMs, minusMilliseconds } from "../../contracts/src/instant.ts";
import { navUpdated, pricesMax } from "../../contracts/src/records/fund.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { fillEntry, movesOf, type TradedInstrument } from "../../core/ledger/ledger.ts";
import type { Reference } from "../../ports/reference-data.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { viewOf } from "../reference/reference-view.ts";
import { paperReference } from "../shared/paper-seeds.ts";
import { navRecord, type ValuationInput, valueFund } from "./valuation.ts";

const at = fromUnixMs(1_794_744_000_000);
const contents = paperReference("2026-11-15T12:00:00.000000Z");
const versions = { instruments: 1, funds: 1, fx: 1, borrow: 1, restricted: 1, calendars: 1, venues: 1 };
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
  strategies: new Map(),
  netFlows: decimal.zero,
  holdings: [holding("USD", "1000000.01"), holding("SPY", "200"), holding(call, "-3"), holding("XOM", "0")],
  prices: new Map([
    ["SPY", price("592.4", 400)],
    [call, price("68.55", 1_250)],
  ]),
};

const legsOf = (fill: Fill, instrument: TradedInstrument) =>
  movesOf(fillEntry(fill, instrument, { entryId: "e-1", bookedBy: "service:treasury" }));

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
      net_flows: "0",
      strategy_pnl: {},
      sequence: 7,
      prices: {
        SPY: { quantity: "200", price: "592.4", at: format(minusMilliseconds(at, 400)) },
        [call]: { quantity: "-3", price: "68.55", at: format(minusMilliseconds(at, 1_250)) },
      },
    });
    expect(record.rates).toBeUndefined();
    expect(decimal.format(valued().grossValue)).toBe("139045");
  });

  it.each<[string, Partial<ValuationInput>, RegExp]>([
    ["a price is missing", { prices: new Map([["SPY", price("592.4")]]) }, /650000 has no price/],
    ["a rate is missing", { holdings: [holding("CHF", "1")] }, /no fresh rate from CHF to USD/],
    ["a rate is too old", { holdings: [holding("EUR", "1")], at: fromUnixMs(1_794_747_600_001) }, /rate from EUR/],
  ])("is none when %s", (_what, differs, why) => {
    expect(valueFund({ ...input, ...differs })).toMatch(why);
  });

  it("is reported with its flows and with what each strategy made, and leaves a strategy out that has no price of its own", () => {
    const strategies = new Map([
      ["gamma-income", [holding("SPY", "2"), holding("USD", "-1184")]],
      ["gamma-hedge", [holding(call, "-1"), holding("USD", "6855.5")]],
      ["gamma-lost", [holding("XOM", "1"), holding("USD", "-100")]],
    ]);
    const record = navRecord(valued({ strategies, netFlows: decimal.parse("-250.5") }), 1);
    expect(navUpdated.parse(record)).toEqual(record);
    expect(record.net_flows).toBe("-250.5");
    expect(record.strategy_pnl).toEqual({ "gamma-income": "0.8", "gamma-hedge": "0.5" });
  });

  it("is made of old prices too, which are named with their age", () => {
    expect(valued({ priceAgeMsMax: 1_250 }).old.size).toBe(0);
    const old = valued({ priceAgeMsMax: 1_249 });
    expect([...old.old]).toEqual([[call, 1_250]]);
    expect(old.nav).toBe(valued().nav);
  });

  it("is reported without its prices when it has too many of them", () => {
    const many = Array.from({ length: pricesMax + 1 }, (_none, index) => `S${index}`);
    const spy = view.instruments.get("SPY");
    if (spy === undefined) throw new Error("SPY");
    const instruments = new Map(many.map((symbol) => [symbol, { ...spy, symbol }]));
    const prices = new Map(many.map((symbol) => [symbol, price("1")]));
    const holdings = many.map((symbol) => holding(symbol, "1"));
    const reported = (count: number) =>
      navRecord(valued({ view: { ...view, instruments }, prices, holdings: holdings.slice(0, count) }), 1);
    expect(reported(pricesMax + 1).prices).toBeUndefined();
    expect(Object.keys(navUpdated.parse(reported(pricesMax)).prices ?? {})).toHaveLength(pricesMax);
  });

  it("changes other currencies, by the rate in either direction", () => {
    const euros = { ...gamma, currency: "EUR" };
    expect(decimal.format(valued({ holdings: [holding("EUR", "100")] }).nav)).toBe("108.5");
    const inEuros = valued({ fund: euros, holdings: [holding("USD", "108.5")] });
    expect(decimal.formatFixed(inEuros.nav, 9, "half-even")).toBe("100.000000000");
    const reported = navRecord(valued({ holdings: [holding("EUR", "100")] }), 1);
    expect(reported.rates).toEqual({ EUR: { rate: "1.085", at: "2026-11-15T12:00:00.000000Z" } });
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
        const before = valued({ prices }).nav;
        const after = valued({ prices, holdings: [...input.holdings, ...legs], strategies: new Map([["one", legs]]) });
        expect(after.nav).toBe(before);
        expect(after.nav).toBe(decimal.add(after.cash, after.positionsValue));
        expect(after.strategyPnl.get("one")).toBe(0n);
      }),
      { seed: 20_261_115, numRuns: inputCount(300) },
    );
  });

  it("loses the fee, in the fee's own currency", () => {
    const instrument = view.instruments.get("SPY");
    if (instrument === undefined) throw new Error("SPY");
    const fill = { ...exampleFill, symbol: "SPY", fee: "1.25" };
    const lost = (differs: Partial<typeof fill>) => {
      const holdings = legsOf({ ...fill, ...differs }, instrument);
      const prices = new Map([["SPY", price(fill.price)]]);
      return decimal.format(valued({ holdings, prices }).nav);
    };
    expect(lost({})).toBe("-1.25");
    expect(lost({ currency: "EUR" })).toBe("-1.35625");
    expect(lost({ fee: "-0.5" })).toBe("0.5");
  });
});
