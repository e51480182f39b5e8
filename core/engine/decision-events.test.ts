// A stored decision becomes its messages: each must match its subject's schema, also when the order was no order at all.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Defect } from "../../contracts/src/fault.ts";
import type { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import { subjectByName, subjects } from "../../contracts/src/subjects.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { exampleDecision, exampleOrder } from "../../testkit/record-examples.ts";
import { decisionMadeOf, rejectionOf } from "../state/rejection.ts";
import { decisionEvents } from "./decision-events.ts";

const id = "0190c5f3-0000-7000-8000-000000000001";
const denied = { ...exampleDecision, decision_id: id } as RiskDecision;
const approved: RiskDecision = {
  ...denied,
  approved: true,
  rejecting_gate: "",
  code: "",
  reason: "",
  valid_until: "2026-11-16T14:30:05.000000Z",
  checks: denied.checks.map((check) => ({ ...check, result: "PASSED" })),
};

function recordOf(order: Order, decision: RiskDecision): DecisionRecord {
  const wire = DecisionRecord.encode({ order, decision, inputs: new Uint8Array([1, 2]) }).finish();
  return DecisionRecord.decode(wire);
}

/** As a transport carries it and a subscriber reads it. */
function asHeard(payload: unknown): unknown {
  return JSON.parse(JSON.stringify(payload));
}

function expectValid(record: DecisionRecord): void {
  for (const event of decisionEvents(id, record)) {
    const subject = subjectByName(event.subject);
    const checked = subject?.schema.safeParse(asHeard(event.payload));
    expect(checked?.error?.issues ?? [], `${event.subject} ${JSON.stringify(event.payload)}`).toEqual([]);
    expect(event.key).toBe(record.decision?.order_id);
  }
}

test("a denial is heard gate by gate, then as a whole", () => {
  const record = recordOf(exampleOrder, denied);
  const events = decisionEvents(id, record);
  expect(events.map((event) => [event.id, event.subject, event.key])).toEqual([
    [`${id}/0`, subjects.gatePassed.name, "o-1"],
    [`${id}/1`, subjects.gateFailed.name, "o-1"],
    [id, subjects.decisionMade.name, "o-1"],
  ]);
  expect(asHeard(events[0]?.payload)).toEqual({ order_id: "o-1", gate: "idempotency", latency_ms: 0.0015 });
  expect(asHeard(events[1]?.payload)).toEqual({
    order_id: "o-1",
    decision_id: id,
    idempotency_key: exampleOrder.idempotency_key,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "100",
    gate: "position_risk",
    code: "POSITION_LIMIT_EXCEEDED",
    reason: exampleDecision.reason,
    classification: "INCREASE",
    envelope_version: 3,
    halt_epoch: 12,
    figures: [{ name: "nav", value: "10000000", age_ms: 250 }],
    actor: "alpha-momentum",
    decided_at: exampleDecision.decided_at,
  });
  expect(asHeard(events[2]?.payload)).toEqual({
    order: exampleOrder,
    decision: { ...exampleDecision, decision_id: id },
  });
  expectValid(record);
});

test("an approval has no rejection among its messages", () => {
  const record = recordOf(exampleOrder, approved);
  expect(decisionEvents(id, record).map((event) => event.subject)).toEqual([
    subjects.gatePassed.name,
    subjects.gatePassed.name,
    subjects.decisionMade.name,
  ]);
  expect(decisionMadeOf(record).decision).toMatchObject({ approved: true, valid_until: approved.valid_until });
  expectValid(record);
});

test("a duplicate's first decision goes with it, one level deep", () => {
  const original = { ...approved, original: denied };
  const made = decisionMadeOf(recordOf(exampleOrder, { ...denied, original }));
  expect(made.decision.original).toMatchObject({ approved: true });
  expect(made.decision.original).not.toHaveProperty("original");
  expectValid(recordOf(exampleOrder, { ...denied, original }));
});

test("a denied flip says what could be closed", () => {
  const flip = { ...denied, classification: "FLIP", closing_quantity_allowed: "0" };
  expect(rejectionOf(exampleOrder, flip)).toMatchObject({ classification: "FLIP", closing_quantity_allowed: "0" });
});

test("an empty order is an order of empty fields", () => {
  const schema: RiskDecision = { ...denied, order_id: "", fund_id: "", rejecting_gate: "schema" };
  const checks = [{ gate: "schema", result: "FAILED", figures: [], microseconds: 2 }];
  const record = { order: undefined, decision: { ...schema, checks }, inputs: new Uint8Array(0) };
  expect(decisionMadeOf(record).order).toMatchObject({ order_id: "", quantity: "" });
  expectValid(record);
});

test("ages that are unknown are left out, and nothing is negatively old", () => {
  const figures = [
    { name: "a", value: "1", age_ms: Number.NaN },
    { name: "b", value: "2", age_ms: -3 },
    { name: "c", value: "3", age_ms: Infinity },
  ];
  const checks = [{ gate: "position_risk", result: "FAILED", figures, microseconds: Number.NaN }];
  const record = recordOf(exampleOrder, { ...denied, checks });
  expect(rejectionOf(exampleOrder, { ...denied, checks }).figures).toEqual([
    { name: "a", value: "1" },
    { name: "b", value: "2", age_ms: 0 },
    { name: "c", value: "3" },
  ]);
  expectValid(record);
});

test("garbage orders make valid messages, uncut", () => {
  const text = fc.string({ unit: "binary", maxLength: 40 });
  const garbage: fc.Arbitrary<Order> = fc.record({
    idempotency_key: text,
    order_id: text,
    fund_id: text,
    strategy_id: text,
    symbol: text,
    side: text,
    quantity: text,
    order_type: text,
    limit_price: fc.option(text, { nil: undefined }),
    tif: text,
    broker: text,
    asset_class: text,
    notional: fc.option(fc.double(), { nil: undefined }),
    actor: text,
    thesis: fc.option(fc.constantFrom("", "x".repeat(5_000)), { nil: undefined }),
    reduce_only: fc.option(fc.boolean(), { nil: undefined }),
  });
  fc.assert(
    fc.property(garbage, (order) => {
      const schema: RiskDecision = {
        ...denied,
        order_id: order.order_id,
        fund_id: order.fund_id,
        rejecting_gate: "schema",
        classification: undefined,
        envelope_version: undefined,
        checks: [{ gate: "schema", result: "FAILED", figures: [], microseconds: 1 }],
      };
      const record = recordOf(order, schema);
      expectValid(record);
      const heard = decisionMadeOf(record).order;
      expect(heard["thesis"]).toBe(order.thesis);
      expect(Object.hasOwn(heard, "limit_price")).toBe(order.limit_price !== undefined);
      expect(heard["notional"]).toEqual(
        order.notional === undefined || Number.isFinite(order.notional) ? order.notional : String(order.notional),
      );
    }),
    { seed: 4, numRuns: inputCount(500) },
  );
});

test("what is no decision is a defect", () => {
  const nothing = { order: exampleOrder, decision: undefined, inputs: new Uint8Array(0) };
  expect(() => decisionEvents(id, nothing)).toThrow(Defect);
  const gate = { ...denied, rejecting_gate: "vibes" };
  expect(() => decisionEvents(id, recordOf(exampleOrder, gate))).toThrow(/"vibes", which is no gate/);
});
