// What is appended: the life of one order after another, as the intake makes entries of events: a decision with the results of seven gates (1.3 KB), and
// four steps (0.7 KB each). Nothing about an order is remembered from the one before.
import { randomUUID } from "node:crypto";
import { subjects } from "../../contracts/src/subjects.ts";
import type { AppendRequest } from "../../services/operations/audit/log/append-request.ts";

const gates = ["idempotency", "schema", "static", "position_risk", "drawdown_halt", "short_side", "cro_veto"];
const results = gates.map((gate) => ({ facts: { limit: "250000.00", value: "18725.00" }, gate, passed: true }));
const order = { price: "187.2500", quantity: "100", side: "BUY", symbol: "AAPL", type: "LIMIT" };
const states = ["NEW", "ROUTED", "WORKING", "PARTIALLY_FILLED", "FILLED"];
const at = "2026-11-15T09:30:00.123456Z";

/** Entry n: every fifth is a decision, the others are what becomes of its order. */
export function requestOf(n: number): AppendRequest {
  const orderId = `order-${String(Math.floor(n / states.length)).padStart(9, "0")}`;
  return n % states.length === 0 ? decisionOf(orderId) : stepOf(orderId, n % states.length);
}

function decisionOf(orderId: string): AppendRequest {
  const eventId = randomUUID();
  const payload = {
    decision: { approved: true, decision_id: eventId, fund_id: "alpha", order_id: orderId, strategy_id: "momentum" },
    epoch: 12,
    gates: results,
    order,
  };
  const data = { at, event_id: eventId, payload, source: "riskengine", subject: subjects.decisionMade.name };
  const actor = "service:riskengine";
  return { eventId, actor, action: "order.decided", subjectId: orderId, data, isPlain: true };
}

function stepOf(orderId: string, step: number): AppendRequest {
  const eventId = randomUUID();
  const payload = {
    at,
    filled_quantity: "0",
    from: states[step - 1] ?? "",
    fund_id: "alpha",
    order_id: orderId,
    remaining_quantity: "100",
    strategy_id: "momentum",
    symbol: "AAPL",
    to: states[step] ?? "",
  };
  const data = { at, event_id: eventId, payload, source: "oms", subject: subjects.ordersUpdated.name };
  return { eventId, actor: "service:oms", action: "order.updated", subjectId: orderId, data, isPlain: true };
}
