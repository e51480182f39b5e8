// What an option's mark says of its risk: against vectors of an independent implementation, at the ends of its life, and for terms that no model takes.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import { greeksOf, impliedVolatility } from "./black-scholes.ts";
import { endOfDate } from "./option-expiry.ts";
import { optionRiskOf } from "./option-risk.ts";

/** Type, underlying, strike, years, rate, dividend yield, volatility; price and delta by another implementation. */
const vectors: readonly (readonly [string, number, number, number, number, number, number, number, number])[] = [
  ["C", 390.71, 412.0, 0.35754511, 0.045, 0.012, 0.2761, 18.74955395190341, 0.43168594310700964],
  ["P", 390.71, 407.0, 0.37837241, 0.045, 0.012, 0.414, 45.81514470485777, -0.4913967622353363],
  ["C", 390.71, 419.0, 0.40062533, 0.045, 0.012, 0.2932, 19.611126405775508, 0.4138041651064305],
  ["P", 390.71, 433.0, 0.09325452, 0.045, 0.012, 0.3016, 43.59570024722552, -0.8490402822320923],
  ["C", 390.71, 423.0, 0.19726262, 0.045, 0.012, 0.3873, 15.434018381970716, 0.3668984918655839],
  ["P", 390.71, 406.0, 0.2265355, 0.045, 0.012, 0.3182, 30.500542888017947, -0.549580584989436],
];

const at = parse("2026-11-16T15:00:00Z");
const call: Instrument = {
  symbol: "SPY-C",
  name: "call",
  asset_class: "OPTION",
  currency: "USD",
  tick_size: "0.01",
  lot_size: "1",
  multiplier: "100",
  sector: "index",
  calendar: "us",
  underlying: "SPY",
  strike: "500",
  right: "CALL",
  expiry: "2027-05-21",
};
const put: Instrument = { ...call, symbol: "SPY-P", right: "PUT" };
const priced = (price: string, when: Instant = at) => ({ price: decimal.parse(price), at: when });

describe("the model", () => {
  it.each(vectors)(
    "%s on %d at %d: the oracle's price and delta",
    (type, price, strike, years, rate, yieldRate, volatility, value, delta) => {
      // A dividend yield takes so much from the underlying.
      const left = Math.exp(-yieldRate * years);
      const terms = { right: type === "C" ? "CALL" : "PUT", strike, price: price * left, years, rate } as const;
      const greeks = greeksOf({ ...terms, volatility });
      expect(Math.abs(greeks.value - value)).toBeLessThan(1e-4);
      expect(Math.abs(greeks.delta * left - delta)).toBeLessThan(1e-6);
      expect(impliedVolatility(terms, greeks.value)).toBeCloseTo(volatility, 6);
    },
  );
});

describe("23.8: the risk that a mark tells", () => {
  it("has a delta of six digits, away from zero, and what the option is worth in the stress", () => {
    const risk = optionRiskOf(call, priced("30"), priced("500"), undefined);
    expect(risk).toMatchObject({ at: "2026-11-16T15:00:00.000000Z" });
    expect(Number(risk?.delta)).toBeGreaterThan(0.5);
    expect(Number(risk?.delta)).toBeLessThan(0.65);
    expect(risk?.delta).toMatch(/^0\.\d{1,6}$/);
    expect(Number(risk?.stressed_up)).toBeGreaterThan(100);
    expect(Number(risk?.stressed_down)).toBeLessThan(30);
    const other = optionRiskOf(put, priced("25"), priced("500"), undefined);
    expect(Number(other?.delta)).toBeLessThan(-0.3);
    expect(Number(other?.stressed_down)).toBeGreaterThan(100);
    expect(Number(other?.stressed_up)).toBeLessThan(25);
  });

  it("takes the market's delta where it has one that can be", () => {
    expect(optionRiskOf(call, priced("30"), priced("500"), 0.1234561)?.delta).toBe("0.123457");
    expect(optionRiskOf(put, priced("25"), priced("500"), -0.5)?.delta).toBe("-0.5");
    for (const delta of [-0.5, 1.01, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(optionRiskOf(call, priced("30"), priced("500"), delta), String(delta)).toBeUndefined();
    }
    expect(optionRiskOf(put, priced("25"), priced("500"), 0.5)).toBeUndefined();
  });

  it("is as old as the older of the two prices", () => {
    const older = plusMilliseconds(at, -7_000);
    expect(optionRiskOf(call, priced("30"), priced("500", older), undefined)?.at).toBe("2026-11-16T14:59:53.000000Z");
    expect(optionRiskOf(call, priced("30", older), priced("500"), undefined)?.at).toBe("2026-11-16T14:59:53.000000Z");
  });

  it("goes to what exercising gives as the option ends, and beyond", () => {
    for (const when of [endOfDate("2027-05-21") as Instant, parse("2029-01-01T00:00:00Z")]) {
      expect(optionRiskOf(call, priced("30", when), priced("530", when), undefined)).toMatchObject({
        delta: "1",
        stressed_up: "136",
        stressed_down: "0",
      });
      expect(optionRiskOf(call, priced("0", when), priced("470", when), undefined)).toMatchObject({ delta: "0" });
    }
  });

  it("is none without an underlying, with a price that values nothing, or of what is no option", () => {
    expect(optionRiskOf(call, priced("30"), undefined, 0.5)).toBeUndefined();
    expect(optionRiskOf(call, priced("30"), priced("0"), 0.5)).toBeUndefined();
    expect(optionRiskOf(call, priced("-1"), priced("500"), 0.5)).toBeUndefined();
    expect(optionRiskOf({ ...call, asset_class: "EQUITY" }, priced("30"), priced("500"), 0.5)).toBeUndefined();
    const { expiry: _expiry, ...endless } = call;
    expect(optionRiskOf(endless, priced("30"), priced("500"), 0.5)).toBeUndefined();
  });
});
