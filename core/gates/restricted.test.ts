// 25.4: what watchdogs restrict. Which orders count as passive, that the strictest counts, and that a record says who restricted and in which episode.
import { describe, expect, test } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import { d, judge, type Spoil } from "../../testkit/passing-order.ts";
import { engineFixture, envelopeRecord, hold, markOf, orderOf, startOfDay } from "../../testkit/risk/engine-fixture.ts";
import { restrictionFacts, saidBy } from "../blocks/restriction-book.ts";
import { decisionMessage, inputsOf } from "../engine/decision.ts";
import { replayDecision } from "../engine/replay.ts";
import { compileEnvelope } from "../envelope/envelope.ts";

const by = { restrictionId: "r-1", watchdog: "vpin", episodeId: "e-1" };
const throttle = { code: "AGGRESSIVE_THROTTLED", reason: saidBy(by), facts: restrictionFacts(by) } as const;

/** Bid 199.9, ask 200.1, last 200. */
const throttled =
  (order: object, view: object = {}): Spoil =>
  (draft) => {
    Object.assign(draft.view, { bid: d("199.9"), ask: d("200.1"), price: d("200"), ...view });
    draft.view.conditions = [throttle];
    Object.assign(draft.order, order);
  };

describe("25.4: under a throttle", () => {
  const limit = (limit_price: string, more: object = {}) => ({ order_type: "LIMIT", limit_price, ...more });
  const sell = { side: "SELL_SHORT" };
  test.each([
    ["a purchase at the ask is marketable", limit("200.1"), {}, "AGGRESSIVE_THROTTLED"],
    ["a purchase under the ask waits", limit("200.09"), {}, ""],
    ["a sale at the bid is marketable", limit("199.9", sell), {}, "AGGRESSIVE_THROTTLED"],
    ["a sale above the bid waits", limit("199.91", sell), {}, ""],
    ["a MARKET order is marketable", { order_type: "MARKET", limit_price: undefined }, {}, "AGGRESSIVE_THROTTLED"],
    [
      "a STOP becomes a MARKET order",
      { order_type: "STOP", limit_price: undefined, stop_price: "205" },
      {},
      "AGGRESSIVE_THROTTLED",
    ],
    ["what may not wait cannot be passive: IOC", limit("199", { tif: "IOC" }), {}, "AGGRESSIVE_THROTTLED"],
    ["what may not wait cannot be passive: FOK", limit("199", { tif: "FOK" }), {}, "AGGRESSIVE_THROTTLED"],
    ["without an ask the last price is the market", limit("200"), { ask: undefined }, "AGGRESSIVE_THROTTLED"],
    [
      "without any price nothing is passive",
      limit("199"),
      { ask: undefined, price: undefined },
      "AGGRESSIVE_THROTTLED",
    ],
  ])("%s", (_sentence, order, view, code) => {
    const outcome = judge(throttled(order, view));
    expect(outcome.code).toBe(code);
    expect(Object.fromEntries(outcome.figures)).toMatchObject({ watchdog: "vpin", episode_id: "e-1" });
    if (code !== "") expect(outcome.reason).toContain("vpin in episode e-1");
  });

  test("a reduction at the market passes, marked or not", () => {
    for (const reduce_only of [true, false]) {
      const order = { side: "SELL", order_type: "MARKET", limit_price: undefined, quantity: "50", reduce_only };
      expect(judge(throttled(order, { position: d("100") })).code).toBe("");
    }
  });
});

const restriction = (differs: Partial<Restriction> & Pick<Restriction, "kind">): Restriction => ({
  restrictionId: `r-${differs.kind}`,
  watchdog: "vpin",
  episodeId: "e-1",
  since: startOfDay,
  ...differs,
});

const envelope = compileEnvelope(envelopeRecord("alpha"));

describe("25.4: an engine that was given restrictions", () => {
  const gross = (factor: string, episodeId: string): Restriction =>
    restriction({
      kind: "GROSS",
      restrictionId: episodeId,
      episodeId,
      fundId: "alpha",
      factor: d(factor),
      base: d("100000"),
    });

  test("lets gross exposure reach factor x base exactly, and the strictest of several counts", () => {
    const engine = engineFixture();
    engine.setMark({ ...markOf("AAPL", "100", startOfDay), bid: "100", ask: "100" });
    hold(engine, "alpha", "AAPL", "100");
    const code = (quantity: string, more: object = {}) =>
      engine.check(
        { ...orderOf(`g-${quantity}`, { quantity, order_type: "LIMIT", limit_price: "100", ...more }), dry_run: true },
        startOfDay,
      ).code;
    engine.setRestrictions([gross("0.5", "e-1"), gross("0.25", "e-2")]);
    expect(code("150")).toBe("");
    expect(code("151")).toBe("GROSS_EXPOSURE_REDUCED");
    engine.setRestrictions([gross("0.5", "e-1")]);
    expect(code("151")).toBe("");
    engine.setRestrictions([gross("0.05", "e-1")]);
    expect(code("1")).toBe("GROSS_EXPOSURE_REDUCED");
    expect(code("99", { side: "SELL" }), "a reduction that leaves the fund above it").toBe("");
  });

  test("denies by the symbol of one fund or of every fund, and by the strategy alone", () => {
    const engine = engineFixture();
    const code = (more: object) => engine.check({ ...orderOf("s", more), dry_run: true }, startOfDay).code;
    engine.setRestrictions([restriction({ kind: "COOLDOWN", fundId: "alpha", symbol: "AAPL" })]);
    expect([code({}), code({ symbol: "MSFT" }), code({ fund_id: "beta", strategy_id: "coins" })]).toEqual([
      "NEWS_COOLDOWN",
      "",
      "",
    ]);
    engine.setRestrictions([restriction({ kind: "COOLDOWN", symbol: "AAPL" })]);
    expect([code({}), code({ fund_id: "beta", strategy_id: "coins" })]).toEqual(["NEWS_COOLDOWN", "NEWS_COOLDOWN"]);
    engine.setRestrictions([restriction({ kind: "SHADOW", fundId: "alpha", strategyId: "trend" })]);
    expect([code({}), code({ strategy_id: "value" })]).toEqual(["STRATEGY_SHADOWED", ""]);
    engine.setRestrictions([restriction({ kind: "ALLOCATION", fundId: "alpha", factor: decimal.parse("0.5") })]);
    expect(code({}), "how much strategies use is research's business").toBe("");
  });

  test("makes the same decision again from its record, after the restriction has ended", () => {
    const engine = engineFixture();
    engine.setRestrictions([restriction({ kind: "THROTTLE", symbol: "AAPL" })]);
    const order = orderOf("replayed");
    const checked = engine.check(order, startOfDay);
    const decision = decisionMessage(checked, "d");
    const record = { order, decision, inputs: inputsOf(checked) };
    engine.setRestrictions([]);
    expect(replayDecision(record, envelope)).toEqual({
      approved: false,
      gate: "static",
      code: "AGGRESSIVE_THROTTLED",
      reason: decision.reason,
    });
  });
});
