// What goes wrong on the way to a regulator, in the words that every transport says it with; and which names are harmless.
import { Fault, messageOf } from "../../contracts/src/fault.ts";

export function nameTaken(name: string): Fault {
  return new Fault("FILING_NAME_TAKEN", `something else lies there under the name ${name}`, { retry: "never" });
}

export function unreachable(what: string, cause?: unknown): Fault {
  const why = cause === undefined ? what : `${what}: ${messageOf(cause)}`;
  return new Fault("FILING_UNREACHABLE", why, { retry: "later", ...(cause !== undefined && { cause }) });
}

/** Letters, digits and `_ . -`, and nothing that leads elsewhere. */
export function isHarmlessName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/.test(name) && !name.includes("..");
}

/** More of one folder are not listed at once. */
export const listedMax = 10_000;
