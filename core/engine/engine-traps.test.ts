// The traps of order exposure, each as a test of its own name: what other systems got wrong about pending orders, fills that come late or
// twice or too large, unknown fates, amendments, claims to reduce, and keys.
import { describe, expect, it } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import {
  engineFixture,
  fillOf,
  hold,
  markAll,
  moment,
  orderOf,
  startOfDay,
  transitionOf,
} from "../../testkit/risk/engine-fixture.ts";
import { compileEnvelope } from "../envelope/envelope.ts";
import { inputAgesDefault } from "../state/input-ages.ts";
import { decisionMessage } from "./decision.ts";
import type { Engine } from "./engine.ts";
import { bytesOfBody, bytesOfHash } from "./fast/order-hash.ts";

/** 1,000 shares at 200 are 20 % of NAV: the position limit, with room for the collar of a market order. */
const limit = (quantity: string, price = "200.00"): Partial<Order> => ({
  quantity,
  order_type: "LIMIT",
  limit_price: price,
});

function positionOf(engine: Engine, symbol = "AAPL"): string | undefined {
  const fund = engine.snapshot().funds.find(({ fund_id }) => fund_id === "alpha");
  return fund?.positions.find(([held]) => held === symbol)?.[1];
}

function open(engine: Engine): readonly string[] {
  return engine.snapshot().orders.map(({ order_id }) => order_id);
}

describe("exposure", () => {
  it("counts an order from the moment of its approval, before anybody acknowledged it", () => {
    const engine = engineFixture();
    expect(engine.check(orderOf("a", limit("1000")), moment(0)).outcome).toBe("approved");
    expect(engine.check(orderOf("b", limit("1")), moment(1)).code).toBe("POSITION_LIMIT_EXCEEDED");
  });

  it("lets an order reach its limit exactly", () => {
    const engine = engineFixture();
    expect(engine.check(orderOf("a", limit("999")), moment(0)).outcome).toBe("approved");
    expect(engine.check(orderOf("b", limit("1")), moment(1)).outcome).toBe("approved");
    expect(engine.check(orderOf("c", limit("1")), moment(2)).code).toBe("POSITION_LIMIT_EXCEEDED");
  });

  it("never nets pending buys with pending sells", () => {
    const engine = engineFixture();
    expect(engine.check(orderOf("buy", limit("1000")), moment(0)).outcome).toBe("approved");
    expect(engine.check(orderOf("sell", { ...limit("1000"), side: "SELL_SHORT" }), moment(1)).outcome).toBe("approved");
    expect(engine.check(orderOf("more", limit("1")), moment(2)).code).toBe("POSITION_LIMIT_EXCEEDED");
    expect(engine.exposure("alpha")).toMatchObject({ gross: 200_000n * 10n ** 36n });
  });

  it("counts a partial fill once: what filled is held, what did not is pending", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("600"));
    engine.check(order, moment(0));
    engine.applyFill(fillOf(order, "250"));
    expect(engine.exposure("alpha")?.gross).toBe(120_000n * 10n ** 36n);
    expect(positionOf(engine)).toBe("250");
    expect(engine.check(orderOf("b", limit("400")), moment(1)).outcome).toBe("approved");
    expect(engine.check(orderOf("c", limit("1")), moment(2)).code).toBe("POSITION_LIMIT_EXCEEDED");
  });

  it("spends nothing on a dry run, not even the key, the pace or the clock", () => {
    const engine = engineFixture();
    const before = engine.snapshot();
    expect(engine.check(orderOf("a", { ...limit("1000"), dry_run: true }), moment(5_000)).outcome).toBe("approved");
    expect(engine.snapshot()).toEqual(before);
    expect(engine.facts()).toMatchObject({ keys: 0, openOrders: 0 });
    expect(engine.check(orderOf("a", limit("1000")), moment(0))).toMatchObject({ outcome: "approved", at: startOfDay });
  });

  it("charges a denied order nothing but its key and its place in the pace", () => {
    const engine = engineFixture();
    expect(engine.check(orderOf("a", limit("1001")), moment(0)).code).toBe("POSITION_LIMIT_EXCEEDED");
    expect(open(engine)).toEqual([]);
    expect(engine.check(orderOf("a", limit("1001")), moment(1)).code).toBe("DUPLICATE_KEY");
  });
});

describe("reservations", () => {
  it("are freed when the order is rejected, cancelled or expires", () => {
    for (const ending of ["REJECTED", "CANCELLED", "EXPIRED"] as const) {
      const engine = engineFixture();
      const order = orderOf("a", limit("1000"));
      engine.check(order, moment(0));
      engine.applyTransition(transitionOf(order, ending));
      expect(open(engine)).toEqual([]);
      expect(engine.check(orderOf("b", limit("1000")), moment(1)).outcome).toBe("approved");
    }
  });

  it("stay with an order whose fate is unknown", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("1000"));
    engine.check(order, moment(0));
    engine.applyTransition(transitionOf(order, "UNKNOWN"));
    expect(engine.check(orderOf("b", limit("1")), moment(6_000)).code).toBe("POSITION_LIMIT_EXCEEDED");
  });

  it("take a fill before the acknowledgement", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("100"));
    engine.check(order, moment(0));
    engine.applyFill(fillOf(order, "100"));
    engine.applyTransition(transitionOf(order, "ACCEPTED"));
    expect(open(engine)).toEqual([]);
    expect(positionOf(engine)).toBe("100");
  });

  it("take a late fill after the cancel, which moves the position", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("100"));
    engine.check(order, moment(0));
    engine.applyTransition(transitionOf(order, "CANCELLED"));
    expect(engine.applyFill(fillOf(order, "40"))).toMatchObject({ known: false });
    expect(positionOf(engine)).toBe("40");
  });

  it("keep what a cancel says has filled until those fills come", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("1000"));
    engine.check(order, moment(0));
    engine.applyTransition(transitionOf(order, "CANCELLED", { filled_quantity: "600" }));
    expect(engine.check(orderOf("b", limit("401")), moment(1)).code).toBe("POSITION_LIMIT_EXCEEDED");
    engine.applyFill(fillOf(order, "600"));
    expect(open(engine)).toEqual([]);
    expect(engine.check(orderOf("c", limit("400")), moment(2)).outcome).toBe("approved");
  });

  it("do not come back after the end: a late WORKING changes nothing", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("500"));
    engine.check(order, moment(0));
    engine.applyTransition(transitionOf(order, "CANCELLED", { filled_quantity: "100" }));
    engine.applyTransition(transitionOf(order, "WORKING", { quantity: "900" }));
    expect(engine.exposure("alpha")?.gross).toBe(20_000n * 10n ** 36n);
  });

  it("give the whole of an overfill to the position", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("100"));
    engine.check(order, moment(0));
    expect(engine.applyFill(fillOf(order, "130"))).toMatchObject({ closed: true, overfill: 30n * 10n ** 18n });
    expect(positionOf(engine)).toBe("130");
    expect(open(engine)).toEqual([]);
  });

  it("do not move for a fill that names the order and contradicts it", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("100"));
    engine.check(order, moment(0));
    expect(engine.applyFill({ ...fillOf(order, "10"), side: "SELL" })).toMatchObject({ known: false });
    expect(engine.snapshot().orders).toMatchObject([{ order_id: "a", filled: "0" }]);
    expect(positionOf(engine)).toBe("-10");
  });
});

describe("amendments", () => {
  const amended = (quantity: string, key: string) => orderOf("a", { ...limit(quantity), idempotency_key: key });

  it("hold the larger of the old and the new quantity until the new one is reported", () => {
    const engine = engineFixture();
    engine.check(orderOf("a", limit("600")), moment(0));
    expect(engine.check(amended("200", "k2"), moment(1)).outcome).toBe("approved");
    expect(engine.check(orderOf("b", limit("401")), moment(2)).code).toBe("POSITION_LIMIT_EXCEEDED");
    engine.applyTransition(transitionOf(amended("200", "k2"), "WORKING", { quantity: "200" }));
    expect(engine.check(orderOf("c", limit("800")), moment(3)).outcome).toBe("approved");
  });

  it("are not counted against themselves", () => {
    const engine = engineFixture();
    engine.check(orderOf("a", limit("900")), moment(0));
    expect(engine.check(amended("1000", "k2"), moment(1)).outcome).toBe("approved");
    expect(engine.check(amended("1001", "k3"), moment(2)).code).toBe("POSITION_LIMIT_EXCEEDED");
    expect(engine.exposure("alpha")?.gross).toBe(200_000n * 10n ** 36n);
  });

  it("below what has filled leave nothing to fill", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("500"));
    engine.check(order, moment(0));
    engine.applyFill(fillOf(order, "300"));
    expect(engine.check(amended("200", "k2"), moment(1)).outcome).toBe("approved");
    engine.applyTransition(transitionOf(order, "WORKING", { quantity: "200" }));
    expect(open(engine)).toEqual([]);
  });

  it("wait for each other: the terms of the first do not settle the second", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("100"));
    engine.check(order, moment(0));
    engine.check(amended("50", "k2"), moment(1));
    engine.check(amended("700", "k3"), moment(2));
    engine.applyTransition(transitionOf(order, "WORKING", { quantity: "50" }));
    expect(engine.exposure("alpha")?.gross).toBe(140_000n * 10n ** 36n);
    engine.applyTransition(transitionOf(order, "WORKING", { quantity: "700" }));
    expect(engine.snapshot().orders).toMatchObject([{ quantity: "700", amendments: [] }]);
  });

  it("follow the newest word: terms that come late change nothing", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("100"));
    engine.check(order, moment(0));
    engine.check(amended("300", "k2"), moment(1));
    engine.applyTransition(transitionOf(order, "WORKING", { quantity: "300", at: "2026-11-15T13:30:02.000000Z" }));
    engine.applyTransition(transitionOf(order, "WORKING", { quantity: "100", at: "2026-11-15T13:30:01.000000Z" }));
    expect(engine.snapshot().orders).toMatchObject([{ quantity: "300", amendments: [] }]);
  });

  it("of another symbol, side, strategy or fund are refused", () => {
    const engine = engineFixture();
    engine.check(orderOf("a", limit("100")), moment(0));
    for (const [index, other] of [{ side: "SELL" }, { symbol: "MSFT" }, { strategy_id: "value" }].entries()) {
      const asked = orderOf("a", { ...limit("90"), idempotency_key: `other-${index}`, ...other });
      expect(engine.check(asked, moment(1)).code).toBe("SCHEMA_AMENDMENT_MISMATCH");
    }
  });

  it("of an order that has ended and waits for its last fills are refused", () => {
    const engine = engineFixture();
    const order = orderOf("a", limit("100"));
    engine.check(order, moment(0));
    engine.applyTransition(transitionOf(order, "CANCELLED", { filled_quantity: "10" }));
    const { code, reason } = engine.check(amended("300", "k2"), moment(1));
    expect([code, reason]).toEqual(["SCHEMA_AMENDMENT_MISMATCH", expect.stringContaining("waits for its last fills")]);
  });

  it("refuses one that comes when the order has ended already, and holds nothing for it", () => {
    const engine = engineFixture();
    const first = orderOf("a", limit("60"));
    engine.check(first, moment(0));
    engine.applyTransition(transitionOf(first, "FILLED", { filled_quantity: "60" }));
    engine.applyFill(fillOf(first, "60"));
    expect(open(engine)).toEqual([]);
    expect(engine.check(amended("60", "k2"), moment(1)).code).toBe("SCHEMA_AMENDMENT_MISMATCH");
    engine.applyTransition(transitionOf(first, "FILLED", { filled_quantity: "60" }));
    expect(open(engine)).toEqual([]);
  });

  it("of a denied kind leave the order as it was", () => {
    const engine = engineFixture();
    engine.check(orderOf("a", limit("100")), moment(0));
    const before = engine.snapshot().orders;
    expect(engine.check(amended("5000", "k2"), moment(1)).outcome).toBe("denied");
    expect(engine.snapshot().orders).toEqual(before);
  });
});

describe("reduce, flip, short", () => {
  const sell = (id: string, quantity: string, more: Partial<Order> = {}) =>
    orderOf(id, { ...limit(quantity), side: "SELL", ...more });

  it("two quick sells cannot both close the same holding", () => {
    const engine = engineFixture({ strict_sides: false });
    hold(engine, "alpha", "AAPL", "100");
    expect(engine.check(sell("a", "60"), moment(0)).classification).toBe("REDUCE");
    const second = engine.check(sell("b", "60"), moment(1));
    expect(second.classification).toBe("FLIP");
    expect(engine.check(sell("c", "60"), moment(2)).classification).toBe("INCREASE");
  });

  it("reduce_only is proven against pending reductions, not believed", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "100");
    expect(engine.check(sell("a", "60", { reduce_only: true }), moment(0)).outcome).toBe("approved");
    const second = engine.check(sell("b", "60", { reduce_only: true }), moment(1));
    expect(second.code).toBe("SCHEMA_REDUCE_ONLY_UNPROVEN");
    expect(decisionMessage(second, "d").closing_quantity_allowed).toBe("40");
    expect(engine.check(sell("c", "40", { reduce_only: true }), moment(2)).outcome).toBe("approved");
  });

  it("from flat nothing reduces, and one lot more than held flips", () => {
    const engine = engineFixture();
    expect(engine.check(sell("flat", "1", { reduce_only: true }), moment(0)).code).toBe("SCHEMA_REDUCE_ONLY_UNPROVEN");
    hold(engine, "alpha", "AAPL", "100");
    expect(engine.check(sell("equal", "100", { dry_run: true }), moment(1)).classification).toBe("REDUCE");
    expect(engine.check(sell("over", "101", { dry_run: true }), moment(2)).classification).toBe("FLIP");
  });

  it("a reduction passes though everything is above its limit, stale and without a NAV", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "50000");
    const far = moment(3_600_000);
    expect(engine.check(sell("more", "60000"), far).outcome).toBe("denied");
    expect(engine.check(sell("unmarked", "50000"), far).outcome).toBe("denied");
    expect(engine.check(sell("exit", "50000", { reduce_only: true }), far).outcome).toBe("approved");
  });

  it("a denied flip says how much could be closed, and a smaller order of that passes", () => {
    const engine = engineFixture({ shorting_enabled: false, strict_sides: false });
    hold(engine, "alpha", "AAPL", "100");
    const flip = engine.check(sell("flip", "150"), moment(0));
    expect(flip).toMatchObject({ code: "SHORTING_DISABLED", classification: "FLIP", gate: "short_side" });
    expect(decisionMessage(flip, "d").closing_quantity_allowed).toBe("100");
    expect(engine.check(sell("close", "100", { reduce_only: true }), moment(1)).outcome).toBe("approved");
  });

  it("a denied flip in a halt that lets nothing out could close nothing", () => {
    const engine = engineFixture({ halt_allow_reduce_only: false });
    hold(engine, "alpha", "AAPL", "100");
    const since = "2026-11-15T13:30:00.000000Z";
    const halt = { severity: "FIRM_HALT", fund_id: "", reason: "r", requested_by: "x", halt_id: "h", since } as const;
    engine.setHalts({ known: true, epoch: 2, active: [{ ...halt, epoch: 2 }] });
    const flip = engine.check(sell("flip", "150"), moment(0));
    expect(flip.code).toBe("FIRM_HALTED");
    expect(decisionMessage(flip, "d").closing_quantity_allowed).toBe("0");
  });

  it("22.7: what a side does not allow is denied with the quantity that would pass, and that one passes", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "100");
    hold(engine, "alpha", "MSFT", "-50");
    hold(engine, "beta", "BTC-USD", "1");
    engine.check(sell("pending", "30"), moment(0));
    const cover = { symbol: "MSFT", limit_price: "400", side: "BUY_TO_COVER" };
    for (const [order, code, allowed, retry] of [
      [sell("a", "80"), "SELL_EXCEEDS_LONG", "70", {}],
      [sell("b", "80", { side: "SELL_SHORT" }), "SHORT_WHILE_LONG", "70", { side: "SELL" }],
      [sell("c", "20", { side: "SELL_SHORT" }), "SHORT_WHILE_LONG", "20", { side: "SELL" }],
      [orderOf("d", { ...limit("60"), ...cover }), "COVER_EXCEEDS_SHORT", "50", {}],
      [orderOf("e", { ...limit("60"), ...cover, side: "BUY" }), "BUY_CROSSES_ZERO", "50", {}],
      [sell("f", "1", { symbol: "XOM", limit_price: "100" }), "SELL_EXCEEDS_LONG", "0", undefined],
    ] as const) {
      const denied = engine.check(order, moment(1));
      expect([denied.gate, denied.code]).toEqual(["short_side", code]);
      expect(decisionMessage(denied, "d").closing_quantity_allowed).toBe(allowed);
      if (retry === undefined) continue;
      const again = { ...order, ...retry, order_id: `${order.order_id}-2`, idempotency_key: `${order.order_id}-2` };
      expect(engine.check({ ...again, quantity: allowed, dry_run: true }, moment(2)).code).toBe("");
    }
    const coins = { fund_id: "beta", strategy_id: "coins", symbol: "BTC-USD", asset_class: "CRYPTO" };
    const through = orderOf("coins", { ...coins, side: "SELL", quantity: "1.5", order_type: "MARKET" });
    expect(engine.check(through, moment(3))).toMatchObject({ code: "", classification: "FLIP" });
  });

  it("S8: an unmarked sale that is denied says how much of it would pass with the mark", () => {
    const engine = engineFixture({ max_notional: 1_000 });
    hold(engine, "alpha", "AAPL", "100");
    const denied = engine.check(sell("a", "100"), moment(0));
    expect([denied.code, denied.classification]).toEqual(["NOTIONAL_ABOVE_MAX", "REDUCE"]);
    expect(decisionMessage(denied, "d").closing_quantity_allowed).toBe("100");
    expect(engine.check(sell("b", "100", { reduce_only: true }), moment(1)).code).toBe("");
  });

  it("22.4: an unmarked reduction counts for the pace, a marked one does not", () => {
    const engine = engineFixture({ order_rate_max_per_s: 2 });
    hold(engine, "alpha", "AAPL", "100");
    for (const id of ["a", "b", "c", "d"])
      expect(engine.check(sell(id, "1", { reduce_only: true }), moment(0)).code).toBe("");
    expect(engine.check(sell("e", "1"), moment(0)).code).toBe("");
    expect(engine.check(sell("f", "1"), moment(0)).code).toBe("");
    const over = engine.check(sell("g", "1"), moment(0));
    expect([over.code, over.reason.endsWith("mark it reduce_only.")]).toEqual(["ORDER_RATE_EXCEEDED", true]);
    expect(engine.check(sell("h", "1", { reduce_only: true }), moment(0)).code).toBe("");
  });

  it("the short is what results after other pending sells", () => {
    const engine = engineFixture({ shorting_enabled: false, strict_sides: false });
    hold(engine, "alpha", "AAPL", "100");
    expect(engine.check(sell("a", "100"), moment(0)).outcome).toBe("approved");
    expect(engine.check(sell("b", "1"), moment(1)).code).toBe("SHORTING_DISABLED");
  });
});

describe("keys", () => {
  it("count as seen until exactly 300 s have passed", () => {
    const engine = engineFixture();
    engine.check(orderOf("a", { symbol: "MSFT" }), moment(0));
    const asked = () => orderOf("a", { symbol: "MSFT" });
    expect(engine.check(asked(), moment(299_999.999)).code).toBe("DUPLICATE_KEY");
    markAll(engine, moment(300_000));
    expect(engine.check(asked(), moment(300_000)).code).not.toBe("DUPLICATE_KEY");
  });

  it("are not prolonged by repeats", () => {
    const engine = engineFixture();
    engine.check(orderOf("a"), moment(0));
    expect(engine.check(orderOf("a"), moment(200_000)).code).toBe("DUPLICATE_KEY");
    expect(engine.check(orderOf("a"), moment(300_000)).code).not.toBe("DUPLICATE_KEY");
  });

  it("with another body are reused, over all funds", () => {
    const engine = engineFixture();
    engine.check(orderOf("a"), moment(0));
    expect(engine.check(orderOf("a", { quantity: "101" }), moment(1)).code).toBe("KEY_REUSED");
    const elsewhere = orderOf("z", { idempotency_key: "key-a", fund_id: "beta", strategy_id: "coins" });
    expect(engine.check(elsewhere, moment(2)).code).toBe("KEY_REUSED");
  });

  it("survive a restart through rememberKey, and the first sighting stays", () => {
    const [before, after] = [engineFixture(), engineFixture()];
    const { keyHash, bodyHash, at } = before.check(orderOf("a"), moment(0));
    after.rememberKey(bytesOfHash(keyHash), bytesOfBody(bodyHash), at);
    after.rememberKey(bytesOfHash(keyHash), bytesOfBody(bodyHash), moment(100_000));
    expect(after.check(orderOf("a"), moment(150_000)).code).toBe("DUPLICATE_KEY");
    expect(after.check(orderOf("a"), moment(300_000)).code).not.toBe("DUPLICATE_KEY");
  });
});

describe("pace and throttle", () => {
  it("counts a sliding second exactly, per strategy and per fund", () => {
    const engine = engineFixture({ order_rate_max_per_s: 2 });
    const ask = (id: string, strategy_id: string, at: number) =>
      engine.check(orderOf(id, { strategy_id, quantity: "1" }), moment(at)).code;
    expect([ask("a", "trend", 0), ask("b", "value", 500)]).toEqual(["", ""]);
    expect(ask("c", "trend", 999.999)).toBe("ORDER_RATE_EXCEEDED");
    expect(ask("d", "trend", 1_000)).toBe("");
    expect(ask("e", "value", 1_499.999)).toBe("ORDER_RATE_EXCEEDED");
    expect(ask("f", "value", 1_500)).toBe("");
  });

  it("trips at one more than allowed and stays tripped until it is released", () => {
    const engine = engineFixture({ repeated_execution_max: 2, repeated_execution_window_s: 60 });
    const ask = (id: string, at: number, more: Partial<Order> = {}) =>
      engine.check(orderOf(id, { quantity: "1", ...more }), moment(at)).code;
    expect([ask("a", 0), ask("b", 1), ask("c", 2)]).toEqual(["", "", "THROTTLE_TRIPPED"]);
    expect(engine.throttle("trend")).toMatchObject({ tripped: true, fund_id: "alpha" });
    markAll(engine, moment(120_000));
    expect(ask("d", 120_000, { quantity: "9" })).toBe("THROTTLE_TRIPPED");
    expect(ask("e", 120_001, { strategy_id: "value", dry_run: true })).not.toBe("THROTTLE_TRIPPED");
    expect(engine.releaseThrottle("trend")).toBe(true);
    expect(engine.releaseThrottle("trend")).toBe(false);
    expect(engine.throttle("trend")?.tripped).toBe(false);
  });

  it("does not trip on a dry run", () => {
    const engine = engineFixture({ repeated_execution_max: 1 });
    engine.check(orderOf("a", { quantity: "1" }), moment(0));
    expect(engine.check(orderOf("b", { quantity: "1", dry_run: true }), moment(1)).code).toBe("THROTTLE_TRIPPED");
    expect(engine.throttle("trend")?.tripped).toBe(false);
  });
});

describe("what is reported late", () => {
  it("an older mark, valuation or envelope changes nothing", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "100");
    engine.setMark({ symbol: "AAPL", price: "1", source: "late", at: "2026-11-15T13:29:00.000000Z" });
    engine.setNav({ fund_id: "alpha", nav: "1", currency: "USD", as_of: "2026-11-15T13:29:00.000000Z" });
    const envelope = engine.check(orderOf("a"), moment(0)).envelope;
    expect(engine.exposure("alpha")?.gross).toBe(40_000n * 10n ** 36n);
    expect(envelope?.version).toBe(1);
    if (envelope === undefined) return;
    engine.setEnvelope(compileEnvelope({ ...envelope.record, version: 0, max_notional: 1 }));
    expect(engine.check(orderOf("b"), moment(1)).outcome).toBe("approved");
  });

  it("a value that was computed now from old prices is as old as they are", () => {
    const engine = engineFixture({}, { ages: { ...inputAgesDefault, nav: 60_000 } });
    const as_of = instant.format(moment(0));
    const tell = (oldest_price_age_ms: number) =>
      engine.setNav({ fund_id: "alpha", nav: "10000000", currency: "USD", as_of, oldest_price_age_ms });
    tell(60_000);
    expect(engine.check(orderOf("a"), moment(0)).outcome).toBe("approved");
    tell(60_001);
    expect(engine.check(orderOf("b"), moment(0))).toMatchObject({ code: "NAV_STALE" });
    tell(0);
    expect(engine.check(orderOf("c"), moment(0)).outcome).toBe("approved");
  });

  it("a position without a price denies new risk in every other symbol, and says which", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "UNHEARD", "5");
    expect(engine.check(orderOf("a"), moment(0))).toMatchObject({ code: "MARK_MISSING" });
    expect(engine.exposure("alpha")?.unpriced).toEqual(["UNHEARD"]);
  });

  it("a mark from far ahead is no fresher than one from far behind", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "MSFT", "5");
    engine.setMark({ symbol: "MSFT", price: "400", source: "fast clock", at: "2026-11-15T14:30:00.000000Z" });
    expect(engine.check(orderOf("a"), moment(0)).code).toBe("MARK_STALE");
  });
});
