// The risk engine and the workers beside it. One entry an event: subject, payload, order, publishers and what the audit log says of it.

import { riskBlock, riskBlockEnded } from "../records/block.ts";
import { riskEnvelope } from "../records/envelope.ts";
import { haltRequest, lossBaseline, lossesUnjudged } from "../records/halt.ts";
import { flatProved, reconcileDifference, stopAttempted, stopEnded, stopTriggered } from "../records/operations.ts";
import {
  type ApprovalExpired,
  approvalEnded,
  approvalExpired,
  approvalSent,
  decisionMade,
  gatePassed,
  orderRejection,
  ordersHandedOver,
  throttleReleased,
  unsentEndOf,
} from "../records/order.ts";
import type { OneOf } from "./event.ts";
import { aboutScope, byFirm, byFund, byOrder, event, requestedBy } from "./event.ts";

const unsentEnds: OneOf<ApprovalExpired> = {
  actions: ["approval.expired", "approval.released"],
  of: (ended) => (unsentEndOf(ended) === "RELEASED" ? "approval.released" : "approval.expired"),
};
const insideDecision = "It is inside the entry of the decision, which has every gate's figures.";

export const riskEvents = {
  envelopeUpdated: event({
    subject: "svc.v1.risk.envelope.updated",
    schema: riskEnvelope,
    key: byFund,
    sentence: "A fund's limits changed; the payload is what applies now.",
    publishers: ["riskengine"],
    audit: { action: "envelope.updated", about: byFund, by: (of) => of.updated_by },
  }),
  gatePassed: event({
    subject: "svc.v1.risk.gate.passed",
    schema: gatePassed,
    key: byOrder,
    sentence: "A gate let an order through.",
    publishers: ["riskengine"],
    audit: { notAudited: insideDecision },
  }),
  gateFailed: event({
    subject: "svc.v1.risk.gate.failed",
    schema: orderRejection,
    key: byOrder,
    sentence: "A gate denied an order.",
    publishers: ["riskengine"],
    audit: { notAudited: insideDecision },
  }),
  riskHaltRequested: event({
    subject: "svc.v1.risk.halt.requested",
    schema: haltRequest,
    key: byFirm,
    sentence: "The risk engine latched a halt; operations adopts it.",
    publishers: ["riskengine"],
    audit: { action: "halt.latched", about: aboutScope, by: requestedBy },
  }),
  lossBaseline: event({
    subject: "svc.v1.risk.loss.baseline",
    schema: lossBaseline,
    key: byFund,
    sentence: "From where on a loss is counted was written down.",
    publishers: ["riskengine", "operations"],
    audit: { action: "loss.baseline", about: aboutScope, by: (of) => of.set_by },
  }),
  lossesUnjudged: event({
    subject: "svc.v1.risk.loss.unjudged",
    schema: lossesUnjudged,
    key: byFund,
    sentence:
      "A fund's losses could not be judged in full for a minute; order management cancels what rests and adds risk.",
    publishers: ["riskengine"],
    audit: { action: "loss.unjudged", about: byFund },
  }),
  decisionMade: event({
    subject: "svc.v1.risk.decision.made",
    schema: decisionMade,
    key: (made) => made.decision.order_id,
    sentence: "An order was approved or denied, with every gate's figures.",
    publishers: ["riskengine"],
    audit: { action: "order.decided", about: (of) => of.decision.order_id },
  }),
  throttleReleased: event({
    subject: "svc.v1.risk.throttle.released",
    schema: throttleReleased,
    key: byFund,
    sentence: "An operator let a strategy trade again after its throttle tripped.",
    publishers: ["riskengine"],
    audit: { action: "throttle.released", about: (of) => of.strategy_id, by: (of) => of.released_by },
  }),
  approvalExpired: event({
    subject: "svc.v1.risk.approval.expired",
    schema: approvalExpired,
    key: byOrder,
    sentence: "Nothing showed that an approval was sent, or it was released: what was reserved for it is free.",
    publishers: ["riskengine"],
    audit: { action: unsentEnds, about: (of) => of.order_id, by: (of) => of.released_by },
  }),
  approvalSent: event({
    subject: "svc.v1.risk.approval.sent",
    schema: approvalSent,
    key: byOrder,
    sentence: "Its owner said that an approved order was sent.",
    publishers: ["riskengine"],
    audit: { action: "approval.sent", about: (of) => of.order_id, by: (of) => of.confirmed_by },
  }),
  approvalEnded: event({
    subject: "svc.v1.risk.approval.ended",
    schema: approvalEnded,
    key: byOrder,
    sentence: "An operator declared an order of a foreign order management ended: what was reserved for it is free.",
    publishers: ["riskengine"],
    audit: { action: "approval.ended", about: (of) => of.order_id, by: (of) => of.ended_by },
  }),
  ordersHandedOver: event({
    subject: "svc.v1.risk.orders.handed_over",
    schema: ordersHandedOver,
    key: (of) => of.order_id ?? of.to,
    sentence:
      "Orders of one source are another's from now on: an admin handed them over, or nobody knew who had asked.",
    publishers: ["riskengine"],
    audit: { action: "orders.handed_over", about: (of) => of.order_id ?? of.from ?? of.to, by: (of) => of.given_by },
  }),
  blockOpened: event({
    subject: "svc.v1.risk.block.opened",
    schema: riskBlock,
    key: byFund,
    sentence: "Something was booked that an operator must accept before a fund takes new risk in a symbol, or at all.",
    publishers: ["riskengine"],
    audit: { action: "block.opened", about: (of) => of.block_id },
  }),
  blockEnded: event({
    subject: "svc.v1.risk.block.ended",
    schema: riskBlockEnded,
    key: byFund,
    sentence: "An operator accepted what kept a fund from new risk, or a price settled it.",
    publishers: ["riskengine"],
    audit: { action: "block.ended", about: (of) => of.block_id, by: (of) => of.ended_by },
  }),
  stopTriggered: event({
    subject: "svc.v1.risk.stop.triggered",
    schema: stopTriggered,
    key: byFund,
    sentence: "A price crossed a synthetic stop; the exit is now owed.",
    // The risk engine's two workers run beside operations, so that the engine's event loop is its own.
    publishers: ["operations"],
    audit: { action: "stop.triggered", about: (of) => of.stop_id },
  }),
  stopAttempted: event({
    subject: "svc.v1.risk.stop.attempted",
    schema: stopAttempted,
    key: byFund,
    sentence: "An exit was handed in for a stop that fired.",
    publishers: ["operations"],
    audit: { action: "stop.attempted", about: (of) => of.stop_id },
  }),
  stopEnded: event({
    subject: "svc.v1.risk.stop.ended",
    schema: stopEnded,
    key: byFund,
    sentence: "A stop that fired is over.",
    publishers: ["operations"],
    audit: { action: "stop.ended", about: (of) => of.stop_id, by: (of) => of.ended_by },
  }),
  flatProved: event({
    subject: "svc.v1.risk.reconcile.flat",
    schema: flatProved,
    key: byFund,
    sentence: "After a flatten: what the broker says is left.",
    publishers: ["operations"],
    audit: { action: "reconcile.flat", about: byFund, by: (of) => of.asked_by },
  }),
  reconcileDifference: event({
    subject: "svc.v1.risk.reconcile.difference",
    schema: reconcileDifference,
    key: byFund,
    sentence: "Our position and the broker's differ, or no longer do.",
    publishers: ["operations"],
    audit: { action: "reconcile.difference", about: (of) => of.difference_id },
  }),
};
