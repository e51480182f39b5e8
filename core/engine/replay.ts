// A recorded decision, made again under another envelope from nothing but its record: the order, and what the gates could read then.
// Each order is judged as the world stood when it was asked; what other orders would have become under that envelope is not imagined.
// Two figures were counted under the old envelope and are taken as they are: equal approvals within its window, and the risk officer's
// verdict. Where nobody was asked, nobody is taken to have objected.
import type { Denial } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { GateName } from "../../contracts/src/records/values.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { gatesOf } from "../gates/index.ts";
import { gateRules } from "../gates/rules.ts";
import { paceDenial } from "../gates/static.ts";
import { classify } from "../orders/classify.ts";
import type { Gate } from "../state/gate.ts";
import { isNewRisk, obeysLimits } from "../state/new-risk.ts";
import { noNotes } from "../state/notes.ts";
import { partsOf } from "../state/rejection.ts";
import { readTerms } from "../state/terms.ts";
import { type RecordedView, rulesOf, unpackViews } from "./fast/view-bytes.ts";

export interface Replayed {
  readonly approved: boolean;
  readonly gate: GateName | "";
  readonly code: string;
  readonly reason: string;
}

const early: readonly Gate[] = gatesOf("order");
const late: readonly Gate[] = gatesOf("risk");
const officer: readonly Gate[] = gatesOf("model");

/**
 * Why a decision is not made again. NO_LIMIT_DECIDES: no envelope could change it, because it is a duplicate, or of an order that was no order.
 * EARLIER_RULES: the gates decide by other rules today, or its record is in a form that no release wrote.
 */
export type NotReplayed = "NO_LIMIT_DECIDES" | "EARLIER_RULES";

/** Without an envelope as of a fund that had none then. */
export function replayDecision(record: DecisionRecord, proposed: Envelope | undefined): Replayed | NotReplayed {
  const { order, decision } = partsOf(record);
  if (decision.rejecting_gate === "idempotency" || decision.rejecting_gate === "schema") return "NO_LIMIT_DECIDES";
  if (rulesOf(record.inputs) !== gateRules) return "EARLIER_RULES";
  const [first, second = first] = unpackViews(record.inputs);
  for (const { view } of [first, second]) {
    view.envelope = proposed;
    readTerms(order, view.terms);
    classify(view);
  }
  const { view } = second;
  const hasVerdict = view.verdict.kind !== "none" || !isNewRisk(view);
  return (
    denied(early, order, second) ??
    (second === first ? undefined : deniedForPace(order, first, proposed)) ??
    denied(late, order, second) ??
    (proposed?.croVetoEnabled === true && hasVerdict ? denied(officer, order, second) : undefined) ?? {
      approved: true,
      gate: "",
      code: "",
      reason: "",
    }
  );
}

/** Of an order that was judged again with the risk officer's answer all counts as it was then, but for its pace. */
function deniedForPace(order: Order, { view }: RecordedView, proposed: Envelope | undefined): Replayed | undefined {
  const denial =
    proposed !== undefined && obeysLimits(order, view) ? paceDenial(order, view, proposed, noNotes) : undefined;
  if (denial === undefined) return undefined;
  return { approved: false, gate: "static", code: denial.code, reason: denial.reason };
}

function denied(asked: readonly Gate[], order: Order, { view, at }: RecordedView): Replayed | undefined {
  for (const gate of asked) {
    const denial: Denial | undefined = gate.decide(order, view, at, noNotes);
    if (denial !== undefined) return { approved: false, gate: gate.name, code: denial.code, reason: denial.reason };
  }
  return undefined;
}
