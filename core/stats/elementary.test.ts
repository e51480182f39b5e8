// Our own exponential, logarithm and normal distribution agree with the language's and with known values; Black and Scholes with a textbook's.
import { describe, expect, it } from "vitest";
import { greeksOf, impliedVolatility, type OptionTerms } from "../options/black-scholes.ts";
import { dayWalk, longWalk } from "../paper/brownian.ts";
import { exp, log, normalBelow } from "./elementary.ts";

describe("elementary functions", () => {
  it("agree with the language's", () => {
    for (let x = -30; x <= 30; x += 0.37) {
      expect(Math.abs(exp(x) / Math.exp(x) - 1)).toBeLessThan(1e-14);
      expect(Math.abs(log(Math.exp(x)) - x)).toBeLessThan(1e-13);
    }
    expect(exp(0)).toBe(1);
    expect(log(1)).toBe(0);
    expect(() => log(0)).toThrow(RangeError);
  });

  it("know the normal distribution", () => {
    expect(normalBelow(0)).toBeCloseTo(0.5, 6);
    expect(normalBelow(1.96)).toBeCloseTo(0.975, 4);
    expect(normalBelow(-1)).toBeCloseTo(0.158_655, 6);
  });
});

describe("Black and Scholes", () => {
  const call: OptionTerms = { right: "CALL", strike: 40, price: 42, years: 0.5, volatility: 0.2, rate: 0.1 };

  it("gives a textbook's values", () => {
    expect(greeksOf(call).value).toBeCloseTo(4.76, 2);
    expect(greeksOf({ ...call, right: "PUT" }).value).toBeCloseTo(0.81, 2);
  });

  it("gives greeks that are the slopes of the value", () => {
    const value = (over: Partial<OptionTerms>) => greeksOf({ ...call, ...over }).value;
    const { delta, gamma, theta, vega } = greeksOf(call);
    const slope = (value({ price: 42.1 }) - value({ price: 41.9 })) / 0.2;
    expect(delta).toBeCloseTo(slope, 3);
    expect(gamma).toBeCloseTo((value({ price: 43 }) - 2 * value({}) + value({ price: 41 })) / 1, 2);
    expect(vega).toBeCloseTo(value({ volatility: 0.21 }) - value({}), 2);
    expect(theta).toBeCloseTo(value({ years: 0.5 - 1 / 365 }) - value({}), 4);
  });

  it("is what exercising gives at the end, and finds the volatility again", () => {
    expect(greeksOf({ ...call, years: 0 })).toMatchObject({ value: 2, delta: 1, gamma: 0 });
    expect(impliedVolatility(call, greeksOf(call).value)).toBeCloseTo(0.2, 6);
  });
});

it("a walk has the variance of its time, over seconds as over weeks, and independent increments", () => {
  const walk = (seconds: number) => longWalk(7, seconds) + dayWalk(7, seconds);
  for (const stepS of [1, 60, 86_400, 604_800]) {
    const steps = Array.from({ length: 600 }, (_unused, n) => {
      const at = 1_700_000_000 + n * stepS;
      return (walk(at + stepS) - walk(at)) / Math.sqrt(stepS);
    });
    const mean = (of: readonly number[]) => of.reduce((sum, each) => sum + each, 0) / of.length;
    expect(mean(steps.map((each) => each * each)), `${stepS} s`).toBeGreaterThan(0.8);
    expect(mean(steps.map((each) => each * each)), `${stepS} s`).toBeLessThan(1.25);
    const products = steps.slice(1).map((each, index) => each * (steps[index] ?? 0));
    expect(Math.abs(mean(products)), `${stepS} s`).toBeLessThan(0.15);
  }
});
