// What may be taken out of the reference data under what stands: each rule by a change that breaks only it, and any change against a model.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { type Standing, standingAgainst, takesAway } from "./reference-standing.ts";

const at = parse("2026-11-16T12:00:00Z");
const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
const instrument = (symbol: string, differs: Partial<Instrument> = {}): Instrument => ({
  symbol,
  name: symbol,
  asset_class: "EQUITY",
  currency: "USD",
  tick_size: "0.01",
  lot_size: "1",
  multiplier: "1",
  sector: "Tech",
  calendar: "always",
  ...differs,
});
const option = instrument("AAPL-C", { asset_class: "OPTION", multiplier: "100", underlying: "AAPL", strike: "200" });
const calendar = { name: "always", zone: "UTC", sessions: "always" as const, holidays: [], early_closes: {} };
const alpha = { fund_id: "alpha", name: "a", mode: "PAPER" as const, currency: "USD", calendar: "always" };
const before = {
  instruments: [instrument("AAPL"), instrument("SAP", { currency: "EUR" }), option],
  funds: [
    { ...alpha, strategies: ["a-1", "a-2"] },
    { ...alpha, fund_id: "beta", strategies: ["b-1"] },
  ],
  fx: [{ base: "EUR", quote: "USD", rate: "1.1", as_of: "2026-11-15T10:00:00Z" }],
  calendars: [calendar, { ...calendar, name: "other" }],
};
const tuesdays = [{ weekday: 2, open: "09:00", close: "17:00" }];
type Contents = typeof before;

const held = (symbol: string): Standing => ({ what: `10 ${symbol}`, fundId: "alpha", strategyId: "a-1", symbol });
const cash: Standing = { what: "5 EUR", fundId: "alpha", cash: "EUR" };
const halt: Standing = { what: "halt h-1", fundId: "alpha", strategyId: "a-2" };
const withInstrument = (symbol: string, differs: Partial<Instrument>) => ({
  instruments: before.instruments.map((one) => (one.symbol === symbol ? { ...one, ...differs } : one)),
});
const without = (symbol: string) => ({ instruments: before.instruments.filter((one) => one.symbol !== symbol) });
const alphaWith = (differs: Partial<Contents["funds"][number]> | { readonly mode: "LIVE" }) => ({
  funds: before.funds.map((fund) => (fund.fund_id === "alpha" ? { ...fund, ...differs } : fund)),
});
const against = (differs: object, facts: readonly Standing[]) =>
  standingAgainst(before, { ...before, ...differs }, facts, at);

describe("23.4: what stands keeps its reference data", () => {
  it.each<[string, object, Standing, RegExp]>([
    ["an instrument", without("AAPL"), held("AAPL"), /^instruments: AAPL would go away under: 10 AAPL\.$/],
    ["an underlying", without("AAPL"), held("AAPL-C"), /^instruments: AAPL would go away under: 10 AAPL-C\.$/],
    ["a multiplier", withInstrument("AAPL", { multiplier: "2" }), held("AAPL"), /: multiplier of AAPL would change/],
    ["a currency", withInstrument("AAPL", { currency: "EUR" }), held("AAPL"), /: currency of AAPL would change/],
    ["a class", withInstrument("AAPL", { asset_class: "CRYPTO" }), held("AAPL"), /: asset_class of AAPL would change/],
    ["an underlying's name", withInstrument("AAPL-C", { underlying: "SAP" }), held("AAPL-C"), /: underlying of AAPL-C/],
    ["a strike", withInstrument("AAPL-C", { strike: "210" }), held("AAPL-C"), /: strike of AAPL-C would change/],
    ["a fund", { funds: before.funds.slice(1) }, held("AAPL"), /^funds: alpha would go away under: 10 AAPL\.$/],
    ["a strategy", alphaWith({ strategies: ["a-2"] }), held("AAPL"), /^funds: the strategy a-1 of alpha would go away/],
    ["a halted strategy", alphaWith({ strategies: ["a-1"] }), halt, /a-2 of alpha would go away under: halt h-1\.$/],
    ["a fund's mode", alphaWith({ mode: "LIVE" }), held("AAPL"), /^funds: the mode of alpha would change under/],
    ["a halted fund's mode", alphaWith({ mode: "LIVE" }), halt, /^funds: the mode of alpha would change under: halt/],
    ["a fund's currency", alphaWith({ currency: "EUR" }), cash, /^funds: the currency of alpha would change under/],
    ["a fund's calendar", alphaWith({ calendar: "other" }), held("AAPL"), /^funds: the calendar of alpha would change/],
    ["a zone", { calendars: [{ ...calendar, zone: "Asia/Tokyo" }] }, held("AAPL"), /^calendars: the zone of always/],
    // 23.12: another day at once would begin to count its losses anew.
    [
      "today",
      { calendars: [{ ...calendar, sessions: tuesdays }] },
      held("AAPL"),
      /day \(2026-11-16, then 2026-11-10\)/,
    ],
    ["a rate", { fx: [] }, held("SAP"), /^fx: the rate EUR\/USD would go away under: 10 SAP\.$/],
    ["the rate of cash", { fx: [] }, cash, /^fx: the rate EUR\/USD would go away under: 5 EUR\.$/],
  ])("%s is not taken away under what needs it, and is under what does not", (_what, differs, standing, sentence) => {
    expect(takesAway(before, { ...before, ...differs }, at)).toBe(true);
    expect(against(differs, [standing])[0]).toMatch(sentence);
    expect(against(differs, [])).toEqual([]);
    expect(against(differs, [{ what: "of gamma", fundId: "gamma", strategyId: "g-1", symbol: "BTC-USD" }])).toEqual([]);
  });

  it("a strategy that moves to another fund is gone from its own", () => {
    const funds = before.funds.map((fund) => ({
      ...fund,
      strategies: fund.fund_id === "alpha" ? ["a-2"] : ["b-1", "a-1"],
    }));
    expect(against({ funds }, [held("AAPL")])).toHaveLength(1);
  });

  it("what does not matter to a position may change under it", () => {
    const facts = [held("AAPL"), held("AAPL-C"), held("SAP"), cash, halt];
    const instruments = before.instruments.map((one) => ({
      ...one,
      name: "n",
      tick_size: "0.05",
      lot_size: "10",
      sector: "x",
      multiplier: `${one.multiplier}.0`,
    }));
    const fx = [{ ...before.fx[0], base: "USD", quote: "EUR", rate: "0.9" }];
    const calendars = before.calendars.map((one) => ({ ...one, holidays: ["2026-12-25"] }));
    const funds = before.funds.map((fund) => ({
      ...fund,
      name: "n",
      strategies: [...fund.strategies, `${fund.fund_id}-9`],
    }));
    expect(
      takesAway(before, { ...before, instruments, fx: fx as never, calendars: calendars as never, funds }, at),
    ).toBe(false);
    expect(against({ instruments, fx, calendars, funds }, facts)).toEqual([]);
    // Money alone neither keeps a fund nor its mode.
    expect(against({ funds: before.funds.slice(1) }, [cash])).toEqual([]);
    expect(against(alphaWith({ mode: "LIVE" }), [cash])).toEqual([]);
  });

  it("names ten of what stands and counts the rest", () => {
    const facts = Array.from({ length: 13 }, (_one, index) => ({ ...held("AAPL"), what: `order o-${index}` }));
    expect(against(without("AAPL"), facts)[0]).toMatch(/order o-9 and 3 more\.$/);
  });

  it(`invariants 1 to 3: refused exactly when something that stands loses what it names, seed ${seed}`, () => {
    const parts = fc.record({
      gone: fc.subarray(["AAPL", "SAP", "AAPL-C"]),
      doubled: fc.subarray(["AAPL", "SAP", "AAPL-C"]),
      strategies: fc.subarray(["a-1", "a-2"]),
      hasFund: fc.boolean(),
      facts: fc.array(
        fc.record({ strategyId: fc.constantFrom("a-1", "a-2"), symbol: fc.constantFrom("AAPL", "SAP", "AAPL-C") }),
        { maxLength: 3 },
      ),
    });
    fc.assert(
      fc.property(parts, ({ gone, doubled, strategies, hasFund, facts }) => {
        const instruments = before.instruments
          .filter(({ symbol }) => !gone.includes(symbol))
          .map((one) => (doubled.includes(one.symbol) ? { ...one, multiplier: "7" } : one));
        const funds = before.funds.filter(({ fund_id: id }) => hasFund || id !== "alpha");
        const changed = funds.map((fund) => (fund.fund_id === "alpha" ? { ...fund, strategies } : fund));
        const standing = facts.map((one) => ({ what: "x", fundId: "alpha", ...one }));
        const loses = facts.some(
          ({ strategyId, symbol }) =>
            !hasFund ||
            !strategies.includes(strategyId) ||
            gone.includes(symbol) ||
            doubled.includes(symbol) ||
            (symbol === "AAPL-C" && gone.includes("AAPL")),
        );
        return loses === standingAgainst(before, { ...before, instruments, funds: changed }, standing, at).length > 0;
      }),
      { seed, numRuns: inputCount(300) },
    );
  });
});
