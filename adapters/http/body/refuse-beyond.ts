// What a caller is told whose body holds too much: the field, what it may hold and what was sent. Too many bytes are 413, too much of anything else is 400.
import { Fault } from "../../../contracts/src/fault.ts";
import { detailOf, type FieldError, fieldName } from "../field-errors.ts";
import { type Beyond, beyondBound } from "./beyond-bound.ts";
import type { Bound } from "./bound.ts";

/** Throws INVALID_ARGUMENT. */
export function refuseBeyond(bytes: Buffer, bound: Bound): void {
  const beyond = beyondBound(bytes, bound);
  if (beyond === undefined) return;
  const { field, expected } = errorOf(beyond);
  throw new Fault("INVALID_ARGUMENT", detailOf([{ field, expected }]), { retry: "never", facts: { field, expected } });
}

function errorOf({ path, most, unit, sent }: Beyond): FieldError {
  const has = sent === undefined ? "it has more" : `${sent} were sent`;
  const expected =
    unit === "strays"
      ? `no more values of a kind that is not taken here: ${most} came before`
      : `at most ${most} ${unit}, and ${has}`;
  // A name may itself be what cannot be written.
  const field = fieldName("body", path).replaceAll(/\p{Surrogate}/gu, "\ufffd");
  return { field, expected };
}

/** What is wrong with which field, of a body that was refused for what it holds. */
export function beyondError(thrown: unknown): FieldError | undefined {
  if (!(thrown instanceof Fault) || thrown.code !== "INVALID_ARGUMENT") return undefined;
  const { field, expected } = thrown.facts;
  return typeof field === "string" && typeof expected === "string" ? { field, expected } : undefined;
}

interface SentBody {
  readonly bytesMax: number;
  /** The Content-Length; a body that came in pieces has none. */
  readonly announced: string | undefined;
}

export function bytesError({ bytesMax, announced }: SentBody): FieldError {
  const sent = Number(announced);
  const has = sent > bytesMax ? `${sent} were sent` : "it has more";
  return { field: "body", expected: `at most ${bytesMax} bytes, and ${has}` };
}
