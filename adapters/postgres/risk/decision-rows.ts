// The journal's part of what the bus reads. A decision is one row there and no row in the outbox; both tables take their numbers from
// one sequence, so together they are one sequence of rows without holes of its own. Only decisions are heard; every other row of
// the journal is a number that has been seen.
import { matchesAny } from "../../../contracts/src/subjects.ts";
import { decisionSubjects, expandedDecision } from "../../transport/decision-messages.ts";
import type { OutboxRow } from "../bus/outbox-row.ts";

/** Whether any message of a decision can concern who listens to these patterns: decided once, not row by row. */
export function wantsDecisions(patterns: readonly string[]): boolean {
  return decisionSubjects.some((subject) => matchesAny(patterns, subject));
}

/**
 * What is heard of a row: itself, or the messages of a decision that the patterns cover, all under the row's number. A row that cannot
 * be read is one poisoned message, whatever the patterns: nobody can say what it would have been.
 */
export function messagesOf(row: OutboxRow, patterns: readonly string[]): readonly OutboxRow[] {
  if (row.record === undefined) return [row];
  const { id, eventId: decisionId, key: orderId, at, record: payload } = row;
  const messages = expandedDecision({ decisionId, orderId, at, payload }, (subject) => matchesAny(patterns, subject));
  return messages.map(({ id: eventId, ...message }) => ({ id, eventId, ...message }));
}

/** As the journal numbers its kinds. */
const decisionKind = 1;

/** Decisions that stand under one of these numbers, for whoever asks about events that came by another way (outbox-proof.ts). */
export function decisionsAt(numbers: string): string {
  return `select id::text, event_id::text, at_us::text, null::text, order_id collate "default", null::text, null::text, payload
from risk_journal where id = any (${numbers}) and kind = ${decisionKind}`;
}

/** The newest number of any table that is heard; null while all are empty. */
export const newestIdText =
  "greatest((select max(id) from outbox), (select max(id) from risk_journal), (select max(outbox_id) from audit_entry))";

/**
 * The journal's half of a read, in the columns of the outbox's: the outbox's payload is null here, of whichever type it has there,
 * and the record stands behind it. Without decisions only numbers are asked for, which the index alone can answer. Both halves
 * must agree in types and collations, or the server would sort them instead of merging.
 */
export function journalHalf(decisions: boolean, payloadType: "text" | "bytea", record: string): string {
  const columns = decisions
    ? `j.event_id, j.at_us, null::text, j.order_id collate "default", null::text, null::${payloadType},
              case when j.kind = ${decisionKind} then ${record} end`
    : `null::uuid, null::bigint, null::text, null::text, null::text, null::${payloadType}, null::bytea`;
  return `(select j.id, ${columns}
       from risk_journal j where j.id > $1 order by j.id limit $2)`;
}
