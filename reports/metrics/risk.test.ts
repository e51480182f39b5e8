// Risk, decay and post-mortem: parts that sum, tests with known answers, and what has none.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { evaluate, evaluated } from "../../testkit/oracle/reports.ts";
import { calendarTrend, curveFit, horizonDecay, signalMemory } from "./decay.ts";
import { navBand } from "./nav.ts";
import { performanceTable, relativeTable } from "./performance.ts";
import { onset, waterfall } from "./post-mortem.ts";
import { baselZone, portfolioRisk, varBacktest } from "./value-at-risk.ts";

const d = decimal.parse;

describe("value at risk", () => {
  const returns = Array.from({ length: 40 }, (_, index) => [Math.sin(index) / 50, Math.cos(index * 1.7) / 60]);
  it("is the sum of its components", () => {
    const risk = portfolioRisk(returns, [0.6, -0.3], 0.99);
    expect(risk?.components?.reduce((sum, each) => sum + each, 0)).toBeCloseTo(risk?.parametricVar ?? Number.NaN, 14);
    expect([risk?.gross, risk?.net]).toEqual([0.8999999999999999, 0.3]);
    expect(portfolioRisk([], [1, 1], 0.99)).toBeNull();
  });
  it("still knows exposures where nothing moves, positions cancel or there is one day", () => {
    const still = { deviation: 0, parametricVar: 0, historicalVar: 0, components: null, diversificationRatio: null };
    expect(portfolioRisk(returns, [0, 0], 0.99)).toMatchObject({ ...still, gross: 0, concentration: null });
    const twins = returns.map(([one = 0]) => [one, one]);
    expect(portfolioRisk(twins, [0.7, -0.7], 0.99)).toMatchObject({ ...still, gross: 1.4, net: 0, concentration: 0.5 });
    expect(portfolioRisk([[0.02, 0.01]], [0.5, 0.5], 0.99)).toMatchObject({
      deviation: null,
      parametricVar: null,
      parametricShortfall: null,
      components: null,
      historicalVar: -0.015,
      gross: 1,
    });
  });
  it("has the committee's zones for 250 days at 99 %, and moves them with the number of days", () => {
    const zones = (count: number, upTo: number) =>
      Array.from({ length: upTo + 1 }, (_, exceptions) => baselZone(exceptions, count, 0.01));
    expect(zones(250, 11)).toEqual([
      ...Array.from({ length: 5 }, () => "green"),
      ...Array.from({ length: 5 }, () => "yellow"),
      "red",
      "red",
    ]);
    expect(zones(500, 9).lastIndexOf("green")).toBe(8);
  });
  it("survives no exception, only exceptions and no day at all", () => {
    expect(varBacktest([], 0.99)).toBeNull();
    const calm = varBacktest(
      Array.from({ length: 250 }, () => false),
      0.99,
    );
    expect(calm?.kupiec).toBeCloseTo(-2 * 250 * Math.log(0.99), 10);
    expect([calm?.independence, calm?.zone]).toEqual([0, "green"]);
    expect(varBacktest([true, true], 0.99)).toMatchObject({ exceptions: 2, independence: 0 });
  });
});

describe("decay", () => {
  it("finds the rate that made the coefficients, by logarithms and by the curve", () => {
    const horizons = [1, 2, 3, 5, 8, 13, 21];
    const skill = horizons.map((each) => 0.06 * Math.exp(-0.1 * each));
    const found = horizonDecay(horizons, skill);
    expect([found.rate, found.initial]).toEqual([expect.closeTo(0.1, 12), expect.closeTo(0.06, 12)]);
    expect(found.halfLife).toBeCloseTo(Math.LN2 / 0.1, 10);
    const curve = curveFit(horizons, [...skill.slice(0, -1), skill.at(-1) ?? 0]);
    expect([curve?.rate, curve?.initial]).toEqual([expect.closeTo(0.1, 9), expect.closeTo(0.06, 9)]);
  });
  it("drops and counts what is not above zero, and says when there is too little or no decay", () => {
    expect(horizonDecay([1, 2, 3], [0.05, -0.01, 0.02])).toMatchObject({
      status: "INSUFFICIENT_DATA",
      dropped: 1,
      usedHorizons: [1, 3],
      halfLife: null,
    });
    expect(horizonDecay([1, 2, 3, 5], [0.01, 0.015, 0.02, 0.03])).toMatchObject({ status: "NO_DECAY", halfLife: null });
    // Equal coefficients: the logarithms' slope is a rounding error on either side of zero.
    expect(horizonDecay([1, 2, 3, 5], [0.05, 0.05, 0.05, 0.05])).toMatchObject({
      status: "NO_DECAY",
      rate: 0,
      halfLife: null,
    });
    expect(horizonDecay([1, 2, 3, 5], [0.05, 0.04, null, 0.02])).toMatchObject({ usedHorizons: [1, 2, 5], dropped: 1 });
    expect(horizonDecay([1, 2, 3, 5], [0.02, 0.06, 0.01, 0.03]).halfLifeInterval?.[1] ?? Infinity).toBe(Infinity);
  });
  it("has a memory only between zero and one", () => {
    expect(signalMemory([1, 1, 1, 1], 5)).toBeNull();
    expect(signalMemory([1, 2, 3], 4)?.autocorrelations).toEqual([0, -0.5, null, null]);
    expect(signalMemory([1, -1, 1, -1, 1, -1], 2)?.halfLife).toBeNull();
    expect(signalMemory([1, 2, 4, 8, 16], 1)?.halfLife).toBe(Number.POSITIVE_INFINITY);
    // A straight line: the slope is one up to rounding.
    const line = Array.from({ length: 20 }, (_, index) => index);
    expect(signalMemory(line, 1)?.halfLife).toBe(Number.POSITIVE_INFINITY);
  });
  it("does not believe a trend in overlapping figures as a plain t would", () => {
    const rolling = Array.from({ length: 200 }, (_, index) => Math.sin(index / 12));
    expect(Math.abs(calendarTrend(rolling)?.t ?? 99)).toBeLessThan(4);
    expect(calendarTrend([1, 2])).toBeNull();
    expect(calendarTrend([0.1, 0.1, 0.1, 0.1, 0.1])).toMatchObject({ slope: 0, t: null });
  });
});

describe("post-mortem", () => {
  it("dates the fall from where the sum last left zero", () => {
    expect(onset([0, 0, -1, 0.5, -3, -3], 0.5, 4)).toEqual({ sums: [0, 0, 0.5, 0, 2.5, 5], alarm: 5, onset: 4 });
    expect(onset([0, 3, 3], 0.5, 4, "high")).toMatchObject({ alarm: 2, onset: 1 });
    expect(onset([-4.5], 0.5, 4)).toMatchObject({ alarm: null, onset: null });
  });
  it("sees a fall after an observation that is no number", () => {
    expect(onset([0, Number.NaN, -3, -3], 0.5, 4)).toMatchObject({ alarm: 3, onset: 2 });
    expect(onset([0, Number.NEGATIVE_INFINITY, 0, 0], 0.5, 4).sums).toEqual([0, 0, 0, 0]);
  });
  it("never folds what is unexplained into a cause", () => {
    const parts = new Map([
      ["market", d("-60")],
      ["fees", d("-30")],
      ["selection", d("5")],
    ]);
    const found = waterfall(d("-90"), parts, 0.05);
    expect(decimal.format(found.unexplained)).toBe("-5");
    expect(found.accepted).toBe(false);
    expect(found.ranked).toEqual(["market", "fees", "selection"]);
    expect([...found.shareOfLoss.values()]).toEqual([2 / 3, 1 / 3, 0]);
    expect(waterfall(d("-100"), new Map([["market", d("-95")]]), 0.05).accepted).toBe(true);
    expect(waterfall(d("0"), new Map([["market", d("1")]]), 0.05)).toMatchObject({
      unexplainedFraction: null,
      accepted: false,
    });
  });
});

describe("the table of a row of returns", () => {
  it("is null, never NaN, for no return and for one", () => {
    for (const returns of [[], [0.01]]) {
      const table = performanceTable({ dates: ["2026-01-05"], returns, periodsPerYear: 252, rfAnnual: 0.02 });
      for (const [name, value] of Object.entries(table)) {
        if (typeof value === "number") expect(Number.isFinite(value), name).toBe(true);
      }
      expect(table.sharpe).toBeNull();
    }
    expect(relativeTable({ dates: [], returns: [0.1], periodsPerYear: 252, rfAnnual: 0 }, [])).toBeNull();
    expect(navBand([0.01], [1, 1], 1, 0.99)).toBeNull();
  });
});

describe("evaluate", () => {
  it("refuses a name and a shape that it does not know", () => {
    expect(() => evaluate("nonesuch", "a", {})).toThrow('no oracle "nonesuch"');
    for (const name of evaluated) expect(() => evaluate(name, "a", { b: 1 })).toThrow("have no known shape: b");
    expect(() => evaluate("toString", "a", {})).toThrow("no oracle");
  });
  it("writes an infinity as the files do", () => {
    expect(evaluate("alpha_decay", "memory", { signal: [1, 2, 4, 8, 16] })).toMatchObject({
      half_life_ar1: "Infinity",
    });
  });
});
