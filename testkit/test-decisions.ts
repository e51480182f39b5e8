// Decisions for tests of the transports: packed as the engine packs them, and put into the journal without an engine.
import { randomUUID } from "node:crypto";
import type { GateCheck, Order, RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import { DecisionRecord } from "../contracts/src/generated/svc/v1/riskdesk.ts";
import type { GateName } from "../contracts/src/records/values.ts";

const reachedInOrder: readonly GateName[] = [
  "idempotency",
  "schema",
  "static",
  "position_risk",
  "drawdown_halt",
  "short_side",
];

export interface TestDecision {
  readonly decisionId: string;
  readonly orderId: string;
  readonly payload: Uint8Array;
}

/** Approved by six gates, or denied by the third. */
export function testDecision(
  orderId: string,
  verdict: "approved" | "denied" = "approved",
  padding = 300,
): TestDecision {
  const decisionId = randomUUID();
  const approved = verdict === "approved";
  const reached = approved ? reachedInOrder : reachedInOrder.slice(0, 3);
  const checks: GateCheck[] = reached.map((gate, index) => ({
    gate,
    result: approved || index < 2 ? "PASSED" : "FAILED",
    figures: [{ name: "notional", value: "1850.5", age_ms: 12.5 }],
    microseconds: 3.25,
  }));
  const order: Order = {
    idempotency_key: decisionId,
    order_id: orderId,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "10",
    order_type: "LIMIT",
    limit_price: "185.05",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "test",
  };
  const decision: RiskDecision = {
    approved,
    rejecting_gate: approved ? "" : "static",
    code: approved ? "" : "STATIC_MAX_NOTIONAL",
    reason: approved ? "" : "it is too large",
    order_id: orderId,
    decision_id: decisionId,
    fund_id: "alpha",
    envelope_version: 3,
    halt_epoch: 0,
    decided_at: "2026-01-05T14:30:00.000000Z",
    checks,
    warnings: [],
  };
  const payload = DecisionRecord.encode({ order, decision, inputs: new Uint8Array(padding) }).finish();
  return { decisionId, orderId, payload };
}

/** What an approved or a denied test decision is heard as, in order. */
export const heardOfApproved = [...Array.from({ length: 6 }, () => "passed"), "made"];
export const heardOfDenied = ["passed", "passed", "failed", "made"];

interface Runs {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly { readonly id?: unknown }[] }>;
}

const insertText = `insert into risk_journal (kind, approved, at_us, event_id, fund_id, order_id, payload)
  values ($1, $2, 1700000000000000, $3, 'alpha', $4, $5) returning id::text`;

export async function insertDecision(client: Runs, decision: TestDecision): Promise<bigint> {
  const values = [1, true, decision.decisionId, decision.orderId, Buffer.from(decision.payload)];
  return BigInt(String((await client.query(insertText, values)).rows[0]?.id));
}

/** A row of the journal that nobody hears: a fill. */
export async function insertFill(client: Runs): Promise<bigint> {
  const values = [2, null, null, "any", Buffer.from("{}")];
  return BigInt(String((await client.query(insertText, values)).rows[0]?.id));
}
