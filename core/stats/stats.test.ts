// Figures that others computed: ranks with ties, correlations, spread, drawdown, and what has no answer.
import { describe, expect, it } from "vitest";
import { chiSquaredQuantile, chiSquaredSf, normalCdf, normalSf, studentQuantile } from "./distributions.ts";
import { acrossSymbols, informationCoefficient, overTime, type RealisedSignal } from "./information-coefficient.ts";
import { longRunVariance } from "./long-run-variance.ts";
import { excessKurtosis, mean, skewness, standardDeviation, sum } from "./moments.ts";
import { performanceOf } from "./performance.ts";
import { correlation, rankCorrelation, ranks } from "./rank-correlation.ts";

const signals = (values: readonly number[], realised: readonly number[]): readonly RealisedSignal[] =>
  values.map((value, place) => ({ symbol: `S${place}`, value, realised: realised[place] ?? 0 }));

describe("moments", () => {
  it("takes n - 1, and has no answer where there is none", () => {
    expect(standardDeviation([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(2.138089935299395, 12);
    expect([mean([]), standardDeviation([1])]).toEqual([null, null]);
    expect(sum([1, 1e100, 1, -1e100])).toBe(2);
  });
  it("sees no spread in equal values, whose mean is off by a rounding error", () => {
    const equal = new Array<number>(41).fill(0.1);
    const climbing = equal.map((_each, place) => place);
    expect(mean(equal)).not.toBe(0.1);
    expect([standardDeviation(equal), longRunVariance(equal)]).toEqual([0, 0]);
    expect([correlation(equal, climbing), correlation(climbing, equal)]).toEqual([null, null]);
  });
  it("sees no shape in equal values, whose mean is off by a rounding error", () => {
    expect([skewness([0.1, 0.1, 0.1]), excessKurtosis([0.1, 0.1, 0.1, 0.1, 0.1, 0.1])]).toEqual([null, null]);
    expect(skewness([1, 1, 4])).toBeCloseTo(Math.sqrt(3), 12);
  });
});

describe("distributions", () => {
  it("end at 0 and 1 however far out they are asked", () => {
    expect([normalCdf(-1e200), normalCdf(1e200), normalSf(1e200)]).toEqual([0, 1, 0]);
    expect([chiSquaredSf(Number.POSITIVE_INFINITY, 3), normalCdf(Number.NEGATIVE_INFINITY)]).toEqual([0, 0]);
  });
  it("have no quantile without degrees of freedom, instead of a search without end", () => {
    for (const freedom of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => chiSquaredQuantile(0.5, freedom)).toThrow("more than 0 degrees of freedom");
      expect(() => studentQuantile(0.1, freedom)).toThrow("more than 0 degrees of freedom");
    }
  });
});

describe("rank correlation", () => {
  it("shares the mean of the places between ties", () => {
    expect(ranks([10, 20, 20, 5])).toEqual([2, 3.5, 3.5, 1]);
  });
  it("agrees with a textbook", () => {
    const iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110];
    const hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17];
    expect(rankCorrelation(iq, hours)).toBeCloseTo(-29 / 165, 12);
    expect(rankCorrelation([1, 2, 3], [10, 20, 30])).toBe(1);
    expect(rankCorrelation([1, 2, 3], [5, 5, 5])).toBeNull();
  });
});

describe("information coefficient", () => {
  it("needs five symbols and two sides that move", () => {
    expect(acrossSymbols(signals([1, 2, 3, 4], [1, 2, 3, 4]))).toBeNull();
    expect(acrossSymbols(signals([1, 2, 3, 4, 5], [5, 4, 3, 2, 1]))).toBe(-1);
    expect(acrossSymbols(signals([1, 1, 1, 1, 1], [5, 4, 3, 2, 1]))).toBeNull();
  });
  it("goes over time where there are few symbols", () => {
    const moments = Array.from({ length: 25 }, (_, place) => signals([place], [place * 2]));
    expect(overTime(moments.slice(0, 19))).toBeNull();
    expect(overTime(moments)).toBe(1);
    expect(informationCoefficient(1, moments)).toBe(1);
    expect(informationCoefficient(8, moments)).toBeNull();
  });
});

describe("performance", () => {
  it("is of the days of its own year", () => {
    const { annualReturn, annualVolatility, sharpe, drawdownMax } = performanceOf([0.1, -0.2, 0.1, 0.05], 252);
    expect(annualReturn).toBeCloseTo(0.0125 * 252, 12);
    expect(annualVolatility).toBeCloseTo((standardDeviation([0.1, -0.2, 0.1, 0.05]) ?? 0) * Math.sqrt(252), 12);
    expect(sharpe).toBeCloseTo(annualReturn / annualVolatility, 12);
    expect(drawdownMax).toBeCloseTo(0.2, 12);
    expect(performanceOf([0, 0], 365).sharpe).toBeNull();
  });
});
