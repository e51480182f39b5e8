// The seeds are good for trading: an engine that knows nothing but them approves a small ordinary order in every symbol.

import { describe, expect, it } from "vitest";
import { systemBlake3 } from "../adapters/system/hashing.ts";
import * as decimal from "../contracts/src/decimal.ts";
import type { Order } from "../contracts/src/generated/svc/v1/order.ts";
import { format, fromUnixMs } from "../contracts/src/instant.ts";
import { createEngine } from "../core/engine/engine.ts";
import { compileEnvelope } from "../core/envelope/envelope.ts";
import { optionRiskOf } from "../core/options/option-risk.ts";
import { inputAgesDefault } from "../core/state/input-ages.ts";
import {
  paperCapital,
  paperEnvelopes,
  paperListings,
  paperPositions,
  paperReference,
} from "../services/shared/paper-seeds.ts";

const at = fromUnixMs(1_794_744_000_000);
const reference = paperReference(format(at));

function seededEngine() {
  const engine = createEngine({
    blake3: systemBlake3,
    stopwatch: () => 0,
    ages: inputAgesDefault,
    keyWindowMs: 300_000,
    approvalValidMs: 5_000,
    openOrdersPerFundMax: 1_000,
    valueUnexplainedMax: decimal.parse("0.05"),
  });
  engine.setReference(reference);
  engine.setHalts({ known: true, epoch: 0, active: [] });
  for (const envelope of paperEnvelopes) engine.setEnvelope(compileEnvelope(envelope));
  for (const { fundId, currency, amount } of paperCapital) {
    engine.setNav({ fund_id: fundId, nav: amount, currency, as_of: format(at) });
  }
  for (const { symbol, price, option } of paperListings) {
    const instrument = reference.instruments.find((one) => one.symbol === symbol);
    const under = paperListings.find((one) => one.symbol === option?.underlying);
    const priced = (text: string) => ({ price: decimal.parse(text), at });
    const risk = instrument && optionRiskOf(instrument, priced(price), under && priced(under.price), undefined);
    engine.setMark({ symbol, price, source: "paper", ...(risk && { option_risk: risk }), at: format(at) });
  }
  for (const { fundId, strategyId, symbol, side, quantity, price } of paperPositions) {
    const ids = {
      fill_id: `${fundId}-${symbol}`,
      order_id: `${fundId}-${symbol}`,
      fund_id: fundId,
      strategy_id: strategyId,
    };
    engine.applyFill({ ...ids, symbol, side, quantity, price, filled_at: format(at) });
  }
  return engine;
}

function order(symbol: string, differs: Partial<Order>): Order {
  const fundId = symbol.startsWith("SPY ") ? "gamma" : symbol.endsWith("-USD") ? "beta" : "alpha";
  return {
    idempotency_key: `${symbol} ${JSON.stringify(differs)}`,
    order_id: "o-1",
    fund_id: fundId,
    strategy_id: reference.funds.find(({ fund_id }) => fund_id === fundId)?.strategies[0] ?? "",
    symbol,
    side: "BUY",
    quantity: fundId === "beta" ? "0.1" : fundId === "gamma" ? "1" : "10",
    order_type: "MARKET",
    tif: "DAY",
    broker: "paper",
    asset_class: reference.instruments.find((instrument) => instrument.symbol === symbol)?.asset_class ?? "",
    actor: "test",
    ...differs,
  };
}

describe.each(paperListings.map(({ symbol, price }) => [symbol, price] as const))(
  "a small order in %s",
  (symbol, price) => {
    it.each<[string, Partial<Order>]>([
      ["at the market", {}],
      ["at a limit near the mark", { order_type: "LIMIT", limit_price: price }],
      // Options are written, everything else is held.
      ["that sells", { side: symbol.startsWith("SPY ") ? "SELL_SHORT" : "SELL" }],
    ])("%s is approved", (_how, differs) => {
      const checked = seededEngine().check(order(symbol, differs), at);
      expect([checked.outcome, checked.code, checked.reason]).toEqual(["approved", "", ""]);
    });
  },
);

describe("alpha and AAPL", () => {
  it("22.7: selling 10 is a reduction, and more than is held is sold neither as SELL nor as SELL_SHORT", () => {
    const engine = seededEngine();
    expect(engine.check(order("AAPL", { side: "SELL" }), at).classification).toBe("REDUCE");
    const flip = (side: string) => seededEngine().check(order("AAPL", { side, quantity: "1010" }), at);
    expect([flip("SELL").code, flip("SELL").classification]).toEqual(["SELL_EXCEEDS_LONG", "FLIP"]);
    expect([flip("SELL_SHORT").code, flip("SELL_SHORT").classification]).toEqual(["SHORT_WHILE_LONG", "FLIP"]);
  });

  it("has its limits: 250,000 for an order and 7 % for a position", () => {
    expect(seededEngine().check(order("AAPL", { quantity: "1100" }), at).code).toBe("NOTIONAL_ABOVE_MAX");
    const engine = seededEngine();
    const codes = ["a", "b", "c"].map(
      (id) => engine.check(order("AAPL", { quantity: "900", order_id: id, idempotency_key: id }), at).code,
    );
    expect(codes).toEqual(["", "", "POSITION_LIMIT_EXCEEDED"]);
  });
});

describe("gamma and its options", () => {
  it("23.8: 340 short contracts, four times NAV of underlying, are denied", () => {
    const write = { side: "SELL_SHORT", quantity: "340" };
    const premium = { order_type: "LIMIT", limit_price: "31.4" };
    const wide = paperEnvelopes.map((envelope) => ({ ...envelope, max_notional: 10_000_000 }));
    const engine = seededEngine();
    for (const envelope of wide) engine.setEnvelope(compileEnvelope({ ...envelope, version: 2 }));
    // Their premium is 0.21 of NAV, what they move with 0.9, and what they are written on four times NAV.
    const checked = engine.check(order("SPY 281215P00500000", { ...write, ...premium }), at);
    expect([checked.code, checked.gate]).toEqual(["POSITION_LIMIT_EXCEEDED", "position_risk"]);
  });

  it("23.8: leaves its strategy a fifth of every limit, everything on SPY counted together, in the middle of rolling", () => {
    const gamma = paperEnvelopes.find(({ fund_id }) => fund_id === "gamma");
    const engine = seededEngine();
    // As large as the strategy becomes: shares for 4 % of NAV, three calls on them, six puts, and as many again that are being rolled.
    for (const [symbol, side, quantity] of [
      ["SPY", "BUY", "137"],
      ["SPY 281215C00650000", "SELL_SHORT", "2"],
      ["SPY 281215C00700000", "SELL_SHORT", "2"],
      ["SPY 281215P00500000", "SELL_SHORT", "2"],
      ["SPY 281215P00550000", "SELL_SHORT", "6"],
    ] as const) {
      const ids = { fill_id: `more ${symbol}`, order_id: symbol, fund_id: "gamma", strategy_id: "gamma-income" };
      engine.applyFill({ ...ids, symbol, side, quantity, price: "1", filled_at: format(at) });
    }
    const limits = engine.headroom({ fundId: "gamma", symbol: "SPY 281215P00500000", side: "SELL_SHORT" }, at).limits;
    expect(limits.map(({ limit }) => limit)).toContain("max_position_pct");
    for (const { limit, used, allowed } of limits) {
      expect(Number(used) / Number(allowed), limit).toBeLessThanOrEqual(0.8);
    }
    expect(gamma?.max_position_pct).toBe(0.2);
  });
});
