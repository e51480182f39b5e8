// From a row's text to the event that a handler gets, or to the reason why no handler may get it.
import { messageOf } from "../../../contracts/src/fault.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Subject } from "../../../contracts/src/subject.ts";
import type { BusEvent, Unread } from "../../../ports/bus.ts";
import type { OutboxRow } from "./outbox-row.ts";

/** Looks a subject up by its exact name. */
export type SubjectByName = (name: string) => Subject<unknown> | undefined;

type Decoded = { readonly event: BusEvent } | { readonly poison: string; readonly kind: Unread["kind"] };

type Row = Omit<OutboxRow, "id" | "record">;

/** As `decodeRow`, and what nobody can read as an event that says so. */
export function decodeEveryRow(row: Row, subjectByName: SubjectByName): Decoded {
  const decoded = decodeRow(row, subjectByName);
  if ("event" in decoded) return decoded;
  const { eventId: id, subject, at, key, source } = row;
  const unread = { kind: decoded.kind, reason: decoded.poison, bytes: Buffer.from(row.payload) };
  return { event: { id, subject, key, at, source, payload: undefined, unread } };
}

/** For a row of the outbox or a message of a decision, never for a packed decision. */
export function decodeRow(row: Row, subjectByName: SubjectByName): Decoded {
  if (row.poison !== undefined) return { poison: row.poison, kind: "malformed" };
  const subject = subjectByName(row.subject);
  if (subject === undefined) return { poison: `the subject ${row.subject} is not known`, kind: "unknown subject" };
  let payload: unknown;
  try {
    payload = parseJson(row.payload);
  } catch (error) {
    return { poison: `the payload is not JSON: ${messageOf(error)}`, kind: "malformed" };
  }
  const checked = subject.schema.safeParse(payload);
  if (!checked.success) {
    const where = checked.error.issues.map((issue) => `${issue.path.join(".") || "(whole)"}: ${issue.message}`);
    return { poison: `the payload does not match its schema: ${where.join("; ")}`, kind: "malformed" };
  }
  const { eventId: id, at, key, source } = row;
  return { event: { id, subject: row.subject, key, at, source, payload: checked.data } };
}
