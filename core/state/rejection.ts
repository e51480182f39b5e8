// What the world hears about a decision, made from the order as it was asked and the decision as it was stored. The engine's bus messages and
// the answers to people come from the same functions, so they can never tell two stories.
//
// The order may be anything, because an order that is no order is denied too: nothing of it is repaired, and only a rejection, which is
// listed by the thousand, has its words cut to a bearable length. The decision is ours; where a number in it cannot stand in JSON (an age that nobody knows), the number is left out.
import { Defect } from "../../contracts/src/fault.ts";
import type {
  Figure as FigureMessage,
  GateCheck as GateCheckMessage,
  Order as OrderMessage,
  OrderRejection as OrderRejectionMessage,
  RiskDecision as RiskDecisionMessage,
} from "../../contracts/src/generated/svc/v1/order.ts";
import type { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import {
  type DecisionMade,
  type Figure,
  type GateCheck,
  type GatePassed,
  type Order,
  type OrderRejection,
  type RiskDecision,
  refusedPrefix,
} from "../../contracts/src/records/order.ts";
import { type Classification, classification, type GateName, gateName } from "../../contracts/src/records/values.ts";

const gates: ReadonlyMap<string, GateName> = new Map(gateName.options.map((name) => [name, name]));
const classifications: ReadonlyMap<string, Classification> = new Map(
  classification.options.map((name) => [name, name]),
);

/** Why an order was denied, complete in one record. */
export function rejectionOf(order: OrderMessage, decision: RiskDecisionMessage): OrderRejection {
  const gate = gateOf(decision.rejecting_gate);
  const failed = decision.checks.find((check) => check.gate === gate && check.result === "FAILED");
  return {
    order_id: cut(decision.order_id),
    decision_id: decision.decision_id,
    idempotency_key: cut(order.idempotency_key),
    fund_id: cut(decision.fund_id),
    strategy_id: cut(order.strategy_id),
    symbol: cut(order.symbol),
    side: cut(order.side),
    quantity: cut(order.quantity),
    gate,
    code: decision.code,
    reason: decision.reason,
    ...classified(decision),
    halt_epoch: decision.halt_epoch,
    figures: failed === undefined ? [] : failed.figures.map(figureOf),
    actor: cut(order.actor),
    decided_at: decision.decided_at,
  };
}

/** The same of an order that order management refused before any gate was asked. */
export function refusalOf(refused: {
  readonly order: Order;
  readonly code: string;
  readonly reason: string;
  readonly refusedAt: Instant;
}): OrderRejectionMessage {
  const { order, code, reason, refusedAt } = refused;
  const { order_id, idempotency_key, fund_id, strategy_id, symbol, side, quantity, actor } = order;
  return {
    order_id,
    idempotency_key,
    fund_id,
    strategy_id,
    symbol,
    side,
    quantity,
    actor,
    code,
    reason,
    decision_id: `${refusedPrefix}${order_id}`,
    gate: "",
    halt_epoch: 0,
    figures: [],
    decided_at: format(refusedAt),
    source: "oms",
  };
}

/** Longer than any valid order's word is. */
const wordLengthMax = 256;

function cut(word: string): string {
  return word.length <= wordLengthMax ? word : `${word.slice(0, wordLengthMax)}…`;
}

/** Exactly the three fields of the specification. */
export function gatePassedOf(orderId: string, check: GateCheckMessage): GatePassed {
  return { order_id: orderId, gate: gateOf(check.gate), latency_ms: atLeastZero(check.microseconds) / 1_000 };
}

/** The order as it was asked, beside the whole decision. */
export function decisionMadeOf(record: DecisionRecord): DecisionMade {
  const { order, decision } = partsOf(record);
  const made = decisionOf(decision);
  return {
    order: orderAsJson(order),
    decision: decision.original === undefined ? made : { ...made, original: decisionOf(decision.original) },
  };
}

/** What a stored record must hold. One without an order is one whose order was empty: protobuf does not tell them apart from nothing. */
export function partsOf(record: DecisionRecord): {
  readonly order: OrderMessage;
  readonly decision: RiskDecisionMessage;
} {
  if (record.decision === undefined) throw new Defect("a decision's record holds no decision");
  return { order: record.order ?? emptyOrder, decision: record.decision };
}

/** A decision as JSON has it, without the one it may carry inside. */
function decisionOf(decision: RiskDecisionMessage): RiskDecision {
  return {
    approved: decision.approved,
    rejecting_gate: decision.rejecting_gate === "" ? "" : gateOf(decision.rejecting_gate),
    code: decision.code,
    reason: decision.reason,
    order_id: decision.order_id,
    decision_id: decision.decision_id,
    fund_id: decision.fund_id,
    ...classified(decision),
    halt_epoch: decision.halt_epoch,
    decided_at: decision.decided_at,
    ...(decision.valid_until !== undefined && { valid_until: decision.valid_until }),
    checks: decision.checks.map(checkOf),
    warnings: decision.warnings.map(({ limit, used, threshold }) => ({ limit, used: atLeastZero(used), threshold })),
    ...(decision.dry_run !== undefined && { dry_run: decision.dry_run }),
    ...(decision.reduces_strategy !== undefined && { reduces_strategy: decision.reduces_strategy }),
  };
}

/** What a denial before the classification does not have. */
function classified(
  decision: RiskDecisionMessage,
): Pick<OrderRejection, "classification" | "closing_quantity_allowed" | "envelope_version"> {
  const kind = classifications.get(decision.classification ?? "");
  return {
    ...(decision.envelope_version !== undefined && { envelope_version: decision.envelope_version }),
    ...(kind !== undefined && { classification: kind }),
    ...(decision.closing_quantity_allowed !== undefined && {
      closing_quantity_allowed: decision.closing_quantity_allowed,
    }),
  };
}

function checkOf(check: GateCheckMessage): GateCheck {
  return {
    gate: gateOf(check.gate),
    result: check.result === "PASSED" ? "PASSED" : "FAILED",
    figures: check.figures.map(figureOf),
    microseconds: atLeastZero(check.microseconds),
  };
}

function figureOf({ name, value, age_ms }: FigureMessage): Figure {
  if (age_ms === undefined || !Number.isFinite(age_ms)) return { name, value };
  return { name, value, age_ms: atLeastZero(age_ms) };
}

/** Absent fields are left out; a number that JSON has no word for stands as text, as protobuf's own JSON has it. */
function orderAsJson(order: OrderMessage): DecisionMade["order"] {
  return Object.fromEntries(
    Object.entries(order).flatMap(([name, value]: [string, string | number | boolean | undefined]) => {
      if (value === undefined) return [];
      return [[name, typeof value === "number" && !Number.isFinite(value) ? String(value) : value]];
    }),
  );
}

function gateOf(name: string): GateName {
  const known = gates.get(name);
  if (known === undefined) throw new Defect(`a decision names ${JSON.stringify(name)}, which is no gate`);
  return known;
}

/** A price from a clock slightly ahead of ours is new, not negatively old; what was not measured took no time. */
function atLeastZero(value: number): number {
  return value > 0 && Number.isFinite(value) ? value : 0;
}

const emptyOrder: OrderMessage = {
  idempotency_key: "",
  order_id: "",
  fund_id: "",
  strategy_id: "",
  symbol: "",
  side: "",
  quantity: "",
  order_type: "",
  tif: "",
  broker: "",
  asset_class: "",
  actor: "",
};
