// A finding as one sentence for people.
import type { AuditFault } from "../../../../core/audit/fault.ts";

/** A fault in one sentence, for people. */
export function sentenceOf({ code, sequence, expected, actual }: AuditFault): string {
  return `${code} at ${sequence}: expected ${short(expected)}, found ${short(actual)}.`;
}

export function short(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
