// The audit log's part of what the bus reads. An entry is one row there and no row in the outbox: it takes its number from the outbox's own sequence, so
// that readers follow it behind the same cursor, and what is heard of it is its own text. Nothing is kept twice, and nothing needs trimming.
import { matchesAny, subjects } from "../../../contracts/src/subjects.ts";
import { appendedKey, appendedSource } from "../../records/audit-batch.ts";

const { name: subject } = subjects.auditAppended;

/** The id of the event about an entry. */
const heardId = "md5('appended ' || a.event_id)::uuid";

/** Whether who listens to these patterns hears of entries: decided once, not row by row. */
export function wantsEntries(patterns: readonly string[]): boolean {
  return matchesAny(patterns, subject);
}

/**
 * The audit log's third of a read, in the columns of the journal's: the text comes as bytes in the place of a record, so that one that somebody
 * spoiled in the table is one event that cannot be read and not a read that fails. Its id follows from what the entry was made of: the same
 * whenever it is read, and nothing to keep. Without entries only numbers are asked for, which the index alone can answer.
 */
export function entriesPart(entries: boolean, payloadType: "text" | "bytea", record: string): string {
  const columns = entries
    ? `${heardId}, a.at_us, '${subject}'::text, '${appendedKey}'::text, '${appendedSource}'::text, null::${payloadType}, ${record}`
    : `null::uuid, null::bigint, null::text, null::text, null::text, null::${payloadType}, null::bytea`;
  return `(select a.outbox_id, ${columns}
       from audit_entry a where a.outbox_id > $1 order by a.outbox_id limit $2)`;
}

/** Entries whose events stand under one of these numbers, for whoever asks about events that came by another way (outbox-proof.ts). */
export function auditRowsAt(numbers: string): string {
  return `select a.outbox_id::text, (${heardId})::text, a.at_us::text, '${subject}'::text, '${appendedKey}'::text, '${appendedSource}'::text,
       encode(sha256(a.text), 'hex'), null::bytea
from audit_entry a where a.outbox_id = any (${numbers})`;
}
