// The seeds are good for trading: an engine that knows nothing but them approves a small ordinary order in every symbol.

import { describe, expect, it } from "vitest";
import { systemBlake3 } from "../adapters/system-hashing.ts";
import type { Order } from "../contracts/src/generated/svc/v1/order.ts";
import { format, fromUnixMs } from "../contracts/src/instant.ts";
import { createEngine } from "../core/engine.ts";
import { compileEnvelope } from "../core/envelope.ts";
import { inputAgesDefault } from "../core/gates/gate.ts";
import { paperCapital, paperEnvelopes, paperListings, paperPositions, paperReference } from "./paper-seeds.ts";

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
  });
  engine.setReference(reference);
  engine.setHalts({ known: true, epoch: 0, active: [] });
  for (const envelope of paperEnvelopes) engine.setEnvelope(compileEnvelope(envelope));
  for (const { fundId, currency, amount } of paperCapital) {
    engine.setNav({ fund_id: fundId, nav: amount, currency, as_of: format(at) });
  }
  for (const { symbol, price } of paperListings) {
    engine.setMark({ symbol, price, source: "paper", at: format(at) });
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
