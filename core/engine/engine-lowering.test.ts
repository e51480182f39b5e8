// Amendments that only lower an open order: they pass where a reduction would, because all that they can do is take away from what may
// fill. Whatever else they change, or an order that may never have been sent, makes them new risk.
import { describe, expect, it } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import {
  engineFixture,
  engineOptions,
  envelopeRecord,
  fillOf,
  hold,
  markAll,
  moment,
  orderOf,
  reference,
  transitionOf,
} from "../../testkit/risk/engine-fixture.ts";
import { compileEnvelope } from "../envelope/envelope.ts";
import { decisionMessage, inputsOf } from "./decision.ts";
import { createEngine, type Engine } from "./engine.ts";
import { replayDecision } from "./replay.ts";

const first = orderOf("a", { quantity: "600", order_type: "LIMIT", limit_price: "200.00" });
let count = 0;
function amended(quantity: string, more: Partial<Order> = {}): Order {
  count += 1;
  return { ...first, quantity, idempotency_key: `amend-${count}`, ...more };
}

/** An engine whose order "a" of 600 works at a broker. */
function working(more: Partial<RiskEnvelope> = {}): Engine {
  const engine = engineFixture(more);
  expect(engine.check(first, moment(0)).outcome).toBe("approved");
  engine.applyTransition(transitionOf(first, "WORKING"));
  return engine;
}

function halt(engine: Engine, known = true): void {
  const at = { reason: "drill", requested_by: "test", halt_id: "h", since: "2026-11-15T13:30:00Z", epoch: 2 };
  engine.setHalts({ known, epoch: 2, active: known ? [{ severity: "FIRM_HALT", fund_id: "", ...at }] : [] });
}

function limitTo(engine: Engine, more: Partial<RiskEnvelope>): void {
  engine.setEnvelope(compileEnvelope(envelopeRecord("alpha", { version: 2, ...more })));
}

/** Each would deny every amendment of "a" that is new risk. */
const obstacles: Readonly<Record<string, (engine: Engine) => void>> = {
  FIRM_HALTED: (engine) => halt(engine),
  HALT_STATE_UNKNOWN: (engine) => halt(engine, false),
  POSITION_LIMIT_EXCEEDED: (engine) => limitTo(engine, { max_position_pct: 0.01 }),
  GROSS_EXPOSURE_EXCEEDED: (engine) => limitTo(engine, { max_gross_exposure_pct: 0.01 }),
  NOTIONAL_ABOVE_MAX: (engine) => limitTo(engine, { max_notional: 1 }),
  PRICE_OUTSIDE_COLLAR: (engine) => markAll(engine, moment(1), { AAPL: "150" }),
  SYMBOL_RESTRICTED: (engine) => {
    engine.setReference({ ...reference, restricted: [{ symbol: "AAPL", reason: "earnings" }] });
    markAll(engine, moment(1));
  },
  ORDER_RATE_EXCEEDED: (engine) => limitTo(engine, { order_rate_max_per_s: 1 }),
};

describe.each(Object.entries(obstacles))("under %s", (code, obstacle) => {
  it("a lower quantity passes, and a changed price, term or higher quantity does not", () => {
    const engine = working();
    obstacle(engine);
    const near = first.limit_price === "200.00" && code === "PRICE_OUTSIDE_COLLAR" ? "199.00" : "200.01";
    expect(engine.check(amended("599", { limit_price: near }), moment(2)).code).toBe(code);
    expect(engine.check(amended("599", { tif: "GTC" }), moment(3)).code).toBe(code);
    expect(engine.check(amended("600"), moment(4)).code).toBe(code);
    expect(engine.check(amended("601"), moment(5)).code).toBe(code);
    expect(engine.check(amended("599"), moment(6))).toMatchObject({ outcome: "approved", classification: "INCREASE" });
    // The same price in other digits is the same price, and asking twice for the same is no raise.
    expect(engine.check(amended("599", { limit_price: "200" }), moment(7)).outcome).toBe("approved");
  });
});

describe("a lower quantity", () => {
  it("holds the old one until the new one is reported", () => {
    const engine = working();
    halt(engine);
    engine.check(amended("100"), moment(1));
    expect(engine.exposure("alpha")?.gross).toBe(120_000n * 10n ** 36n);
    engine.applyTransition(transitionOf(first, "WORKING", { quantity: "100" }));
    expect(engine.exposure("alpha")?.gross).toBe(20_000n * 10n ** 36n);
    // From there 200 would be a raise.
    expect(engine.check(amended("200"), moment(2)).code).toBe("FIRM_HALTED");
  });

  it("must lie below everything that may be in force: a raise that waits lowers nothing", () => {
    const engine = working();
    expect(engine.check(amended("900"), moment(1)).outcome).toBe("approved");
    halt(engine);
    expect(engine.check(amended("800"), moment(2)).code).toBe("FIRM_HALTED");
    expect(engine.check(amended("500"), moment(3)).outcome).toBe("approved");
    expect(engine.check(amended("550"), moment(4)).code).toBe("FIRM_HALTED");
  });

  it("is measured against the price that was reported last, and against every price that may be in force", () => {
    const engine = working();
    const dearer = { limit_price: "205.00" };
    expect(engine.check(amended("600", dearer), moment(1)).outcome).toBe("approved");
    halt(engine);
    expect(engine.check(amended("500", dearer), moment(2)).code).toBe("FIRM_HALTED");
    expect(engine.check(amended("500"), moment(3)).code).toBe("FIRM_HALTED");
    engine.applyTransition(transitionOf(first, "WORKING", { quantity: "600" }));
    expect(engine.check(amended("500"), moment(4)).code).toBe("FIRM_HALTED");
    expect(engine.check(amended("500", dearer), moment(5)).outcome).toBe("approved");
  });

  it.each(["ACCEPTED", "UNKNOWN", undefined] as const)(
    "of an order that may never have been sent (%s) is new risk",
    (to) => {
      const engine = engineFixture();
      engine.check(first, moment(0));
      if (to !== undefined) engine.applyTransition(transitionOf(first, to));
      halt(engine);
      expect(engine.check(amended("100"), moment(1)).code).toBe("FIRM_HALTED");
      engine.applyFill(fillOf(first, "10"));
      expect(engine.check(amended("99"), moment(2)).outcome).toBe("approved");
    },
  );

  it("may not drop the claim to reduce only, and keeps it when the position is gone meanwhile", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "600");
    const exit = { ...first, side: "SELL", reduce_only: true };
    expect(engine.check(exit, moment(0)).outcome).toBe("approved");
    engine.applyTransition(transitionOf(exit, "WORKING"));
    hold(engine, "alpha", "AAPL", "-600");
    halt(engine);
    const lower = { side: "SELL", reduce_only: true };
    expect(engine.check(amended("500", { side: "SELL" }), moment(1)).code).toBe("FIRM_HALTED");
    expect(engine.check(amended("500", lower), moment(2)).outcome).toBe("approved");
  });

  it("still answers for what it names, and for where it trades", () => {
    const engine = working();
    expect(engine.check(amended("99.5"), moment(1)).code).toBe("SCHEMA_QUANTITY_OFF_LOT");
    limitTo(engine, { allowed_brokers: [] });
    expect(engine.check(amended("500"), moment(2)).code).toBe("BROKER_NOT_ALLOWED");
  });

  it("counts neither for the rate nor for the throttle, also when it is read back", () => {
    const limits = { order_rate_max_per_s: 2, repeated_execution_max: 1, repeated_execution_window_s: 60 };
    const [engine, fresh] = [working(limits), engineFixture(limits)];
    fresh.adoptDecision(first, decisionMessage(engineFixture(limits).check(first, moment(0)), "d"), moment(0));
    fresh.applyTransition(transitionOf(first, "WORKING"));
    for (const [index, quantity] of ["500", "400", "400", "300"].entries()) {
      const order = amended(quantity);
      const decision = decisionMessage(engine.check(order, moment(index + 1)), `d${index}`);
      expect(decision).toMatchObject({ approved: true });
      expect(decision.checks[1]?.figures).toContainEqual(
        expect.objectContaining({ name: "amends", value: "an open order, to a lower quantity" }),
      );
      fresh.adoptDecision(order, decision, moment(index + 1));
    }
    expect(fresh.snapshot()).toEqual(engine.snapshot());
    expect(engine.check({ ...first, order_id: "b", idempotency_key: "b", quantity: "400" }, moment(9)).outcome).toBe(
      "approved",
    );
  });

  it("is not the risk officer's business", () => {
    const engine = working();
    limitTo(engine, { cro_veto_enabled: true });
    expect(engine.check(amended("601"), moment(1)).outcome).toBe("ask");
    expect(engine.check(amended("500"), moment(2)).outcome).toBe("approved");
  });

  it("is replayed as what it was", () => {
    const engine = working();
    halt(engine);
    const order = amended("500");
    const checked = engine.check(order, moment(1));
    const record = { order, decision: decisionMessage(checked, "d"), inputs: inputsOf(checked) };
    const tight = compileEnvelope(envelopeRecord("alpha", { max_notional: 1, max_position_pct: 0.001 }));
    expect(replayDecision(record, tight)).toMatchObject({ approved: true });
  });

  it("is known after a restart, and judged as new risk after a snapshot that did not keep the terms", () => {
    const engine = working();
    const snapshot = JSON.parse(JSON.stringify(engine.snapshot()));
    const { terms: _, ...old } = snapshot;
    for (const [kept, outcome] of [
      [snapshot, "approved"],
      [old, "denied"],
    ] as const) {
      const next = createEngine(engineOptions);
      next.restore(kept);
      next.setReference(reference);
      next.setEnvelope(compileEnvelope(envelopeRecord("alpha")));
      markAll(next, moment(1));
      halt(next);
      expect(next.check(amended("500"), moment(1)).outcome).toBe(outcome);
    }
  });
});
