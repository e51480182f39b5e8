// Definitions that have gone wrong elsewhere, each with the figure that tells the right one from the wrong one.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawdowns, drawdownTable, maxDrawdown } from "./drawdowns.ts";
import { covariance, isConstant, populationShape } from "./moments.ts";
import * as performance from "./performance.ts";
import * as relative from "./relative-performance.ts";

const rows = fc.array(fc.double({ min: -0.2, max: 0.2, noNaN: true }), { minLength: 2, maxLength: 60 });
const seeded = { seed: 31, numRuns: 100 };

describe("periods in a year", () => {
  it("reach every annualised figure", () => {
    const returns = [0.01, -0.02, 0.015, 0.005];
    for (const figure of [
      performance.volatility,
      performance.sharpe,
      performance.downsideDeviation,
      performance.sortino,
    ]) {
      expect((figure(returns, 365) ?? 0) / (figure(returns, 252) ?? 1)).toBeCloseTo(Math.sqrt(365 / 252), 12);
    }
    expect(performance.annualGrowth(returns, 8)).toBeCloseTo((1 + performance.totalReturn(returns)) ** 2 - 1, 12);
    expect(performance.annualGrowth([-1], 252)).toBe(-1);
    // A level of 0.9 ^ 400 is 5e-19, of which 1 + total return has no digit left.
    expect(performance.annualGrowth(Array(400).fill(-0.1), 1)).toBeCloseTo(-0.1, 12);
    expect(performance.annualGrowth([-1.5], 252)).toBeNull();
  });
  it("turn a yearly rate into a periodic one by compounding", () => {
    expect((1 + performance.periodicRate(0.05, 12)) ** 12).toBeCloseTo(1.05, 12);
  });
});

describe("ratios", () => {
  it("divides the downside by ALL periods", () => {
    // Over the negatives alone it would be 0.02.
    expect(performance.downsideDeviation([0.01, -0.02, 0.01, 0.01], 1)).toBeCloseTo(0.01, 15);
  });
  it("has no Sharpe ratio where nothing moves, whatever rounding leaves in the mean", () => {
    const constants = [
      [0, 37],
      [0.0007, 25],
      [0.0003, 105],
      [-0.01, 29],
    ] as const;
    for (const [value, length] of constants) {
      const constant = Array.from({ length }, () => value);
      expect(performance.sharpe(constant, 252), String(value)).toBeNull();
      expect(performance.volatility(constant, 252), String(value)).toBe(0);
      expect(performance.sharpeInterval(constant, 252, 0.95)).toBeNull();
      expect(performance.probabilisticSharpe(constant)).toBeNull();
    }
    expect(isConstant([0.001, 0.0010001])).toBe(false);
  });
  it("is null, never infinite or zero, without losses, with one return and with none", () => {
    const rising = [0.01, 0.02];
    for (const figure of [performance.sortino, performance.calmar]) expect(figure(rising, 252)).toBeNull();
    for (const figure of [performance.profitFactor, performance.gainToPain, performance.payoff]) {
      expect(figure(rising)).toBeNull();
    }
    expect([performance.sharpe([0.01], 252), performance.volatility([0.01], 252)]).toEqual([null, null]);
    for (const figure of [performance.winRate, performance.tailRatio, performance.stability, performance.averageGain]) {
      expect(figure([])).toBeNull();
    }
    expect(performance.historicalShortfall([], 0.95)).toBeNull();
  });
  it("knows how straight tiny returns go, which a level beside 1 has half lost", () => {
    const shape = Array.from({ length: 64 }, (_unused, index) => Math.sin(index * index) + 0.1);
    const straight = (scale: number): number => performance.stability(shape.map((each) => each * scale)) ?? 0;
    expect(Math.abs(straight(1e-9) / straight(1e-13) - 1)).toBeLessThan(1e-6);
    expect(performance.stability([0.1, -1, 0.1])).toBeNull();
  });
  it("takes the raw kurtosis of the population for the error of the Sharpe ratio", () => {
    const returns = [0.01, -0.02, 0.03, 0.005, -0.01, 0.02];
    const shape = populationShape(returns);
    const ratio = performance.sharpe(returns, 1) ?? 0;
    const variance = 1 - (shape?.skewness ?? 0) * ratio + (((shape?.kurtosis ?? 0) - 1) / 4) * ratio ** 2;
    expect(performance.sharpeError(returns)).toBeCloseTo(Math.sqrt(variance / 5), 14);
    // Two equal halves at +-1 have the smallest kurtosis there is, 1: excess kurtosis would make it -2.
    expect(populationShape([1, -1, 1, -1])).toEqual({ skewness: 0, kurtosis: 1 });
  });
  it("widens the Sharpe ratio's interval around the ratio", () => {
    fc.assert(
      fc.property(rows, (returns) => {
        const interval = performance.sharpeInterval(returns, 252, 0.95);
        const ratio = performance.sharpe(returns, 252);
        if (interval === null || ratio === null) return;
        expect(interval.lower).toBeLessThanOrEqual(ratio);
        expect(interval.upper).toBeGreaterThanOrEqual(ratio);
      }),
      seeded,
    );
  });
  it("tells the historical VaR from the normal one", () => {
    const returns = [...Array.from({ length: 99 }, () => 0.001), -0.5];
    expect(performance.historicalVar(returns, 0.95)).toBeCloseTo(0.001, 12);
    expect(performance.gaussianVar(returns, 0.95)).toBeLessThan(-0.08);
    expect(performance.historicalShortfall([-0.03, -0.02, -0.01, 0, 0.01], 0.5)).toBeCloseTo(-0.02, 12);
  });
});

describe("drawdowns", () => {
  it("count the loss of the first day from the start", () => {
    expect(maxDrawdown([-0.1, 0.05])).toBeCloseTo(-0.1, 12);
    expect(drawdownTable([-0.1, 0.05])).toMatchObject([
      { peak: null, valley: 0, recovery: null, periodsUnderwater: 2 },
    ]);
  });
  it("end on the day that reaches the peak again", () => {
    expect(drawdownTable([0.5, -0.5, 1, -0.25, 0.1])).toEqual([
      {
        peak: 0,
        valley: 1,
        recovery: 2,
        depth: -0.5,
        periodsPeakToValley: 1,
        periodsValleyToRecovery: 1,
        periodsUnderwater: 1,
      },
      {
        peak: 2,
        valley: 3,
        recovery: null,
        depth: -0.25,
        periodsPeakToValley: 1,
        periodsValleyToRecovery: null,
        periodsUnderwater: 2,
      },
    ]);
  });
  it("cover every underwater period once, and the deepest is the maximum", () => {
    fc.assert(
      fc.property(rows, (returns) => {
        const table = drawdownTable(returns);
        const under = drawdowns(returns).filter((each) => each < 0).length;
        expect(table.reduce((total, each) => total + each.periodsUnderwater, 0)).toBe(under);
        expect(table[0]?.depth ?? 0).toBe(maxDrawdown(returns));
      }),
      seeded,
    );
  });
});

describe("beside a benchmark", () => {
  it("finds the line that made the returns", () => {
    const benchmark = [0.01, -0.02, 0.03, 0.005, -0.01];
    const line = relative.marketLine(
      benchmark.map((each) => 0.001 + 1.5 * each),
      benchmark,
    );
    expect(line?.beta).toBeCloseTo(1.5, 12);
    expect(line?.alpha).toBeCloseTo(0.001, 12);
    expect(line?.correlation).toBeCloseTo(1, 12);
    expect(relative.trackingError(benchmark, benchmark, 252)).toBe(0);
    expect(relative.informationRatio(benchmark, benchmark, 252)).toBeNull();
    expect(relative.marketLine(benchmark, [0.01, 0.01, 0.01, 0.01, 0.01])).toBeNull();
    expect(relative.capture([0.01, 0.02], [0.01, 0.02], 252, "up")).toBeCloseTo(1, 12);
    expect(relative.capture([0.01, 0.02], [0.01, 0.02], 252, "down")).toBeNull();
    expect(covariance([1], [1])).toBeNull();
  });
});
