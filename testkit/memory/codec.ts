// Events as bytes and back, so that the memory transport hides nothing that a wire would show.
import { messageOf } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import type { BusEvent, Unread } from "../../ports/bus.ts";
import type { WrittenEvent } from "./tables.ts";

export type SubjectLookup = (name: string) => Subject<unknown> | undefined;

export type Decoded =
  | { readonly ok: true; readonly event: BusEvent }
  | { readonly ok: false; readonly kind: Unread["kind"]; readonly reason: string };

export function encode(payload: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(payload));
}

/** A fresh copy of the event, or why it is none. */
export function decode(written: WrittenEvent, lookup: SubjectLookup): Decoded {
  const subject = lookup(written.subject);
  if (subject === undefined)
    return { ok: false, kind: "unknown subject", reason: `nobody knows the subject ${written.subject}` };
  let payload: unknown;
  try {
    payload = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(written.bytes));
  } catch (thrown) {
    return { ok: false, kind: "malformed", reason: `the payload is not JSON: ${messageOf(thrown)}` };
  }
  const checked = subject.schema.safeParse(payload);
  if (!checked.success) {
    return { ok: false, kind: "malformed", reason: `the payload does not match the schema: ${checked.error.message}` };
  }
  const { id, key, at, source, login, funds, isRevoked } = written;
  const speaker = { ...(login !== undefined && { login }), ...(isRevoked !== undefined && { isRevoked }) };
  const from = { source, ...speaker, ...(funds !== undefined && { funds }) };
  return { ok: true, event: { id, subject: written.subject, key, at, ...from, payload: checked.data } };
}

/** The same, and what cannot be read as an event that says so. */
export function decodeAll(written: WrittenEvent, lookup: SubjectLookup): Decoded {
  const decoded = decode(written, lookup);
  if (decoded.ok) return decoded;
  const { id, subject, key, at, source } = written;
  const unread = { kind: decoded.kind, reason: decoded.reason, bytes: written.bytes.slice() };
  return { ok: true, event: { id, subject, key, at, source, payload: undefined, unread } };
}
