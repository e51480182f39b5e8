// What must be true of the risk engine's decisions, whatever it heard late or not at all.
import * as decimal from "../../contracts/src/decimal.ts";
import type { DecisionMade, Order, RiskDecision } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { covers, haltOver } from "../../testkit/halt-judge.ts";
import type { Evidence } from "../evidence.ts";
import { buys, envelopeKey, type History, isOver, leftOf, positionKey, type ReportedOrder } from "../history.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

/** An exit that was marked as one, was proven to be one, and that the fund's limits let pass a halt. */
export function mayPassHalts(past: History, order: Order, decision: RiskDecision): boolean {
  if (order.reduce_only !== true || decision.classification !== "REDUCE") return false;
  // Limits may change between the decision and the sending: either version is good.
  return [...past.envelopes.values()].some((one) => one.fund_id === order.fund_id && one.halt_allow_reduce_only);
}

/** An open order that is asked to be smaller: nothing new is let in by it. */
export function isLowered(past: History, order: Order): boolean {
  const known = past.orders.get(order.order_id);
  return known?.approval !== undefined && known.routed && decimal.parse(order.quantity) < known.allowed;
}

export const noApprovalInAHalt: Invariant = {
  name: "no_approval_in_a_halt",
  sentence:
    "Nothing but a proven exit, or less of an order that is out, is approved in a scope that is halted, and no older approval leaves once the halt is acknowledged, because a halt that lets one order through has not halted.",
  violated(evidence) {
    const { past, promises, reported } = evidence;
    return (
      onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order: asked, decision }) => {
        const order = asked as unknown as Order;
        if (!decision.approved || mayPassHalts(past, order, decision) || isLowered(past, order)) return undefined;
        const halt = haltOver(past.halts, order, decision.halt_epoch);
        return halt === undefined
          ? undefined
          : `${decision.order_id} was approved at epoch ${decision.halt_epoch} under ${halt.halt_id}`;
      }) ??
      (reported === undefined ? first(promises.approvals.splice(0), (left) => leftTooLate(evidence, left)) : undefined)
    );
  },
};

function leftTooLate(
  { past, promises }: Evidence,
  { decisionId, turn }: Evidence["promises"]["approvals"][number],
): string | undefined {
  const found = past.approvals.get(decisionId);
  if (found === undefined) return `the approval ${decisionId} left and was never reported`;
  const { order, decision } = found;
  if (isLowered(past, order)) return undefined;
  if (mayPassHalts(past, order, decision)) return undefined;
  const halt = past.halts.find((one) => {
    const acknowledged = promises.halts.get(one.halt_id);
    return (
      acknowledged !== undefined && acknowledged.turn < turn && covers(one, order) && decision.halt_epoch < one.epoch
    );
  });
  if (halt === undefined) return undefined;
  return `the approval of ${order.order_id} left after ${halt.halt_id} was acknowledged`;
}

export const unacceptedFillsBlock: Invariant = {
  name: "unaccepted_fills_block",
  sentence:
    "Nothing but a reduction, or less of an order that is out, is approved in a symbol while a fill of it waits to be accepted, because nobody adds to what nobody vouches for.",
  violated: ({ past, reserved, reported }) =>
    reported !== undefined
      ? undefined
      : first(reserved.unaccepted.splice(0), ({ order, blockId }) =>
          isLowered(past, order) ? undefined : `${order.order_id} was approved while ${blockId} waited to be accepted`,
        ),
};

const keyWindowUs = 300_000_000;

export const noKeyApprovedTwice: Invariant = {
  name: "no_key_approved_twice",
  sentence:
    "No key is approved twice within its window, because the second approval would be a second order that nobody meant.",
  violated: (evidence) =>
    onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order, decision }, { at }) => {
      const before = evidence.past.keys.get(String(order["idempotency_key"]));
      if (!decision.approved || decision.dry_run === true || before === undefined) return undefined;
      if (at - before.at > keyWindowUs) return undefined;
      return `the key ${String(order["idempotency_key"])} was approved as ${before.decisionId} and again as ${decision.decision_id}`;
    }),
};

/** An adjustment is a fact that the engine may not have heard of yet. */
const adjustmentUs = 10_000_000;

export const worstCaseWithinEnvelope: Invariant = {
  name: "worst_case_within_envelope",
  sentence:
    "When new risk is approved, the position that the fund reaches if every order that may be alive trades is counted in full and is within the envelope, because orders that rest today trade tomorrow, all of them.",
  violated: (evidence) =>
    onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order: asked, decision }, { at }) => {
      const order = asked as unknown as Order;
      const { past } = evidence;
      const addsRisk = decision.approved && decision.classification !== "REDUCE" && decision.dry_run !== true;
      const isAmendment = past.orders.get(order.order_id)?.approval !== undefined;
      if (!addsRisk || isAmendment) return undefined;
      const adjusted = past.adjustedAt.get(positionKey(order.fund_id, order.symbol)) ?? 0;
      if (at - adjusted < adjustmentUs) return undefined;
      return countedInFull(evidence, order, decision) ?? withinLimit(past, order, decision);
    }),
};

function figureOf({ checks }: RiskDecision, name: string): string | undefined {
  return checks.find(({ gate }) => gate === "position_risk")?.figures.find((figure) => figure.name === name)?.value;
}

/**
 * Whether an approved order may still trade. What was not reported to be on its way while its approval held never will be, nor what a person
 * released before.
 */
export function mayTrade(
  { order, approval, state, routed }: ReportedOrder,
  { reserved }: Evidence,
  at: string,
): boolean {
  if (approval === undefined || isOver(state)) return false;
  return routed || (!reserved.released.has(order.order_id) && (approval.valid_until ?? "") >= at);
}

function countedInFull(evidence: Evidence, order: Order, decision: RiskDecision): string | undefined {
  const { past } = evidence;
  const isBuy = buys(order.side);
  const held = past.positions.get(positionKey(order.fund_id, order.symbol)) ?? decimal.zero;
  const alive = [...past.orders.values()].filter(
    (one) =>
      mayTrade(one, evidence, decision.decided_at) &&
      one.order.fund_id === order.fund_id &&
      one.order.symbol === order.symbol &&
      one.order.order_id !== order.order_id &&
      buys(one.order.side) === isBuy,
  );
  const pending = alive.reduce((sum, one) => decimal.add(sum, leftOf(one)), decimal.zero);
  const reported = decimal.parse(figureOf(decision, "position") ?? "0");
  const counted = decimal.parse(figureOf(decision, isBuy ? "pending_buy" : "pending_sell") ?? "0");
  const reached = isBuy ? decimal.add(held, pending) : decimal.negate(decimal.subtract(held, pending));
  const seen = isBuy ? decimal.add(reported, counted) : decimal.negate(decimal.subtract(reported, counted));
  if (seen >= reached) return undefined;
  const side = isBuy ? "buys" : "sells";
  return `${order.order_id} was approved counting ${decimal.format(seen)} of ${order.symbol} in ${order.fund_id}, and with all ${side} it can be ${decimal.format(reached)}`;
}

function withinLimit(past: History, order: Order, decision: RiskDecision): string | undefined {
  const envelope = past.envelopes.get(envelopeKey(order.fund_id, decision.envelope_version ?? 0));
  const position = Number(figureOf(decision, "resulting_position"));
  const nav = Number(figureOf(decision, "nav"));
  if (envelope === undefined) return `${order.order_id} was approved under limits that nobody reported`;
  // The figures are exact and these numbers are not.
  if (position <= envelope.max_position_pct * nav * (1 + 1e-9)) return undefined;
  return `${order.order_id} was approved for a position of ${position} with a NAV of ${nav} and a limit of ${envelope.max_position_pct}`;
}

export const reservedWhileAlive: Invariant = {
  name: "reserved_while_alive",
  sentence:
    "What is held for an order is not let go while the order may be alive, at the broker or with us, because the room would be given away twice.",
  violated({ reported, past, reserved, platform }) {
    if (reported !== undefined) return undefined;
    return (
      first(platform.outside.open.keys(), (id) => {
        if (!reserved.held.has(id)) return `${id} works at the broker and was never reserved`;
        const isGone = reserved.freed.has(id) || reserved.expired.has(id);
        return isGone ? `${id} works at the broker and its reservation is gone` : undefined;
      }) ??
      first(reserved.freed, (id) => {
        const order = past.orders.get(id);
        if (order === undefined || isOver(order.state)) return undefined;
        return `${id} is ${order.state} and its reservation is gone`;
      })
    );
  },
};

export const unsentApprovalsExpire: Invariant = {
  name: "unsent_approvals_expire",
  sentence:
    "At rest nothing is held for an approval that nobody sent, because exposure that never comes back keeps out what should pass, exits among it.",
  violated({ settled, reserved }) {
    if (!settled) return undefined;
    return first(reserved.unsent, (id) => `${id} was approved, nobody sent it, and it is reserved all the same`);
  },
};
