// Gate 3: each limit at its edge, and the traps about prices.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { d, judge, type Spoil } from "../../testkit/passing-order.ts";
import { toExact, wholeOf } from "../exact.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");

function codeWith(order: object, more: Spoil = () => undefined): string {
  return judge((draft) => [Object.assign(draft.order, order), more(draft)]).code;
}
const view =
  (changes: object): Spoil =>
  (draft) =>
    Object.assign(draft.view, changes);
const market = { order_type: "MARKET", limit_price: undefined };

describe("max notional", () => {
  test("exactly at the limit passes, a cent's worth above does not", () => {
    expect(codeWith({ quantity: "1250" })).toBe("");
    expect(codeWith({ quantity: "1251" })).toBe("NOTIONAL_ABOVE_MAX");
    expect(codeWith({ quantity: "1250", limit_price: "200.01" })).toBe("NOTIONAL_ABOVE_MAX");
  });

  test("trap: the limit price is not ignored: 5 at a limit of 200 with a quote of 100 is worth 1000", () => {
    const quote: Spoil = (draft) => {
      draft.view.price = d("100");
      draft.envelope.max_notional = 750;
      draft.envelope.price_collar_pct = 1;
    };
    expect(codeWith({ quantity: "5", limit_price: "200" }, quote)).toBe("NOTIONAL_ABOVE_MAX");
    expect(codeWith({ quantity: "5", limit_price: "150" }, quote)).toBe("");
  });

  test("trap: a market order is valued at the ask with the collar on top", () => {
    const ask = view({ ask: d("200.1") });
    expect(codeWith({ ...market, quantity: "1189" }, ask)).toBe("");
    expect(codeWith({ ...market, quantity: "1190" }, ask)).toBe("NOTIONAL_ABOVE_MAX");
  });

  test("trap: a stop is valued at the worst of trigger and market", () => {
    const stop = { order_type: "STOP", limit_price: undefined };
    expect(codeWith({ ...stop, stop_price: "195", quantity: "1190" })).toBe("");
    expect(codeWith({ ...stop, stop_price: "195", quantity: "1191" })).toBe("NOTIONAL_ABOVE_MAX");
    expect(codeWith({ ...stop, stop_price: "210", quantity: "1133" })).toBe("");
    expect(codeWith({ ...stop, stop_price: "210", quantity: "1134" })).toBe("NOTIONAL_ABOVE_MAX");
  });

  test("what the order itself says counts when it is more", () => {
    expect(codeWith({ quantity: "1240", notional: 250_000 })).toBe("");
    expect(codeWith({ quantity: "1240", notional: 250_000.01 })).toBe("NOTIONAL_ABOVE_MAX");
  });

  test("trap: the value is compared in the fund's currency", () => {
    const euros = view({ fundCurrency: "EUR", fxRate: d("1.25"), fxAgeMs: 3_600_000 });
    expect(codeWith({ quantity: "1000" }, euros)).toBe("");
    expect(codeWith({ quantity: "1001" }, euros)).toBe("NOTIONAL_ABOVE_MAX");
  });

  test("the multiplier counts", () => {
    const option: Spoil = (draft) => {
      draft.instrument.multiplier = d("100");
      draft.view.price = d("2");
    };
    expect(codeWith({ quantity: "1250", limit_price: "2" }, option)).toBe("");
    expect(codeWith({ quantity: "1251", limit_price: "2" }, option)).toBe("NOTIONAL_ABOVE_MAX");
  });

  test("trap: a flip answers only for what it opens", () => {
    const long = view({ position: d("3000") });
    expect(codeWith({ side: "SELL", quantity: "4250" }, long)).toBe("");
    expect(codeWith({ side: "SELL", quantity: "4251" }, long)).toBe("NOTIONAL_ABOVE_MAX");
  });

  test("amending is no way around: what has filled counts", () => {
    const amended = view({ amends: true, ownFilled: d("1000"), ownRemaining: d("250"), position: d("1000") });
    expect(codeWith({ quantity: "1250" }, amended)).toBe("");
    expect(codeWith({ quantity: "1251" }, amended)).toBe("NOTIONAL_ABOVE_MAX");
  });

  test("a unit that is worth more than a decimal can keep is denied, however few are ordered", () => {
    const huge: Spoil = (draft) => {
      draft.instrument.multiplier = d("90000000000000000000");
      draft.instrument.lotSize = d("0.000000000000000001");
    };
    expect(codeWith({ quantity: "0.000000000000000001" }, huge)).toBe("NOTIONAL_ABOVE_MAX");
  });

  test("a fund whose largest order is zero trades nothing", () => {
    expect(codeWith({}, (draft) => Object.assign(draft.envelope, { max_notional: 0 }))).toBe("NOTIONAL_ABOVE_MAX");
  });

  test(`once a quantity is denied, every larger one is (seed ${seed})`, () => {
    const quantity = fc.integer({ min: 1, max: 3_000 });
    fc.assert(
      fc.property(
        quantity,
        quantity,
        fc.constantFrom("BUY", "SELL"),
        fc.integer({ min: -2_000, max: 2_000 }),
        (a, b, side, position) => {
          const denied = (size: number) =>
            codeWith({ side, quantity: String(size) }, view({ position: d(String(position)) })) ===
            "NOTIONAL_ABOVE_MAX";
          const [smaller, larger] = a < b ? [a, b] : [b, a];
          if (denied(smaller)) expect(denied(larger)).toBe(true);
        },
      ),
      { seed, numRuns: 300 },
    );
  });
});

describe("collar", () => {
  test("exactly at the collar passes on both sides", () => {
    expect(codeWith({ limit_price: "210" })).toBe("");
    expect(codeWith({ limit_price: "190" })).toBe("");
    expect(codeWith({ limit_price: "210.01" })).toBe("PRICE_OUTSIDE_COLLAR");
    expect(codeWith({ limit_price: "189.99" })).toBe("PRICE_OUTSIDE_COLLAR");
  });

  test("the stop price must lie inside as well", () => {
    expect(codeWith({ order_type: "STOP_LIMIT", limit_price: "200", stop_price: "210" })).toBe("");
    expect(codeWith({ order_type: "STOP_LIMIT", limit_price: "200", stop_price: "210.01" })).toBe(
      "PRICE_OUTSIDE_COLLAR",
    );
    expect(codeWith({ order_type: "STOP", limit_price: undefined, stop_price: "189.99" })).toBe("PRICE_OUTSIDE_COLLAR");
  });
});

describe("trap: missing is denied, never unlimited", () => {
  test("no price, also for a limit order", () => {
    expect(codeWith({}, view({ price: undefined, bid: d("199"), ask: d("201") }))).toBe("REFERENCE_PRICE_MISSING");
    expect(codeWith(market, view({ price: undefined }))).toBe("REFERENCE_PRICE_MISSING");
  });
  test("a price of zero or below", () => {
    for (const price of ["0", "-1"]) expect(codeWith({}, view({ price: d(price) }))).toBe("REFERENCE_PRICE_MISSING");
  });
  test("an exchange rate that is absent or zero", () => {
    expect(codeWith({}, view({ fundCurrency: "EUR", fxRate: undefined }))).toBe("FX_RATE_MISSING");
    expect(codeWith({}, view({ fundCurrency: "EUR", fxRate: d("0") }))).toBe("FX_RATE_MISSING");
  });
});

describe("ages", () => {
  test("a price exactly as old as allowed is fresh", () => {
    expect(codeWith({}, view({ priceAgeMs: 10_000 }))).toBe("");
    expect(codeWith({}, view({ priceAgeMs: 10_000.001 }))).toBe("REFERENCE_PRICE_STALE");
    expect(codeWith({}, view({ priceAgeMs: Number.NaN }))).toBe("REFERENCE_PRICE_STALE");
  });
  test("a price from a little ahead is fresh, one from far ahead is not", () => {
    expect(codeWith({}, view({ priceAgeMs: -50 }))).toBe("");
    expect(codeWith({}, view({ priceAgeMs: -10_001 }))).toBe("REFERENCE_PRICE_STALE");
  });
  test("an exchange rate exactly as old as allowed is fresh; of one's own currency it has no age", () => {
    const rate = (fxAgeMs: number) => view({ fundCurrency: "EUR", fxRate: d("0.9"), fxAgeMs });
    expect(codeWith({}, rate(3_600_000))).toBe("");
    expect(codeWith({}, rate(3_600_001))).toBe("FX_RATE_STALE");
    expect(codeWith({}, rate(Number.NaN))).toBe("FX_RATE_STALE");
    expect(codeWith({}, view({ fxAgeMs: Number.NaN }))).toBe("");
  });
});

describe("pace", () => {
  test("the last order of the second passes, one more does not, per strategy and per fund", () => {
    expect(codeWith({}, view({ strategyOrdersInSecond: 49, fundOrdersInSecond: 49 }))).toBe("");
    expect(codeWith({}, view({ strategyOrdersInSecond: 50, fundOrdersInSecond: 50 }))).toBe("ORDER_RATE_EXCEEDED");
    expect(codeWith({}, view({ strategyOrdersInSecond: 0, fundOrdersInSecond: 50 }))).toBe("ORDER_RATE_EXCEEDED");
  });
  test("the last open order passes, one more does not, an amendment opens none", () => {
    expect(codeWith({}, view({ openOrders: 999 }))).toBe("");
    expect(codeWith({}, view({ openOrders: 1_000 }))).toBe("OPEN_ORDERS_EXCEEDED");
    expect(codeWith({}, view({ openOrders: 1_000, amends: true }))).toBe("");
  });
  test("one more than the allowed repetitions trips the throttle, unless it is off", () => {
    expect(codeWith({}, view({ repeatedExecutions: 19 }))).toBe("");
    expect(codeWith({}, view({ repeatedExecutions: 20 }))).toBe("THROTTLE_TRIPPED");
    const off: Spoil = (draft) => {
      draft.view.repeatedExecutions = 1_000_000;
      delete draft.envelope.repeated_execution_max;
    };
    expect(codeWith({}, off)).toBe("");
  });
  test("an order that is denied for its size does not trip the throttle", () => {
    expect(codeWith({ quantity: "1251" }, view({ repeatedExecutions: 20 }))).toBe("NOTIONAL_ABOVE_MAX");
  });
});

test("the figures and shares are noted, with their ages", () => {
  const outcome = judge(view({ strategyOrdersInSecond: 39, fundOrdersInSecond: 10 }));
  expect(outcome.figures.get("price")).toBe("200");
  expect(outcome.ages.get("price")).toBe(500);
  expect(outcome.figures.get("valuation_price")).toBe("200");
  const [used, allowed] = outcome.shares.get("max_notional") ?? [0n, 1n];
  expect(Number((used * 1_000n) / allowed)).toBe(80);
  expect(outcome.shares.get("order_rate_max_per_s")).toEqual([toExact(wholeOf(40)), toExact(wholeOf(50))]);
  const calm = judge(view({ strategyOrdersInSecond: 3, fundOrdersInSecond: 3 }));
  expect(calm.shares.has("order_rate_max_per_s")).toBe(false);
});

test("a denial names the figures of its case", () => {
  const reason = judge(({ order }) => Object.assign(order, { quantity: "1251" })).reason;
  expect(reason).toBe("The order is worth 250,200.00 USD at 200; 250,000.00 USD is the most.");
});
