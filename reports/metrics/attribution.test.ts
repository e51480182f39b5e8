// Attribution: parts that sum to the whole for any figures, labels that never look ahead, and what has no answer.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { evaluate } from "../../testkit/oracle/reports.ts";
import { linkedEffects, sectorEffects } from "./brinson.ts";
import { stateProbabilities } from "./hidden-states.ts";
import { activeCarino, carino, compounded, linkingFactors } from "./linking.ts";
import { unitNav } from "./nav.ts";
import { dayProfit, linkedContributions, type PositionDay } from "./position-attribution.ts";
import { regimeAttribution, volatilityRegimes } from "./regimes.ts";
import { factorFit, holdingsAttribution } from "./regression.ts";

const d = decimal.parse;
const seeded = { seed: 31, numRuns: 100 };
const small = fc.double({ min: -0.1, max: 0.1, noNaN: true });
const row = (length: number) => fc.array(small, { minLength: length, maxLength: length });

describe("linking", () => {
  it("makes contributions sum to the compounded return, which plain sums do not", () => {
    fc.assert(
      fc.property(row(20), row(20), (left, right) => {
        const returns = left.map((each, index) => each + (right[index] ?? 0));
        const factors = linkingFactors(returns) ?? [];
        const of = (values: readonly number[]) => values.reduce((sum, each, at) => sum + each * (factors[at] ?? 0), 0);
        expect(of(left) + of(right)).toBeCloseTo(compounded(returns), 10);
      }),
      seeded,
    );
    expect(compounded([0.5, 0.5])).toBe(1.25);
  });
  it("has limits where nothing was earned, and no answer after a total loss", () => {
    expect([carino(0), activeCarino(0.02, 0.02)]).toEqual([1, 1 / 1.02]);
    expect(activeCarino(0.02 + 1e-13, 0.02)).toBeCloseTo(1 / 1.02, 12);
    expect(linkingFactors([0.1, -1])).toBeNull();
  });
});

describe("Brinson and Fachler", () => {
  it("refuses a held sector without a return, which is not a return of zero", () => {
    const whole = { wp: [0.5, 0.5], wb: [1, 0], rp: [0.01, 0.02], rb: [0.01, null] };
    expect(evaluate("brinson", "whole", whole)).toMatchObject({ Rp: 0.015 });
    expect(() => evaluate("brinson", "missing", { ...whole, rp: [null, 0.02] })).toThrow("place 1 has a weight");
    expect(() => evaluate("brinson", "missing", { periods: [{ ...whole, rb: [null, null] }] })).toThrow("no return");
  });
  const period = fc.record({
    portfolioWeights: row(4),
    benchmarkWeights: row(4),
    portfolioReturns: row(4),
    benchmarkReturns: row(4),
  });
  it("sums to the active return, over one period and linked over many", () => {
    fc.assert(
      fc.property(fc.array(period, { minLength: 1, maxLength: 6 }), (periods) => {
        // Weights sum to one: the effects of a sector are relative to the whole.
        const whole = (weights: readonly number[]) => [...weights, 1 - weights.reduce((sum, each) => sum + each, 0)];
        const full = periods.map((each) => ({
          portfolioWeights: whole(each.portfolioWeights),
          benchmarkWeights: whole(each.benchmarkWeights),
          portfolioReturns: [...each.portfolioReturns, 0.001],
          benchmarkReturns: [...each.benchmarkReturns, 0.002],
        }));
        for (const each of full.map(sectorEffects)) expect(each.sum).toBeCloseTo(each.active, 12);
        const linked = linkedEffects(full);
        expect(linked?.sum).toBeCloseTo(linked?.active ?? Number.NaN, 12);
      }),
      seeded,
    );
  });
  it("gives no allocation to a sector that the benchmark lacks and no selection to one that is not held", () => {
    const { allocation, selection } = sectorEffects({
      portfolioWeights: [0.6, 0.4, 0],
      benchmarkWeights: [0.5, 0, 0.5],
      portfolioReturns: [0.01, 0.2, 0],
      benchmarkReturns: [0.02, 0, -0.01],
    });
    expect(allocation[1]).toBeCloseTo(0, 15);
    expect(selection[2]).toBeCloseTo(0, 15);
  });
});

const position = (changes: Partial<PositionDay>): PositionDay => ({
  symbol: "AAA",
  openQuantity: d("100"),
  openPrice: d("10.01"),
  closePrice: d("10.02"),
  openRate: d("1"),
  closeRate: d("1"),
  trades: [],
  income: d("0"),
  multiplier: d("1"),
  ...changes,
});

describe("position attribution", () => {
  it("sums to the change of cash and value to the last digit, in a foreign currency and with trades", () => {
    const amount = fc.integer({ min: 1, max: 100_000 }).map((each) => decimal.fromNumber(each / 100));
    const trade = fc.record({ quantity: amount, price: amount, fee: amount });
    fc.assert(
      fc.property(amount, amount, amount, amount, amount, fc.array(trade, { maxLength: 4 }), (...given) => {
        const [openQuantity, openPrice, closePrice, openRate, closeRate, trades] = given;
        const day = dayProfit(d("1000000"), [
          position({ openQuantity, openPrice, closePrice, openRate, closeRate, trades }),
        ]);
        const times = (...all: readonly decimal.Decimal[]) =>
          all.reduce((left, right) => decimal.multiply(left, right, "half-even"), decimal.one);
        // Local cash is converted at the close's rate, as it would be in the ledger.
        const closing = trades.reduce((sum, each) => decimal.add(sum, each.quantity), openQuantity);
        const cash = trades.reduce(
          (sum, each) =>
            decimal.subtract(sum, times(decimal.add(times(each.quantity, each.price), each.fee), closeRate)),
          decimal.zero,
        );
        const change = decimal.subtract(
          times(closing, closePrice, closeRate),
          times(openQuantity, openPrice, openRate),
        );
        expect(day.total).toBe(decimal.add(change, cash));
        expect(day.closeNav).toBe(decimal.add(d("1000000"), day.total));
      }),
      seeded,
    );
  });
  it("counts what a split brought with the move of the price that it made: neither is a gain or a loss by itself", () => {
    const split = { quantity: d("100"), price: d("0"), fee: d("0"), isSplit: true };
    const [found] = dayProfit(d("1000000"), [position({ closePrice: d("5.01"), trades: [split] })]).positions;
    expect([found?.price, found?.trading, found?.total]).toEqual([d("1"), d("0"), d("1")]);
  });
  it("links days so that symbols sum to the compounded return, and has no answer on a NAV of zero", () => {
    const days = [dayProfit(d("1000"), [position({})]), dayProfit(d("1001"), [position({ closePrice: d("9") })])];
    const linked = linkedContributions(days);
    expect(linked?.sum).toBeCloseTo(linked?.total ?? Number.NaN, 14);
    expect(linkedContributions([dayProfit(d("0"), [position({})])])).toBeNull();
  });
});

describe("a deposit", () => {
  it("is no return", () => {
    const { returns, twr } = unitNav([100, 110, 160], [0, 0, 50]);
    expect(returns).toEqual([0.10000000000000009, 0]);
    expect(twr).toBeCloseTo(0.1, 12);
  });
});

describe("factors", () => {
  it("explains the mean exactly and its variance wholly", () => {
    fc.assert(
      fc.property(row(30), row(30), row(30), (y, one, two) => {
        const fit = factorFit(
          y,
          one.map((each, index) => [each, two[index] ?? 0]),
          252,
        );
        if ("reason" in fit) return;
        expect(fit.contributions.reduce((sum, each) => sum + each, 0)).toBeCloseTo(fit.mean, 10);
        expect(fit.varianceSystematic + fit.varianceSpecific).toBeCloseTo(fit.varianceTotal, 10);
      }),
      seeded,
    );
  });
  it("refuses factors that depend on each other and samples that are too small", () => {
    const y = [0.01, 0.02, -0.01, 0.03];
    expect(
      factorFit(
        y,
        [
          [1, 2],
          [2, 4],
          [3, 6],
          [5, 10],
        ],
        252,
      ),
    ).toEqual({
      rankDeficient: true,
      rank: 2,
      reason: "RANK_DEFICIENT",
    });
    expect(factorFit([0.01, 0.02], [[1], [2]], 252)).toMatchObject({ reason: "INSUFFICIENT_DATA" });
  });
  it("finds nothing in a row that never moves, instead of breaking or measuring its rounding", () => {
    const factors = [[0.01], [-0.02], [0.005], [0.013], [-0.007]];
    for (const each of [0, 0.0003]) {
      const fit = factorFit(
        factors.map(() => each),
        factors,
        252,
      );
      expect(fit).toMatchObject({ coefficients: [each, 0], p: [null, null], r2: null, varianceShares: [null] });
    }
  });
  it("splits a return into common and specific, and the common into tilt and timing", () => {
    const found = holdingsAttribution(
      [
        [1, 0],
        [0, 1],
      ],
      [[1], [3]],
      [[0.1], [0.2]],
      [0.5, 0.5],
    );
    expect(found.exposures).toEqual([[1], [3]]);
    expect(found.common).toEqual([0.1, 0.6000000000000001]);
    expect(found.tilt).toEqual([0.2, 0.4]);
    expect(found.specific[0]).toBeCloseTo(0.4, 12);
    expect(found.timing[1]).toBeCloseTo(0.2, 12);
  });
});

describe("regimes", () => {
  const market = Array.from({ length: 80 }, (_, index) => Math.sin(index * 1.3) * (index > 40 ? 0.03 : 0.005));
  it("labels a day from the days before it alone", () => {
    const cuts = [0.05, 0.2] as const;
    const labels = (row: readonly number[]) => volatilityRegimes(row, 20, 252, cuts).labels;
    const changed = [...market];
    changed[30] = 0.9;
    expect(labels(changed).slice(0, 31)).toEqual(labels(market).slice(0, 31));
    expect(labels(changed).slice(30, 32)).toEqual(["mid", "high"]);
    expect(
      labels(market)
        .slice(0, 20)
        .every((each) => each === "warmup"),
    ).toBe(true);
  });
  it("sums to the compounded return, warm-up included", () => {
    const returns = market.map((each) => each / 2 + 0.001);
    const { labels } = volatilityRegimes(market, 20, 252);
    const found = regimeAttribution(returns, labels, 252);
    expect(found.linkedSum).toBeCloseTo(found.total, 12);
    expect([...found.byRegime.values()].reduce((sum, each) => sum + each.days, 0)).toBe(80);
    expect(volatilityRegimes([0.01], 20, 252)).toEqual({ cuts: null, labels: ["warmup"] });
  });
  it("filters without the future, which only the smoother knows", () => {
    const model = { means: [0.0005, -0.001], deviations: [0.006, 0.02], stay: [0.97, 0.95] } as const;
    const whole = stateProbabilities(market, model);
    const half = stateProbabilities(market.slice(0, 45), model);
    expect(half.filtered).toEqual(whole.filtered.slice(0, 45));
    expect(half.smoothed[44]).not.toBeCloseTo(whole.smoothed[44] ?? 0, 6);
    expect(whole.smoothed.at(-1)).toBe(whole.filtered.at(-1));
    expect(whole.filtered.every((each) => each >= 0 && each <= 1)).toBe(true);
  });
  it("gives the day of a crash to the wide state, also where both densities round to zero", () => {
    const model = { means: [0.001, -0.001], deviations: [0.002, 0.01], stay: [0.97, 0.95] } as const;
    const found = stateProbabilities([0.001, -0.6, 0.002], model);
    expect(found.filtered[1]).toBe(1);
    expect(Number.isFinite(found.logLikelihood)).toBe(true);
  });
});
