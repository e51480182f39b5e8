// Least squares against lines that are known, and refusals where there is no one answer.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dot, leastSquares, neweyWestErrors, orthogonalBasis, plainErrors } from "./linear-regression.ts";
import { longRunVariance } from "./long-run-variance.ts";

const line = (count: number) => Array.from({ length: count }, (_, index) => index);
const ones = (count: number) => line(count).map(() => 1);

describe("least squares", () => {
  it("finds the coefficients of a plane exactly, also far from the origin", () => {
    const x = line(30).map((each) => each + 1e6);
    const w = line(30).map((each) => Math.sin(each));
    const y = x.map((each, index) => 3 - 2 * each + 0.5 * (w[index] ?? 0));
    const fit = leastSquares([ones(30), x, w], y);
    expect(fit?.coefficients[1]).toBeCloseTo(-2, 9);
    expect(fit?.coefficients[2]).toBeCloseTo(0.5, 9);
  });
  it("leaves residuals that no column explains", () => {
    const noise = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(noise, (y) => {
        const columns = [ones(12), line(12)];
        const fit = leastSquares(columns, y);
        for (const column of columns) expect(Math.abs(dot(column, fit?.residuals ?? [1]))).toBeLessThan(1e-10);
      }),
      { seed: 31, numRuns: 50 },
    );
  });
  it("refuses columns that depend on each other, and too few rows", () => {
    const x = [0.3, -0.1, 0.25, 0.7, -0.4];
    expect(orthogonalBasis([ones(5), x, x.map((each) => 2 * each - 1)]).rank).toBe(2);
    expect(leastSquares([ones(5), x, x.map((each) => 2 * each - 1)], line(5))).toBeNull();
    expect(leastSquares([ones(2), [1, 2]], [1, 2])).toBeNull();
    expect(orthogonalBasis([[0, 0, 0]]).rank).toBe(0);
  });
});

describe("errors", () => {
  it("are those of a mean for a constant alone", () => {
    const y = [1, 2, 4, 8, 16, 3];
    const fit = leastSquares([ones(6)], y);
    if (fit === null) throw new Error("no fit");
    const middle = 34 / 6;
    const variance = y.reduce((total, each) => total + (each - middle) ** 2, 0) / 5;
    expect(plainErrors(fit)[0]).toBeCloseTo(Math.sqrt(variance / 6), 12);
    // With no lag and the correction n / (n - k) the two agree.
    expect(neweyWestErrors(fit, 0)[0]).toBeCloseTo(Math.sqrt(variance / 6), 12);
    // With lags it is the long-run variance of the row.
    expect(neweyWestErrors(fit, 2)[0]).toBeCloseTo(Math.sqrt((longRunVariance(y, 2) ?? 0) / 5), 12);
  });
  it("grow where neighbours resemble each other: overlapping figures must not look certain", () => {
    const blocks = line(120).map((index) => Math.sin(Math.floor(index / 10) * 1.7));
    const fit = leastSquares([ones(120), line(120)], blocks);
    if (fit === null) throw new Error("no fit");
    expect((neweyWestErrors(fit, 10)[1] ?? 0) / (plainErrors(fit)[1] ?? 1)).toBeGreaterThan(1.5);
  });
});
