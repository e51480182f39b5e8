// How the risk queries open a stored decision. A record that cannot be read is that record's trouble: the caller is told which one it is, and
// the process, which has halts to hold, goes on.
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { StoredDecision } from "../../ports/risk-queries.ts";

export function fromRecord<Result>(stored: StoredDecision, use: (record: DecisionRecord) => Result): Result {
  try {
    return use(DecisionRecord.decode(stored.payload));
  } catch (thrown) {
    const sentence = `The record of decision ${stored.decisionId} cannot be read: ${messageOf(thrown)}.`;
    throw new Fault("INTERNAL", sentence, { retry: "never", cause: thrown });
  }
}
