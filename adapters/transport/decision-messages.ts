// A decision is written once, as one packed row of the journal, and heard as several messages: one per gate that it reached, then
// the decision itself. Every transport expands it here, so all of them say the same under the same ids, however often they say it.

import { messageOf } from "../../contracts/src/fault.ts";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { decisionEvents } from "../../core/engine/decision-events.ts";

/** A decision as the journal has it. */
export interface DecisionRow {
  readonly decisionId: string;
  readonly orderId: string;
  readonly at: Instant;
  /** DecisionRecord, packed. */
  readonly payload: Uint8Array;
}

interface DecisionMessage {
  readonly id: string;
  readonly subject: string;
  readonly key: string;
  readonly at: Instant;
  readonly source: string;
  /** The JSON text. */
  readonly payload: string;
  /** Why nobody may get it: what the row holds is no decision. The payload is then the row's bytes for whoever looks into it. */
  readonly poison?: string;
}

/** Who decides: the source of every message of a decision, whoever expands it. */
export const decisionSource = "riskengine";

/** Seven gates and the decision itself. */
export const messagesPerDecisionMax = 8;

export const decisionSubjects: readonly string[] = [
  subjects.gatePassed.name,
  subjects.gateFailed.name,
  subjects.decisionMade.name,
];

/** An order's id is what somebody sent, also when the schema gate denied it for that: as a key it is kept to a bearable size. */
const keyLengthMax = 256;

/** The row's messages in order, without those of subjects that are not wanted. Never throws: what is no decision is one poisoned message. */
export function expandedDecision(
  row: DecisionRow,
  wants: (subject: string) => boolean = () => true,
): readonly DecisionMessage[] {
  try {
    const record = DecisionRecord.decode(row.payload);
    const wanted = decisionEvents(row.decisionId, record).filter((event) => wants(event.subject));
    return wanted.map(({ id, subject, key, payload }) => ({
      id,
      subject,
      key: bounded(key),
      at: row.at,
      source: decisionSource,
      payload: JSON.stringify(payload),
    }));
  } catch (thrown) {
    return [
      {
        id: row.decisionId,
        subject: subjects.decisionMade.name,
        key: bounded(row.orderId),
        at: row.at,
        source: decisionSource,
        payload: `base64:${Buffer.from(row.payload).toString("base64")}`,
        poison: `the journal's row is no decision: ${messageOf(thrown)}`,
      },
    ];
  }
}

/** Cut between characters, because half of one cannot be encoded; the database's text has no zero character. */
function bounded(key: string): string {
  const whole = key.includes("\0") ? key.replaceAll("\0", "") : key;
  if (whole.length <= keyLengthMax) return whole;
  const cut = whole.slice(0, keyLengthMax);
  const last = cut.charCodeAt(keyLengthMax - 1);
  return last >= 0xd800 && last < 0xdc00 ? cut.slice(0, -1) : cut;
}
