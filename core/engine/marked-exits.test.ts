// A marked, proven exit passes what the fund may do no more: its broker's, type's and class's leaving the envelope, and its strategy's leaving the fund.
import { describe, expect, it } from "vitest";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import {
  engineFixture,
  engineOptions,
  envelopeRecord,
  fillOf,
  markAll,
  moment,
  orderOf,
  reference,
  startOfDay,
  valueAll,
} from "../../testkit/risk/engine-fixture.ts";
import { compileEnvelope } from "../envelope/envelope.ts";
import { createEngine, type Engine } from "./engine.ts";

const nothingAllowed = { allowed_brokers: [], allowed_order_types: [], allowed_asset_classes: [] };
const sale = { side: "SELL", order_type: "MARKET", quantity: "60" } as const;

/** Long 100 AAPL: 60 with alpaca, 40 with paper; then the envelope loses what it says. */
function holding(more: Partial<RiskEnvelope> = nothingAllowed): Engine {
  const engine = engineFixture();
  const bought = orderOf("seed", { symbol: "AAPL", side: "BUY" });
  engine.applyFill({ ...fillOf(bought, "60", 1), broker: "alpaca" });
  engine.applyFill({ ...fillOf(bought, "40", 2), broker: "paper" });
  engine.setEnvelope(compileEnvelope(envelopeRecord("alpha", { version: 2, ...more })));
  return engine;
}

let number = 0;
function ask(engine: Engine, more: object): string {
  number += 1;
  const { limit_price: _limit, stop_price: _stop, ...plain } = orderOf(`o-${number}`, { symbol: "AAPL" });
  return engine.check({ ...plain, ...sale, dry_run: true, ...more } as never, moment(number)).code;
}

describe("23.4: marked exits and what is allowed no more", () => {
  const exit = { reduce_only: true, broker: "alpaca" };

  it("passes brokers, types and classes at the broker that holds all of it", () => {
    const engine = holding();
    expect(ask(engine, exit)).toBe("");
    expect(ask(engine, { ...exit, broker: "paper", quantity: "40" })).toBe("");
    expect(ask(engine, { ...exit, broker: "paper", quantity: "41" })).toBe("BROKER_NOT_ALLOWED");
    expect(ask(engine, { ...exit, broker: "ccxt:kraken", quantity: "1" })).toBe("BROKER_NOT_ALLOWED");
    expect(ask(engine, { broker: "alpaca" })).toBe("BROKER_NOT_ALLOWED");
    expect(ask(engine, { ...exit, order_type: "LIMIT", limit_price: "200" })).toBe("ORDER_TYPE_NOT_ALLOWED");
    expect(ask(engine, { ...exit, side: "BUY" })).toBe("SCHEMA_REDUCE_ONLY_UNPROVEN");
  });

  it("needs no other broker where its own is allowed", () => {
    const engine = holding({ allowed_order_types: ["LIMIT"], allowed_asset_classes: ["CRYPTO"] });
    expect(ask(engine, { reduce_only: true, quantity: "100", broker: "paper" })).toBe("");
    expect(ask(engine, { quantity: "100", broker: "paper" })).toBe("ORDER_TYPE_NOT_ALLOWED");
  });

  it("passes when its strategy has left the fund, also after a restart, and is reserved and filled like any other", () => {
    const before = holding();
    const left = { ...reference, funds: reference.funds.map((fund) => ({ ...fund, strategies: [] })) };
    before.setReference(left);
    const after = createEngine(engineOptions);
    after.restore(JSON.parse(JSON.stringify(before.snapshot())));
    after.setReference(left);
    after.setEnvelope(compileEnvelope(envelopeRecord("alpha", { version: 2, ...nothingAllowed })));
    after.setHalts({ known: true, epoch: 0, active: [] });
    markAll(after, startOfDay);
    valueAll(after, startOfDay);
    for (const engine of [before, after]) {
      expect(ask(engine, { broker: "alpaca" })).toBe("SCHEMA_STRATEGY_UNKNOWN");
      expect(ask(engine, { ...exit, quantity: "61" })).toBe("BROKER_NOT_ALLOWED");
      expect(ask(engine, { ...exit, dry_run: false })).toBe("");
      expect(engine.lines()).toMatchObject([{ symbol: "AAPL", quantity: "100", pending_sell: "60" }]);
    }
    expect(after.snapshot().brokers).toEqual(before.snapshot().brokers);
  });

  it("a fill that names no broker is of its order's, and what is closed is held no longer", () => {
    const engine = engineFixture();
    const { limit_price: _none, ...plain } = orderOf("b-1", { symbol: "AAPL", side: "BUY", broker: "paper" });
    const bought = { ...plain, order_type: "MARKET", quantity: "10" };
    expect(engine.check(bought, moment(1)).code).toBe("");
    engine.applyFill(fillOf(bought, "10"));
    expect(engine.snapshot().brokers).toEqual([["alpha", "AAPL", "paper", "10"]]);
    engine.applyFill({ ...fillOf({ ...bought, order_id: "s-1", side: "SELL" }, "10"), broker: "paper" });
    expect(engine.snapshot().brokers).toEqual([]);
  });
});
