// Gate 3: each limit at its edge, and the traps about prices.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import { d, judge, type Spoil } from "../../testkit/passing-order.ts";
import { toExact, wholeOf } from "../money/exact.ts";

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

  test("22.4: a flip answers for its whole size", () => {
    const long: Spoil = (draft) => {
      draft.view.position = d("1000");
      draft.envelope.strict_sides = false;
    };
    expect(codeWith({ side: "SELL", quantity: "1250" }, long)).toBe("");
    expect(codeWith({ side: "SELL", quantity: "1251" }, long)).toBe("NOTIONAL_ABOVE_MAX");
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
      { seed, numRuns: inputCount(300) },
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

  test("22: a denial names the field and the price that would pass", () => {
    const reasonWith = (order: object) => judge((draft) => Object.assign(draft.order, order)).reason;
    expect(reasonWith({ limit_price: "210.01" })).toBe(
      "limit_price is 210.01, more than 5 % from 200; 210 is the highest that would pass.",
    );
    expect(reasonWith({ order_type: "STOP", limit_price: undefined, stop_price: "1" })).toBe(
      "stop_price is 1, more than 5 % from 200; 190 is the lowest that would pass.",
    );
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

describe("22.4: size, price and pace of what reduces", () => {
  /** A sale of 100 out of 5,000 held at 200, which the collar of 5 % and, marked, that of 20 % allow. */
  const sale = (order: object, more: Spoil = () => undefined) =>
    judge((draft) => {
      Object.assign(draft.order, { side: "SELL", ...order });
      draft.view.position = d("5000");
      more(draft);
    });
  const marked = { reduce_only: true };
  const hint = /: mark it reduce_only\.$/;

  test("an unmarked sale above the maximum is denied with the hint to mark it; marked it passes", () => {
    expect(sale({ quantity: "1250" }).code).toBe("");
    const denied = sale({ quantity: "1251" });
    expect(denied.code).toBe("NOTIONAL_ABOVE_MAX");
    expect(denied.reason).toMatch(hint);
    expect(sale({ quantity: "1251", notional: 250_200 }).code).toBe("NOTIONAL_ABOVE_MAX");
    expect(sale({ quantity: "5000", ...marked }).code).toBe("");
  });

  test("an unmarked price obeys the collar, a marked one the wider collar, both at their edges", () => {
    for (const [price, unmarked, exit] of [
      ["210", "", ""],
      ["210.01", "PRICE_OUTSIDE_COLLAR", ""],
      ["190", "", ""],
      ["189.99", "PRICE_OUTSIDE_COLLAR", ""],
      ["160", "PRICE_OUTSIDE_COLLAR", ""],
      ["159.99", "PRICE_OUTSIDE_COLLAR", "PRICE_OUTSIDE_COLLAR"],
      ["240", "PRICE_OUTSIDE_COLLAR", ""],
      ["240.01", "PRICE_OUTSIDE_COLLAR", "PRICE_OUTSIDE_COLLAR"],
      ["1", "PRICE_OUTSIDE_COLLAR", "PRICE_OUTSIDE_COLLAR"],
    ] as const) {
      expect([price, sale({ limit_price: price }).code]).toEqual([price, unmarked]);
      expect([price, sale({ limit_price: price, ...marked }).code]).toEqual([price, exit]);
      // Advice that leads to the next denial is not given.
      if (unmarked !== "") expect(hint.test(sale({ limit_price: price }).reason)).toBe(exit === "");
    }
  });

  test("a stop's price is a price", () => {
    const stop = { order_type: "STOP", limit_price: undefined, ...marked };
    expect(sale({ ...stop, stop_price: "160" }).code).toBe("");
    expect(sale({ ...stop, stop_price: "159.99" }).code).toBe("PRICE_OUTSIDE_COLLAR");
    const both = { order_type: "STOP_LIMIT", stop_price: "180", ...marked };
    expect(sale({ ...both, limit_price: "160" }).code).toBe("");
    expect(sale({ ...both, limit_price: "159.99" }).code).toBe("PRICE_OUTSIDE_COLLAR");
  });

  test("the wider collar is the envelope's own, and never narrower than the other", () => {
    const collar =
      (exit: number | undefined, price: number): Spoil =>
      ({ envelope }) =>
        Object.assign(envelope, { exit_collar_pct: exit, price_collar_pct: price });
    expect(sale({ limit_price: "100", ...marked }, collar(0.5, 0.05)).code).toBe("");
    expect(sale({ limit_price: "99.99", ...marked }, collar(0.5, 0.05)).code).toBe("PRICE_OUTSIDE_COLLAR");
    expect(sale({ limit_price: "180", ...marked }, collar(0.01, 0.1)).code).toBe("");
    expect(sale({ limit_price: "179.99", ...marked }, collar(0.01, 0.1)).code).toBe("PRICE_OUTSIDE_COLLAR");
    expect(sale({ limit_price: "20", ...marked }, collar(undefined, 0.5)).code).toBe("");
    expect(sale({ limit_price: "19.99", ...marked }, collar(undefined, 0.5)).code).toBe("PRICE_OUTSIDE_COLLAR");
  });

  test("a MARKET exit and one without a fresh price are not collared", () => {
    expect(sale({ ...market, ...marked }).code).toBe("");
    for (const changes of [
      { price: undefined },
      { price: d("0") },
      { priceAgeMs: 10_001 },
      { priceAgeMs: Number.NaN },
    ]) {
      const outcome = sale({ limit_price: "1", ...marked }, view(changes));
      expect(outcome.code).toBe("");
      expect(outcome.figures.get("exit_collar")).toBe("no fresh price");
    }
    expect(sale({ limit_price: "1", ...marked }, view({ priceAgeMs: 10_000 })).code).toBe("PRICE_OUTSIDE_COLLAR");
  });

  test("pace, throttle and what is needed to value it count for the unmarked alone", () => {
    for (const [changes, code] of [
      [{ strategyOrdersInSecond: 50 }, "ORDER_RATE_EXCEEDED"],
      [{ conditions: [{ code: "THROTTLE_TRIPPED", reason: "" }] }, "THROTTLE_TRIPPED"],
      [{ repeatedExecutions: 20 }, "THROTTLE_TRIPPED"],
      [{ openOrders: 1_000 }, "OPEN_ORDERS_EXCEEDED"],
      [{ price: undefined }, "REFERENCE_PRICE_MISSING"],
      [{ priceAgeMs: 10_001 }, "REFERENCE_PRICE_STALE"],
      [{ fxRate: undefined }, "FX_RATE_MISSING"],
    ] as const) {
      const denied = sale({}, view(changes));
      expect(denied.code).toBe(code);
      expect(denied.reason).toMatch(hint);
      expect(sale(marked, view(changes)).code).toBe("");
      expect(sale({}, view({ ...changes, lowers: true })).code).toBe("");
    }
  });

  test("nothing is advised that the halt or the side would deny, nor to what adds risk", () => {
    const large = { quantity: "1251" };
    const halted: Spoil = (draft) => {
      Object.assign(draft.view, { halt: "FUND_HALT", haltId: "h" });
      draft.envelope.halt_allow_reduce_only = false;
    };
    expect(sale(large, halted).reason).not.toMatch(hint);
    expect(sale({ ...large, side: "SELL_SHORT" }).reason).not.toMatch(hint);
    expect(sale({ ...large, side: "BUY" }).reason).not.toMatch(hint);
    const open: Spoil = (draft) => [halted(draft), Object.assign(draft.envelope, { halt_allow_reduce_only: true })];
    expect(sale(large, open).reason).toMatch(hint);
  });

  test("an amended exit obeys the same", () => {
    const own = view({ amends: true, ownFilled: d("20"), ownRemaining: d("80") });
    expect(sale({ limit_price: "159.99", ...marked }, own).code).toBe("PRICE_OUTSIDE_COLLAR");
    expect(sale({ limit_price: "160", quantity: "3000", ...marked }, own).code).toBe("");
    expect(sale({ quantity: "1251" }, own).code).toBe("NOTIONAL_ABOVE_MAX");
  });
});
