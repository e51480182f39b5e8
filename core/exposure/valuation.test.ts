// What an order is worth at worst: the table of order types, traps about money, and how figures read in sentences.
import { describe, expect, test } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { d, judge, type Spoil } from "../../testkit/passing-order.ts";
import { timesUp, toDecimal } from "../money/amount.ts";
import { type Exact, product, toExact } from "../money/exact.ts";
import { noTerms } from "../state/terms.ts";
import { money, percent, percentOf, quoted, seconds } from "../state/wording.ts";
import { marketPrice, notionalAtWorst, ownPrice, unitValueAt, valuationPrice } from "./valuation.ts";

function valued(type: string, prices: { limit?: string; stop?: string }, market = "100"): string {
  const terms = noTerms();
  if (prices.limit !== undefined) terms.limitPrice = d(prices.limit);
  if (prices.stop !== undefined) terms.stopPrice = d(prices.stop);
  return decimal.format(toDecimal(valuationPrice(type, terms, d(market), d("0.05"))));
}

/** The view after the gates, with the order's own price and quantity left as the case says. */
function viewOf(spoil: Spoil) {
  return judge(spoil).view;
}

describe("the worst price", () => {
  test("trap: a market order is valued with a buffer", () => expect(valued("MARKET", {})).toBe("105"));
  test("trap: the limit price counts when it is above the market", () => {
    expect(valued("LIMIT", { limit: "200" })).toBe("200");
    expect(valued("LIMIT", { limit: "90" })).toBe("100");
  });
  test("trap: a stop is valued at the worst of trigger and market, with the buffer", () => {
    expect(valued("STOP", { stop: "110" })).toBe("115.5");
    expect(valued("STOP", { stop: "90" })).toBe("105");
  });
  test("a stop-limit is valued at the highest of its prices and the market", () => {
    expect(valued("STOP_LIMIT", { limit: "120", stop: "110" })).toBe("120");
    expect(valued("STOP_LIMIT", { limit: "110", stop: "120" })).toBe("120");
    expect(valued("STOP_LIMIT", { limit: "80", stop: "90" })).toBe("100");
  });
  test("an order of an unknown type has no promise about its price", () => expect(valued("ICEBERG", {})).toBe("105"));
});

test("the market is the highest of price, bid and ask, also when they are crossed", () => {
  const market = (price: string | undefined, bid?: string, ask?: string) =>
    marketPrice(
      viewOf(({ view }) => {
        view.price = price === undefined ? undefined : d(price);
        view.bid = bid === undefined ? undefined : d(bid);
        view.ask = ask === undefined ? undefined : d(ask);
      }),
    );
  expect(market("100", "99", "101")).toBe(d("101"));
  expect(market("100", "102", "98")).toBe(d("102"));
  expect(market("103", "99", "101")).toBe(d("103"));
  expect(market(undefined, "99", "101")).toBeUndefined();
});

test("trap: a price of zero or less values nothing", () => {
  for (const price of ["0", "-37.63"]) {
    const view = viewOf((draft) => {
      draft.view.price = d(price);
      draft.view.ask = d("5");
    });
    expect(marketPrice(view)).toBeUndefined();
  }
});

test("trap: multiplier and exchange rate are part of the value, and it is rounded up", () => {
  const { instrument } = viewOf(() => undefined);
  if (instrument === undefined) throw new Error("no instrument");
  expect(unitValueAt(d("2.5"), { ...instrument, multiplier: d("100") }, d("1.1"))).toBe(d("275"));
  expect(unitValueAt(d("0.000000000000000001"), instrument, d("0.5"))).toBe(d("0.000000000000000001"));
  expect(timesUp(d("0.333333333333333333"), d("0.1"))).toBe(d("0.033333333333333334"));
});

describe("the notional", () => {
  const of = (spoil: Spoil, unit = "200", fx = "1") => notionalAtWorst(viewOf(spoil), d(unit), d(fx));
  const usd = (text: string) => product(d(text), decimal.one);

  test("is quantity times unit value", () => expect(of(() => undefined)).toBe(usd("20000")));
  test("is at least what the order says, in the fund's currency", () => {
    expect(of(({ order }) => Object.assign(order, { notional: 20_100 }))).toBe(usd("20100"));
    expect(of(({ order }) => Object.assign(order, { notional: 20_100 }), "200", "1.1")).toBe(usd("22110"));
    expect(of(({ order }) => Object.assign(order, { notional: 19_900 }))).toBe(usd("20000"));
  });
  test("22.4: of a flip is all of it", () => {
    const flip: Spoil = ({ order, view }) => {
      Object.assign(order, { side: "SELL", quantity: "100", notional: 20_100 });
      view.position = d("75");
    };
    expect(of(flip, "200")).toBe(usd("20100"));
    expect(of(flip, "300")).toBe(usd("30000"));
  });
  test("of an amendment counts what has filled", () => {
    const amended: Spoil = ({ view }) => {
      Object.assign(view, { amends: true, ownFilled: d("90"), ownRemaining: d("10"), position: d("90") });
    };
    expect(of(amended)).toBe(usd("20000"));
  });
});

test("the order's own price is its limit, else its stop", () => {
  const both = { ...noTerms(), limitPrice: d("1"), stopPrice: d("2") };
  expect(["LIMIT", "STOP_LIMIT", "STOP", "MARKET"].map((type) => ownPrice(type, both))).toEqual([
    d("1"),
    d("1"),
    d("2"),
    undefined,
  ]);
  expect(ownPrice("LIMIT", noTerms())).toBeUndefined();
});

describe("wording", () => {
  test("money is rounded up to the cent, and grouped", () => {
    expect(money(product(d("1234567.891"), decimal.one), "USD")).toBe("1,234,567.90 USD");
    expect(money(1n as Exact, "USD")).toBe("0.01 USD");
    expect(money(product(d("-0.5"), decimal.one), "USD")).toBe("-0.50 USD");
    expect(money(product(d("-1234.5"), decimal.one), "EUR")).toBe("-1,234.50 EUR");
  });
  test("a share that is a trifle above its limit never reads as the limit", () => {
    expect(percentOf((toExact(product(d("7"), decimal.one)) + 1n) as Exact, d("100"))).toBe("7.01 %");
    expect(percentOf(product(d("7"), decimal.one), d("100"))).toBe("7 %");
    expect(percent(d("0.07"))).toBe("7 %");
  });
  test("ages", () => {
    expect(seconds(12_340)).toBe("12.3 s");
    expect(seconds(Number.NaN)).toBe("an unknown time");
  });
  test("what a caller wrote cannot break a line, a terminal or a table", () => {
    expect(quoted("a\nb\u001b[31m\u009b\u2028")).toBe('"a\\nb\\u001b[31m\u{fffd}\u{fffd}"');
    expect(quoted("x".repeat(100)).length).toBeLessThan(70);
    expect(quoted(undefined)).toBe('"undefined"');
    expect(quoted(Object.create(null))).toBe('"object"');
  });
});
