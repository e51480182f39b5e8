// A decision is stored as one packed row and heard as several messages: one per gate that was reached, in their order, then the decision
// itself. Their ids follow from the decision's, so whoever expands the row, and however often, makes the same messages.
import type { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { decisionMadeOf, gatePassedOf, partsOf, rejectionOf } from "../state/rejection.ts";

interface DecisionEvent {
  readonly id: string;
  readonly subject: string;
  readonly key: string;
  readonly payload: unknown;
}

/** Throws a Defect when the record holds no decision, or one that names a gate which does not exist. */
export function decisionEvents(decisionId: string, record: DecisionRecord): readonly DecisionEvent[] {
  const { order, decision } = partsOf(record);
  const heard = decision.checks.map((check, index) => {
    const id = `${decisionId}/${index}`;
    return check.result === "PASSED"
      ? event(id, subjects.gatePassed, gatePassedOf(decision.order_id, check))
      : event(id, subjects.gateFailed, rejectionOf(order, decision));
  });
  return [...heard, event(decisionId, subjects.decisionMade, decisionMadeOf(record))];
}

function event<Payload>(id: string, subject: Subject<Payload>, payload: Payload): DecisionEvent {
  return { id, subject: subject.name, key: subject.key(payload), payload };
}
