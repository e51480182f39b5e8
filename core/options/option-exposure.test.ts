// An option's risk is its underlying's: each numbered invariant of option-sums.ts at the edges of the limits, and what happens without a delta. The
// sums themselves are compared with a model on random lives in engine.test.ts.
import { describe, expect, it } from "vitest";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import {
  engineFixture,
  hold,
  markAll,
  markOf,
  moment,
  orderOf,
  prices,
  reference,
  startOfDay,
  valueAll,
} from "../../testkit/risk/engine-fixture.ts";
import { decisionMessage } from "../engine/decision.ts";
import type { Engine } from "../engine/engine.ts";

// SPY is at 480; a call counts 0.25 x 480 x 100 = 12,000, a put 0.125 x 480 x 100 = 6,000; their premiums are 500 and 300. NAV is a million.
const call = { symbol: "SPY-C500", asset_class: "OPTION" } as const;
const put = { symbol: "SPY-P400", asset_class: "OPTION" } as const;
const limited = { order_type: "LIMIT", limit_price: "5" } as const;

let count = 0;
function ask(engine: Engine, more: Parameters<typeof orderOf>[1], at = startOfDay) {
  count += 1;
  const checked = engine.check({ ...orderOf(`option-${count}`, more), dry_run: true }, at);
  return { code: checked.code, reason: checked.reason, gate: checked.gate, decision: decisionMessage(checked, "d") };
}

function codeOf(engine: Engine, more: Parameters<typeof orderOf>[1], at = startOfDay): string {
  return ask(engine, more, at).code;
}

const wide: Partial<RiskEnvelope> = {
  max_position_pct: 5,
  max_gross_exposure_pct: 5,
  max_net_exposure_pct: 5,
  sector_limits_pct: {},
};

describe("23.8: an option counts its underlying", () => {
  it("340 short contracts, four times NAV of underlying, are denied: by themselves, gross, net and in the sector", () => {
    const short = { ...call, side: "SELL_SHORT", quantity: "340", ...limited };
    // By its premium it was 0.17 of NAV.
    expect(codeOf(engineFixture(), short)).toBe("POSITION_LIMIT_EXCEEDED");
    expect(codeOf(engineFixture({ ...wide, max_gross_exposure_pct: 4 }), short)).toBe("GROSS_EXPOSURE_EXCEEDED");
    expect(codeOf(engineFixture({ ...wide, max_net_exposure_pct: 4 }), short)).toBe("NET_EXPOSURE_EXCEEDED");
    const sector = engineFixture({ ...wide, sector_limits_pct: { index: 4 } });
    const { code, reason } = ask(sector, short);
    expect(code).toBe("SECTOR_LIMIT_EXCEEDED");
    expect(reason).toContain('"index"');
    expect(codeOf(engineFixture(wide), short)).toBe("");
  });

  it("exactly at a limit passes, one contract more does not", () => {
    // 20 % of a million are 16 calls.
    const engine = engineFixture();
    expect(codeOf(engine, { ...call, quantity: "16", ...limited })).toBe("");
    expect(codeOf(engine, { ...call, quantity: "17", ...limited })).toBe("POSITION_LIMIT_EXCEEDED");
    expect(codeOf(engine, { ...put, side: "SELL_SHORT", quantity: "33", ...limited, limit_price: "3" })).toBe("");
    expect(codeOf(engine, { ...put, side: "SELL_SHORT", quantity: "34", ...limited, limit_price: "3" })).toBe(
      "POSITION_LIMIT_EXCEEDED",
    );
  });

  it("counts the premium where that is larger, at the order's own worst price", () => {
    const engine = engineFixture();
    engine.setMark(markOf("SPY-C500", "150", startOfDay, "0.25"));
    const order = { ...call, ...limited, limit_price: "150" };
    expect(codeOf(engine, { ...order, quantity: "13" })).toBe("");
    expect(codeOf(engine, { ...order, quantity: "14" })).toBe("POSITION_LIMIT_EXCEEDED");
  });

  it("counts the contracts on one underlying together, and with the underlying itself", () => {
    const engine = engineFixture();
    // 48,000 in shares, 60,000 in puts, 84,000 in calls: 192,000 of 200,000.
    hold(engine, "alpha", "SPY", "100");
    hold(engine, "alpha", "SPY-P400", "-10");
    hold(engine, "alpha", "SPY-C500", "-7");
    expect(codeOf(engine, { ...put, side: "SELL_SHORT", quantity: "1", ...limited, limit_price: "3" })).toBe("");
    const { code, reason } = ask(engine, { ...call, side: "SELL_SHORT", quantity: "1", ...limited });
    expect(code).toBe("POSITION_LIMIT_EXCEEDED");
    expect(reason).toContain('"SPY" with its options');
    expect(codeOf(engine, { symbol: "SPY", quantity: "16", order_type: "LIMIT", limit_price: "480" })).toBe("");
    expect(codeOf(engine, { symbol: "SPY", quantity: "17", order_type: "LIMIT", limit_price: "480" })).toBe(
      "POSITION_LIMIT_EXCEEDED",
    );
    // Closing any of them passes.
    expect(codeOf(engine, { symbol: "SPY", side: "SELL", quantity: "100" })).toBe("");
    expect(codeOf(engine, { ...call, side: "BUY_TO_COVER", quantity: "7", ...limited })).toBe("");
    // What others of the fund are worth does not matter to another underlying.
    expect(codeOf(engine, { quantity: "900", order_type: "LIMIT", limit_price: "200" })).toBe("");
  });

  it("counts what is approved at once", () => {
    const engine = engineFixture();
    const approve = (id: string, quantity: string) =>
      engine.check(orderOf(id, { ...call, side: "SELL_SHORT", quantity, ...limited }), startOfDay).code;
    expect([approve("a", "10"), approve("b", "6"), approve("c", "1")]).toEqual(["", "", "POSITION_LIMIT_EXCEEDED"]);
    expect(codeOf(engine, { symbol: "SPY", quantity: "17", order_type: "LIMIT", limit_price: "480" })).toBe(
      "POSITION_LIMIT_EXCEEDED",
    );
  });

  it("net exposure goes by the sign of the delta: a short put is long, a long put short", () => {
    const engine = engineFixture({ ...wide, max_net_exposure_pct: 0.2 });
    hold(engine, "alpha", "AAPL", "900");
    const puts = { ...put, ...limited, limit_price: "3" };
    expect(codeOf(engine, { ...puts, side: "SELL_SHORT", quantity: "3" })).toBe("");
    expect(codeOf(engine, { ...puts, side: "SELL_SHORT", quantity: "4" })).toBe("NET_EXPOSURE_EXCEEDED");
    expect(codeOf(engine, { ...puts, quantity: "60" })).toBe("");
    expect(engine.exposure("alpha")).toMatchObject({ netHigh: 180_000n * 10n ** 36n });
    hold(engine, "alpha", "SPY-P400", "10");
    expect(engine.exposure("alpha")).toMatchObject({ netHigh: 120_000n * 10n ** 36n, gross: 240_000n * 10n ** 36n });
  });

  it("moves with its delta and with its underlying's price", () => {
    const engine = engineFixture(wide);
    hold(engine, "alpha", "SPY-C500", "-10");
    const gross = () => engine.exposure("alpha")?.gross;
    expect(gross()).toBe(120_000n * 10n ** 36n);
    engine.setMark(markOf("SPY", "500", moment(1)));
    expect(gross()).toBe(125_000n * 10n ** 36n);
    engine.setMark(markOf("SPY-C500", "5", moment(2), "0.5"));
    expect(gross()).toBe(250_000n * 10n ** 36n);
    // To a hundredth, upwards.
    engine.setMark(markOf("SPY", "500.01", moment(3)));
    engine.setMark(markOf("SPY-C500", "5", moment(3), "0.333333"));
    expect(gross()).toBe(1_666_699n * 10n ** 35n);
  });
});

describe("23.8: without a fresh delta", () => {
  const { "SPY-C500": _, ...others } = prices;
  const dark = () => {
    const engine = engineFixture();
    engine.setReference({
      ...reference,
      instruments: reference.instruments.filter(({ symbol }) => symbol !== "SPY-C500"),
    });
    engine.setReference(reference);
    engine.setMark({ symbol: "SPY-C500", price: "5", source: "test", at: markOf("SPY", "480", startOfDay).at });
    return engine;
  };

  it("new risk in the option is denied, marked exits pass", () => {
    const engine = dark();
    expect(ask(engine, { ...call, quantity: "1", ...limited })).toMatchObject({
      code: "DELTA_MISSING",
      gate: "position_risk",
    });
    hold(engine, "alpha", "SPY-C500", "-5");
    expect(codeOf(engine, { ...call, side: "SELL_SHORT", quantity: "1", ...limited })).toBe("DELTA_MISSING");
    expect(codeOf(engine, { ...call, side: "BUY_TO_COVER", quantity: "5", reduce_only: true })).toBe("");
    expect(codeOf(engine, { ...call, side: "BUY_TO_COVER", quantity: "5", ...limited })).toBe("");
  });

  it("so is new risk in its underlying and in everything else of a fund that holds it; other funds trade on", () => {
    const engine = dark();
    hold(engine, "alpha", "SPY-C500", "-5");
    const { code, reason } = ask(engine, { symbol: "SPY", quantity: "1" });
    expect(code).toBe("DELTA_MISSING");
    expect(reason).toContain('"SPY-C500"');
    expect(codeOf(engine, { quantity: "1" })).toBe("DELTA_MISSING");
    expect(codeOf(engine, { fund_id: "beta", strategy_id: "coins", quantity: "1" })).toBe("");
    expect(codeOf(engine, { symbol: "SPY", quantity: "1", fund_id: "beta", strategy_id: "coins" })).toBe("");
  });

  it("one that is too old denies as well, and so does an old price of its underlying", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "SPY-P400", "-5");
    const [fresh, old] = [moment(10_000), moment(10_001)];
    const order = { ...call, quantity: "1", ...limited };
    valueAll(engine, old);
    for (const symbol of Object.keys(others))
      if (symbol !== "SPY") engine.setMark(markOf(symbol, others[symbol] ?? "", old));
    engine.setMark(markOf("SPY-C500", "5", old));
    expect(codeOf(engine, order, fresh)).toBe("");
    const stale = ask(engine, order, old);
    expect(stale.code).toBe("DELTA_STALE");
    expect(stale.decision.checks.at(-1)?.figures).toContainEqual({ name: "delta", value: "0.25", age_ms: 10_001 });
    expect(codeOf(engine, { quantity: "1" }, old)).toBe("DELTA_STALE");
    engine.setMark(markOf("SPY", "480", old));
    expect(codeOf(engine, { quantity: "1" }, old)).toBe("");
    // A mark without a delta does not make the old one younger.
    const later = moment(20_002);
    markAll(engine, later);
    valueAll(engine, later);
    const { option_risk: _risk, ...bare } = markOf("SPY-P400", "3", moment(30_003));
    markAll(engine, moment(20_003));
    engine.setMark(bare);
    for (const symbol of Object.keys(prices)) {
      if (symbol !== "SPY-P400") engine.setMark(markOf(symbol, prices[symbol] ?? "", moment(30_004)));
    }
    valueAll(engine, moment(30_004));
    expect(codeOf(engine, { quantity: "1" }, moment(30_003))).toBe("");
    expect(ask(engine, { quantity: "1" }, moment(30_004))).toMatchObject({
      code: "DELTA_STALE",
      reason: expect.stringContaining('"SPY-P400"'),
    });
  });

  it("an option whose underlying nobody lists, or lists in another currency, cannot be counted", () => {
    for (const instruments of [
      reference.instruments.filter(({ symbol }) => symbol !== "SPY"),
      reference.instruments.map((one) => (one.symbol === "SPY" ? { ...one, currency: "EUR" } : one)),
    ]) {
      const engine = engineFixture();
      engine.setReference({ ...reference, instruments });
      markAll(engine, startOfDay);
      expect(codeOf(engine, { ...call, quantity: "1", ...limited })).toBe("DELTA_MISSING");
    }
  });
});

describe("23.8: restrictions follow the underlying", () => {
  it("the restricted list's SPY is no new risk in its options either; exits pass", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "SPY-P400", "-5");
    engine.setReference({ ...reference, restricted: [{ symbol: "SPY", reason: "we know too much" }] });
    expect(codeOf(engine, { ...call, quantity: "1", ...limited })).toBe("SYMBOL_RESTRICTED");
    expect(codeOf(engine, { ...put, side: "BUY_TO_COVER", quantity: "5", reduce_only: true })).toBe("");
    engine.setReference({ ...reference, restricted: [{ symbol: "SPY-C500", reason: "this one" }] });
    expect(codeOf(engine, { ...call, quantity: "1", ...limited })).toBe("SYMBOL_RESTRICTED");
    expect(codeOf(engine, { symbol: "SPY", quantity: "1" })).toBe("");
  });
});
