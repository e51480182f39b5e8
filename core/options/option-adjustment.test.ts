// Options on a share that is split or renamed: any ratio and any strikes keep value, cost and what would be paid by exercising, or are refused; and the
// risk engine counts the same before and after.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { ActionLeg } from "../../contracts/src/records/corporate-action.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { ReferenceContents } from "../../contracts/src/records/reference.ts";
import { inputCount } from "../../testkit/full-count.ts";
import {
  engineFixture,
  hold,
  markOf,
  moment,
  optionRisks,
  prices,
  reference,
  valueAll,
} from "../../testkit/risk/engine-fixture.ts";
import { inverse, parseRatio, type Ratio, reissued, scaled } from "../ledger/corporate-actions.ts";
import { bookTrade, flatPosition } from "../ledger/position.ts";
import { adjustedOption, optionLegs } from "./option-adjustment.ts";

const d = decimal.parse;
const seed = 20_261_117;
const isWhole = ([, from]: Ratio): boolean => from === 1;
const times = (...factors: readonly string[]): decimal.Decimal =>
  factors.map(d).reduce((one, other) => decimal.multiply(one, other, "half-even"));

const share: Instrument = {
  symbol: "SPY",
  name: "SPY",
  asset_class: "EQUITY",
  currency: "USD",
  tick_size: "0.01",
  lot_size: "1",
  multiplier: "1",
  sector: "index",
  calendar: "us",
};

function series(strike: string, right: "CALL" | "PUT" = "CALL", symbol?: string): Instrument {
  const thousandths = decimal.format(times(strike, "1000")).padStart(8, "0");
  const terms = { underlying: "SPY", expiry: "2028-12-15", strike, right, multiplier: "100" };
  return {
    ...share,
    asset_class: "OPTION",
    ...terms,
    symbol: symbol ?? `SPY 281215${right === "CALL" ? "C" : "P"}${thousandths}`,
  };
}

const legOf = (ratio: Ratio, newSymbol = "SPY"): ActionLeg => ({
  symbol: "SPY",
  new_symbol: newSymbol,
  quantity: [...ratio],
  price: [...inverse(ratio)],
});

function adjust(ratio: Ratio, options: readonly Instrument[], newSymbol?: string) {
  const found = optionLegs(share, legOf(ratio, newSymbol), [share, ...options]);
  if ("why" in found) return found.why;
  return found.legs.map((leg) => {
    const option = options.find(({ symbol }) => symbol === leg.symbol);
    if (option === undefined) throw new Error(`${leg.symbol} is no option`);
    return { leg, option, after: adjustedOption(option, leg, newSymbol ?? "SPY") };
  });
}

describe(`23.4: options on a share that is split or renamed, seed ${seed}`, () => {
  it("n for one: n contracts at an n-th of the strike, for 100 shares each", () => {
    const adjusted = adjust([4, 1], [series("650"), series("162.5", "PUT")]);
    if (typeof adjusted === "string") throw new Error(adjusted);
    const shown = adjusted.map(({ leg, after }) => [leg.symbol, leg.quantity, after.symbol, after.strike]);
    expect(shown).toEqual([
      ["SPY 281215P00162500", [4, 1], "SPY 281215P00040625", "40.625"],
      ["SPY 281215C00650000", [4, 1], "SPY 281215C00162500", "162.5"],
    ]);
    expect(adjusted.map(({ after }) => [after.multiplier, after.underlying])).toEqual([
      ["100", "SPY"],
      ["100", "SPY"],
    ]);
    expect(adjusted[1]?.after.name).toBe("SPY 162.5 call, 2028-12-15");
  });

  it("other splits: as many contracts, for other shares, at a strike that leaves what exercising pays", () => {
    const shown = (ratio: Ratio, ...options: readonly Instrument[]) => {
      const adjusted = adjust(ratio, options);
      if (typeof adjusted === "string") return adjusted;
      return adjusted.map(({ leg, after }) => `${leg.quantity} ${after.symbol} ${after.strike} ${after.multiplier}`);
    };
    expect(shown([3, 2], series("600"))).toEqual(["1,1 SPY1 281215C00400000 400 150"]);
    expect(shown([1, 10], series("650"))).toEqual(["1,1 SPY1 281215C06500000 6500 10"]);
    // Adjusted once more it has the next digit; padded roots stay padded, and a name of one's own stays when nothing but the strike changes.
    expect(shown([1, 10], series("650", "CALL", "SPY1 281215C00650000"))).toEqual(["1,1 SPY1 281215C06500000 6500 10"]);
    expect(shown([2, 1], series("650", "CALL", "SPY   281215C00650000"))).toEqual([
      "2,1 SPY   281215C00325000 325 100",
    ]);
    expect(shown([2, 1], series("650", "CALL", "SPY-C650"))).toEqual(["2,1 SPY-C650 325 100"]);
    expect(shown([1, 10], series("650", "CALL", "SPY-C650"))).toMatch(
      /^There is no name for what SPY-C650 becomes\. Close/,
    );
    expect(shown([3, 1], series("650"))).toMatch(
      /^The strike 650 of SPY 281215C00650000 would be 216\.6.*Close what is held/,
    );
    expect(shown([1, 3], series("650"))).toMatch(/would be for 33\.3.* shares of SPY, which is no whole number/);
    expect(shown([1, 1000], series("650"))).toMatch(/The strike 650 of .* would be 650000/);
  });

  it("another symbol: the same contracts under the new root", () => {
    const adjusted = adjust([1, 1], [series("650"), series("500", "PUT", "SPY1 281215P00500000")], "SPX");
    if (typeof adjusted === "string") throw new Error(adjusted);
    expect(adjusted.map(({ after }) => `${after.symbol} ${after.underlying} ${after.strike}`)).toEqual([
      "SPX1 281215P00500000 SPX 500",
      "SPX 281215C00650000 SPX 650",
    ]);
    const clash = { ...series("650", "CALL", "SPX 281215C00650000"), underlying: "OTHER" };
    const found = optionLegs(share, legOf([1, 1], "SPX"), [share, clash, series("650")]);
    expect(found).toMatchObject({ why: expect.stringContaining("There is no name") });
  });

  it("any ratio and strikes keep value, cost and exercise, give names once, and vacate a name before it is taken", () => {
    const ratios = fc
      .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }))
      .map(([to, from]) => parseRatio(`${to}:${from}`))
      .filter((ratio) => ratio !== undefined);
    const strikes = fc.uniqueArray(
      fc.constantFrom("25", "50", "62.5", "100", "125", "250", "400", "500", "640", "1000"),
    );
    let done = 0;
    fc.assert(
      fc.property(ratios, strikes, fc.integer({ min: -50, max: 50 }), (ratio, chosen, contracts) => {
        const adjusted = adjust(
          ratio,
          chosen.map((strike) => series(strike)),
        );
        if (typeof adjusted === "string") return;
        done += 1;
        const left = new Set(chosen.map((strike) => series(strike).symbol));
        for (const { leg, option, after } of adjusted) {
          left.delete(leg.symbol);
          expect(left.has(after.symbol)).toBe(false);
          left.add(after.symbol);
          expect(leg.quantity).toEqual(isWhole(ratio) ? [...ratio] : [1, 1]);
          const per = (one: Instrument, count: decimal.Decimal) =>
            decimal.multiply(times(one.strike ?? "", one.multiplier), count, "half-even");
          const before = decimal.fromInteger(BigInt(contracts));
          const now = scaled(before, leg.quantity);
          expect(per(after, now)).toBe(per(option, before));
          expect(decimal.isMultipleOf(d(after.strike ?? ""), d("0.001"))).toBe(true);
          if (contracts === 0) continue;
          // Bought at 12.34, adjusted, closed at what 15 has become: the result is what it would have been, to the last decimal.
          const trade = (side: "BUY" | "SELL", quantity: decimal.Decimal, price: decimal.Decimal, of: Instrument) => ({
            fillId: "f",
            side,
            quantity: decimal.abs(quantity),
            price,
            multiplier: d(of.multiplier),
          });
          const [opens, closes] = contracts > 0 ? (["BUY", "SELL"] as const) : (["SELL", "BUY"] as const);
          const held = bookTrade(flatPosition, trade(opens, before, d("12.34"), option));
          const moved = reissued(held, leg, now, d(option.multiplier));
          const price = scaled(d("15"), leg.price);
          const flat = bookTrade(moved, trade(closes, now, price, after));
          const received = times(decimal.format(price), after.multiplier, decimal.format(now));
          expect(flat.realisedPnl).toBe(decimal.subtract(received, times("1234", String(contracts))));
        }
        expect(left.size).toBe(chosen.length);
      }),
      { seed, numRuns: inputCount(300) },
    );
    expect(done).toBeGreaterThan(inputCount(300) / 6);
  });

  it.each([
    ["4:1", "SPY"],
    ["1:10", "SPY"],
    ["5:4", "SPY"],
    ["1:1", "SPX"],
  ])("the risk engine counts the same before and after %s, delta by delta: %s", (text, newSymbol) => {
    const ratio = parseRatio(text) ?? ([1, 1] as const);
    const names = { "SPY-C500": series("500").symbol, "SPY-P400": series("400", "PUT").symbol };
    const contents: ReferenceContents = {
      ...reference,
      instruments: reference.instruments.map((one) =>
        one.asset_class === "OPTION" ? { ...one, symbol: names[one.symbol as "SPY-C500"] } : one,
      ),
      restricted: [{ symbol: "SPY", reason: "restricted" }],
    };
    const listed = (symbol: string) => contents.instruments.find((one) => one.symbol === symbol) as Instrument;
    const found = optionLegs(listed("SPY"), legOf(ratio, newSymbol), contents.instruments);
    if ("why" in found) throw new Error(found.why);
    const legs = new Map([legOf(ratio, newSymbol), ...found.legs].map((leg) => [leg.symbol, leg]));
    const after: ReferenceContents = {
      ...contents,
      instruments: contents.instruments.map((one) => {
        const leg = legs.get(one.symbol);
        if (leg === undefined) return one;
        return one.underlying === undefined ? { ...one, symbol: leg.new_symbol } : adjustedOption(one, leg, newSymbol);
      }),
      borrow: contents.borrow.map((one) => ({ ...one, symbol: legs.get(one.symbol)?.new_symbol ?? one.symbol })),
      restricted: [{ symbol: newSymbol, reason: "restricted" }],
    };
    const wide = { max_stress_loss_pct: 5, max_position_pct: 5, max_gross_exposure_pct: 5, max_net_exposure_pct: 5 };
    const mark = (symbol: keyof typeof names | "SPY", leg: ActionLeg | undefined) => {
      const priced = (price: string): string =>
        decimal.format(leg === undefined ? d(price) : scaled(d(price), leg.price));
      const risk = optionRisks[symbol];
      const reported = markOf(
        leg?.new_symbol ?? (symbol === "SPY" ? symbol : names[symbol]),
        priced(prices[symbol] ?? ""),
        moment(1),
      );
      if (risk === undefined) return reported;
      const { delta, stressed_up: up, stressed_down: down } = risk;
      return {
        ...reported,
        option_risk: { delta, stressed_up: priced(up), stressed_down: priced(down), at: reported.at },
      };
    };
    const used = (isAfter: boolean) => {
      const engine = engineFixture(wide);
      engine.setReference(isAfter ? after : contents);
      for (const [symbol, quantity] of [
        ["SPY", "1000"],
        ["SPY-C500", "-12"],
        ["SPY-P400", "-8"],
      ] as const) {
        const own = symbol === "SPY" ? symbol : names[symbol];
        const leg = isAfter ? legs.get(own) : undefined;
        const now = leg === undefined ? d(quantity) : scaled(d(quantity), leg.quantity);
        hold(engine, "alpha", leg?.new_symbol ?? own, decimal.format(now));
        engine.setMark(mark(symbol, leg));
      }
      engine.setMark(markOf("AAPL", "200", moment(1)));
      valueAll(engine, moment(1));
      const { limits } = engine.headroom({ fundId: "alpha", symbol: "AAPL", side: "BUY" }, moment(2));
      const own = isAfter ? (legs.get(names["SPY-C500"])?.new_symbol ?? "") : names["SPY-C500"];
      const restricted = engine.headroom({ fundId: "alpha", symbol: own, side: "SELL_SHORT" }, moment(2));
      return { limits: limits.map(({ limit, used: sum }) => [limit, sum]), code: restricted.binding };
    };
    const before = used(false);
    expect(before.limits.length).toBeGreaterThan(2);
    expect(used(true)).toEqual(before);
  });
});
