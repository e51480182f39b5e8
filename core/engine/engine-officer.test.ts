// Orders that wait for the risk officer: reserved while they wait, judged again when the answer comes, and never approved by the answer alone.
import { describe, expect, it } from "vitest";
import { gateNames } from "../../contracts/src/generated/gates.ts";
import type { RiskBlock } from "../../contracts/src/records/block.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import {
  engineFixture,
  envelopeRecord,
  fillOf,
  hold,
  markAll,
  moment,
  orderOf,
  transitionOf,
  valueAll,
} from "../../testkit/risk/engine-fixture.ts";
import { compileEnvelope } from "../envelope/envelope.ts";
import type { Verdict } from "../state/view.ts";
import { decisionMessage, inputsOf } from "./decision.ts";
import { replayDecision } from "./replay.ts";

const on: Partial<RiskEnvelope> = { cro_veto_enabled: true, cro_veto_timeout_ms: 500, cro_veto_on_timeout: "DENY" };
const limit = (quantity: string) => ({ quantity, order_type: "LIMIT", limit_price: "200.00" });

function verdict(kind: Verdict["kind"]): Verdict {
  return { kind, reason: "too large", model: "m", promptHash: "p", costUsd: "0.002", tookMs: 120 };
}

describe("the risk officer", () => {
  it("is asked after six gates have passed, and the exposure is reserved meanwhile", () => {
    const engine = engineFixture(on);
    const asked = engine.check(orderOf("a", limit("1000")), moment(0));
    expect(asked.outcome).toBe("ask");
    expect(decisionMessage(asked, "d").checks.map(({ gate }) => gate)).not.toContain("cro_veto");
    expect(engine.check(orderOf("b", limit("1")), moment(1)).code).toBe("POSITION_LIMIT_EXCEEDED");
  });

  it("passes: the decision has all seven gates and the verdict, and replays", () => {
    const engine = engineFixture(on);
    const order = orderOf("a", limit("1000"));
    const asked = engine.check(order, moment(0));
    engine.check(orderOf("other", { symbol: "XOM", quantity: "1" }), moment(1));
    const done = engine.conclude(asked, verdict("pass"), moment(100));
    const decision = decisionMessage(done, "d");
    expect(decision).toMatchObject({ approved: true, code: "" });
    expect(decision.checks.map(({ gate }) => gate)).toEqual(gateNames);
    expect(decision.checks.at(-1)?.figures).toContainEqual({ name: "model", value: "m", age_ms: undefined });
    expect(decision.warnings.filter((warning) => warning.limit === "max_position_pct")).toHaveLength(1);
    const record = { order, decision, inputs: inputsOf(done) };
    const same = compileEnvelope(envelopeRecord("alpha", on));
    expect(replayDecision(record, same)).toMatchObject({ approved: true });
    const tighter = compileEnvelope(envelopeRecord("alpha", { ...on, max_position_pct: 0.19 }));
    expect(replayDecision(record, tighter)).toMatchObject({ approved: false, code: "POSITION_LIMIT_EXCEEDED" });
  });

  it("28.5: does not approve what was blocked by a fill while it was asked", () => {
    const engine = engineFixture(on);
    const asked = engine.check(orderOf("a", limit("10")), moment(0));
    const at = "2026-11-15T13:30:00.000000Z";
    const block = { block_id: "b-1", cause: "FILL_OUTSIDE_COLLAR", fund_id: "alpha", symbol: "AAPL", reason: "r.", at };
    engine.acceptance.open(block as RiskBlock);
    const done = engine.conclude(asked, verdict("pass"), moment(100));
    expect([done.code, decisionMessage(done, "d").approved]).toEqual(["FILL_NOT_ACCEPTED", false]);
  });

  it.each([
    ["veto", "RISK_OFFICER_VETO"],
    ["timeout", "RISK_OFFICER_TIMEOUT"],
    ["unreadable", "RISK_OFFICER_UNREADABLE"],
  ] as const)("%s: denied, and the reservation is released, the key is not", (kind, code) => {
    const engine = engineFixture(on);
    const asked = engine.check(orderOf("a", limit("1000")), moment(0));
    const done = engine.conclude(asked, verdict(kind), moment(10));
    expect(done).toMatchObject({ outcome: "denied", code, gate: "cro_veto" });
    expect(engine.snapshot().orders).toEqual([]);
    expect(engine.check(orderOf("a", limit("1000")), moment(11)).code).toBe("DUPLICATE_KEY");
  });

  it("cannot approve what became too much while it thought", () => {
    const engine = engineFixture(on);
    const asked = engine.check(orderOf("a", limit("1000")), moment(0));
    markAll(engine, moment(10), { AAPL: "210" });
    expect(engine.conclude(asked, verdict("pass"), moment(11)).code).toBe("POSITION_LIMIT_EXCEEDED");
    expect(engine.exposure("alpha")?.gross).toBe(0n);
  });

  it.each<[string, Partial<RiskEnvelope>, string]>([
    ["max_notional", { max_notional: 100_000 }, "NOTIONAL_ABOVE_MAX"],
    ["price_collar_pct", { price_collar_pct: 0.0001 }, "PRICE_OUTSIDE_COLLAR"],
    ["allowed_brokers", { allowed_brokers: ["alpaca"] }, "BROKER_NOT_ALLOWED"],
    ["allowed_order_types", { allowed_order_types: ["MARKET"] }, "ORDER_TYPE_NOT_ALLOWED"],
    ["max_position_pct", { max_position_pct: 0.01 }, "POSITION_LIMIT_EXCEEDED"],
  ])("23: cannot approve what %s no longer allows since it was asked", (_limit, tighter, code) => {
    const engine = engineFixture(on);
    const order = orderOf("a", { ...limit("600"), limit_price: "200.10" });
    const asked = engine.check(order, moment(0));
    expect(asked.outcome).toBe("ask");
    const changed = envelopeRecord("alpha", { ...on, ...tighter, version: 2 });
    engine.setEnvelope(compileEnvelope(changed));
    const done = engine.conclude(asked, verdict("pass"), moment(11));
    expect(done).toMatchObject({ outcome: "denied", code });
    expect(engine.exposure("alpha")?.gross).toBe(0n);
    expect(engine.snapshot().orders).toEqual([]);
    const decision = decisionMessage(done, "d");
    expect(decision).toMatchObject({ approved: false, envelope_version: 2 });
    const record = { order, decision, inputs: inputsOf(done) };
    expect(replayDecision(record, compileEnvelope(changed))).toMatchObject({ approved: false, code });
    expect(replayDecision(record, compileEnvelope(envelopeRecord("alpha", on)))).toMatchObject({ approved: true });
  });

  it("23: cannot approve what tightened limits no longer allow of an amendment, and lowering is not asked about under any", () => {
    const engine = engineFixture(on);
    const order = orderOf("a", limit("300"));
    expect(engine.conclude(engine.check(order, moment(0)), verdict("pass"), moment(1)).outcome).toBe("approved");
    engine.applyTransition(transitionOf(order, "WORKING"));
    const asked = engine.check({ ...order, ...limit("700"), idempotency_key: "more" }, moment(2));
    expect(asked.outcome).toBe("ask");
    engine.setEnvelope(compileEnvelope(envelopeRecord("alpha", { ...on, max_notional: 10_000, version: 2 })));
    // The larger quantity is said to be in force by somebody else: what was asked about as new risk is judged as new risk.
    engine.applyTransition(transitionOf(order, "WORKING", { quantity: "900" }));
    const done = engine.conclude(asked, verdict("pass"), moment(3));
    expect(done).toMatchObject({ outcome: "denied", code: "NOTIONAL_ABOVE_MAX" });
    const lower = engine.check({ ...order, ...limit("200"), idempotency_key: "less" }, moment(4));
    expect(lower.outcome).toBe("approved");
  });

  it("23: does not deny for the pace of those that were asked about meanwhile", () => {
    const engine = engineFixture({ ...on, order_rate_max_per_s: 2 });
    const first = engine.check(orderOf("a", limit("1")), moment(0));
    const second = engine.check(orderOf("b", limit("2")), moment(1));
    expect(engine.check(orderOf("c", limit("3")), moment(2)).code).toBe("ORDER_RATE_EXCEEDED");
    expect(engine.conclude(first, verdict("pass"), moment(3)).outcome).toBe("approved");
    expect(engine.conclude(second, verdict("pass"), moment(4)).outcome).toBe("approved");
  });

  it("cannot approve past a halt that came while it thought", () => {
    const engine = engineFixture(on);
    const asked = engine.check(orderOf("a", limit("100")), moment(0));
    engine.setHalts({ known: false, epoch: 9, active: [] });
    expect(engine.conclude(asked, verdict("pass"), moment(1))).toMatchObject({
      code: "HALT_STATE_UNKNOWN",
      haltEpoch: 9,
    });
  });

  it("is not asked about a reduction, and not on a dry run", () => {
    const engine = engineFixture(on);
    hold(engine, "alpha", "AAPL", "100");
    expect(engine.check(orderOf("a", { side: "SELL", quantity: "100" }), moment(0)).outcome).toBe("approved");
    expect(engine.check(orderOf("b", { dry_run: true, quantity: "1" }), moment(1)).outcome).toBe("approved");
  });

  it("withdrawn instead of concluded leaves nothing behind, whatever came in between", () => {
    const engine = engineFixture({ ...on, repeated_execution_max: 5 });
    const twin = engineFixture({ ...on, repeated_execution_max: 5 });
    const asked = engine.check(orderOf("a", limit("100")), moment(0));
    const between = (one: typeof engine) => {
      const other = one.check(orderOf("b", limit("7")), moment(5));
      return one.conclude(other, verdict("pass"), moment(6));
    };
    expect([between(engine).outcome, between(twin).outcome]).toEqual(["approved", "approved"]);
    engine.withdraw(asked);
    expect(engine.snapshot()).toEqual(twin.snapshot());
    expect(engine.facts()).toEqual(twin.facts());
  });

  it("concluded and then withdrawn leaves nothing behind either", () => {
    const engine = engineFixture({ ...on, repeated_execution_max: 5 });
    const before = engine.snapshot();
    const asked = engine.check(orderOf("a", limit("100")), moment(0));
    engine.withdraw(engine.conclude(asked, verdict("pass"), moment(9)));
    expect({ ...engine.snapshot(), at: before.at }).toEqual(before);
    expect(engine.facts().keys).toBe(0);
  });

  it("does not let an order be amended before it is approved", () => {
    const engine = engineFixture(on);
    engine.check(orderOf("a", limit("100")), moment(0));
    const amendment = orderOf("a", { ...limit("200"), idempotency_key: "k2" });
    expect(engine.check(amendment, moment(1))).toMatchObject({
      code: "SCHEMA_AMENDMENT_MISMATCH",
      reason: 'Order "a" is not approved yet: the risk officer has not answered.',
    });
  });

  it("cannot revive an order that ended while its amendment was thought about", () => {
    const engine = engineFixture(on);
    const order = orderOf("a", limit("100"));
    engine.conclude(engine.check(order, moment(0)), verdict("pass"), moment(1));
    const asked = engine.check({ ...order, ...limit("300"), idempotency_key: "k2" }, moment(2));
    expect(asked.outcome).toBe("ask");
    engine.applyTransition(transitionOf(order, "CANCELLED"));
    const done = engine.conclude(asked, verdict("pass"), moment(3));
    expect(done).toMatchObject({ outcome: "denied", gate: "schema", code: "SCHEMA_AMENDMENT_MISMATCH" });
    expect(engine.exposure("alpha")?.gross).toBe(0n);
  });
});

describe("the journal, read back", () => {
  it("finds the order of an amendment that it filled or ended first", () => {
    const order = orderOf("a", limit("100"));
    const amendment = { ...order, ...limit("150"), idempotency_key: "k2" };
    const live = engineFixture();
    const first = decisionMessage(live.check(order, moment(0)), "d1");
    const second = decisionMessage(live.check(amendment, moment(1)), "d2");
    live.applyFill(fillOf(order, "100"));
    const fresh = engineFixture();
    fresh.adoptDecision(order, first, moment(0));
    fresh.applyFill(fillOf(order, "100"));
    fresh.adoptDecision(amendment, second, moment(1));
    expect(fresh.snapshot()).toEqual(live.snapshot());
    expect(fresh.snapshot().orders).toMatchObject([{ order_id: "a", filled: "100", amendments: ["150"] }]);

    live.applyTransition(transitionOf(order, "CANCELLED", { filled_quantity: "100" }));
    const other = engineFixture();
    other.adoptDecision(order, first, moment(0));
    other.applyFill(fillOf(order, "100"));
    other.applyTransition(transitionOf(order, "CANCELLED", { filled_quantity: "100" }));
    other.adoptDecision(amendment, second, moment(1));
    expect(other.snapshot().funds).toEqual(live.snapshot().funds);
  });

  it("trips a throttle again, and not one that was released between", () => {
    const limits = { repeated_execution_max: 1, repeated_execution_window_s: 60 };
    const [live, fresh] = [engineFixture(limits), engineFixture(limits)];
    const decide = (id: string, at: number) => {
      const order = orderOf(id, { quantity: "1" });
      return { order, decision: decisionMessage(live.check(order, moment(at)), id), at: moment(at) };
    };
    const reported = [decide("a", 0), decide("b", 1)];
    for (const { order, decision, at } of reported) fresh.adoptDecision(order, decision, at);
    expect(fresh.throttle("trend")?.tripped).toBe(true);
    // Denied before the release was heard, written behind it.
    const { order, decision, at } = decide("c", 2);
    expect(decision.code).toBe("THROTTLE_TRIPPED");
    fresh.releaseThrottle("trend");
    fresh.adoptDecision(order, decision, at);
    expect(fresh.throttle("trend")?.tripped).toBe(false);
  });
});

describe("sums that leave the numbers that are exact", () => {
  it("are added up the long way, and stay exact", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "90000000000.123456789123456789");
    hold(engine, "alpha", "MSFT", "-70000000000000000");
    hold(engine, "alpha", "XOM", "3");
    markAll(engine, moment(1), { AAPL: "200.000000000000000001", MSFT: "400.01" });
    valueAll(engine, moment(1));
    const apple = 90_000_000_000_123_456_789_123_456_789n * 200_000_000_000_000_000_001n;
    const microsoft = 70_000_000_000_000_000n * 10n ** 18n * 400_010_000_000_000_000_000n;
    const exxon = 300n * 10n ** 36n;
    expect(engine.exposure("alpha")).toMatchObject({
      gross: apple + microsoft + exxon,
      netHigh: apple - microsoft + exxon,
      netLow: apple - microsoft + exxon,
    });
    expect(engine.exposure("alpha")?.sectors.get("technology")).toBe(apple + microsoft);
  });
});
