// From a row's text to the event that a handler gets, or to the reason why no handler may get it.
import { messageOf } from "../../contracts/src/fault.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import type { BusEvent } from "../../ports/bus.ts";
import type { OutboxRow } from "./outbox-reader.ts";

/** Looks a subject up by its exact name. */
export type SubjectByName = (name: string) => Subject<unknown> | undefined;

export type Decoded = { readonly event: BusEvent } | { readonly poison: string };

/** For a row of the outbox or a message of a decision, never for a packed decision. */
export function decodeRow(row: Omit<OutboxRow, "id" | "record">, subjectByName: SubjectByName): Decoded {
  if (row.poison !== undefined) return { poison: row.poison };
  const subject = subjectByName(row.subject);
  if (subject === undefined) return { poison: `the subject ${row.subject} is not known` };
  let payload: unknown;
  try {
    payload = JSON.parse(row.payload);
  } catch (error) {
    return { poison: `the payload is not JSON: ${messageOf(error)}` };
  }
  const checked = subject.schema.safeParse(payload);
  if (!checked.success) {
    const where = checked.error.issues.map((issue) => `${issue.path.join(".") || "(whole)"}: ${issue.message}`);
    return { poison: `the payload does not match its schema: ${where.join("; ")}` };
  }
  const { eventId: id, at, key, source } = row;
  return { event: { id, subject: row.subject, key, at, source, payload: checked.data } };
}
