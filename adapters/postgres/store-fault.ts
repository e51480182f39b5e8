// Turns what the database driver throws into faults. A driver's error may quote parameters and rows, so nothing of it but
// the condition's code, the constraint's name and the plain message is ever passed on.
import { Fault } from "../../contracts/src/fault.ts";

interface ServerError extends Error {
  readonly code: string;
  readonly constraint?: string;
}

function isServerError(thrown: unknown): thrown is ServerError {
  return thrown instanceof Error && "severity" in thrown && "code" in thrown && typeof thrown.code === "string";
}

const serverCode = /^[0-9A-Z]{5}$/;
/** Codes with which the server ends the session: an administrator, a crash, a shutdown, an idle limit. */
const sessionEnds: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "57P05", "25P03", "25P04"]);

/**
 * True when the server itself said no and the session lives on: then it is certain what became of the statement. Decided by
 * the condition's code alone, because the severity comes in the server's language.
 */
export function isDefinite(thrown: unknown): boolean {
  if (!isServerError(thrown) || !serverCode.test(thrown.code)) return false;
  return !thrown.code.startsWith("08") && !sessionEnds.has(thrown.code);
}

/**
 * The same for the answer to COMMIT, where more is in doubt: a server that ran out of space, met a damaged file or was
 * interrupted may have written the commit before it said so. To doubt needlessly costs one question.
 */
export function isDefiniteCommit(thrown: unknown): boolean {
  return isDefinite(thrown) && isServerError(thrown) && !/^(53|57|58|XX)/.test(thrown.code);
}

const conflicts: ReadonlySet<string> = new Set(["40001", "40P01"]);

export function storeFault(thrown: unknown, doing: string): Fault {
  if (thrown instanceof Fault) return thrown;
  if (!isDefinite(thrown) || !isServerError(thrown)) {
    const condition = isServerError(thrown) ? thrown.code : driverCode(thrown);
    return new Fault("STORE_UNAVAILABLE", `the database went out of reach during ${doing} (${condition})`, {
      retry: "later",
      facts: { condition },
    });
  }
  const facts = { condition: thrown.code, ...(thrown.constraint ? { constraint: thrown.constraint } : {}) };
  if (conflicts.has(thrown.code)) {
    return new Fault("STORE_CONFLICT", `a concurrent change collided with ${doing}`, { retry: "now", facts });
  }
  if (thrown.code === "42501") {
    return new Fault("STORE_FORBIDDEN", `the database role may not do ${doing}`, { retry: "never", facts });
  }
  // Too many connections, out of memory, cancelled, a login or database that is not there: nothing can be served now.
  if (/^(28|3D|53|57|55)/.test(thrown.code)) {
    return new Fault("STORE_UNAVAILABLE", `the database could not do ${doing} (${thrown.code})`, {
      retry: "later",
      facts,
    });
  }
  return new Fault("INTERNAL", `the database refused ${doing} (${thrown.code})`, { retry: "never", facts });
}

function driverCode(thrown: unknown): string {
  if (thrown instanceof Error && "code" in thrown && typeof thrown.code === "string") return thrown.code;
  return "connection lost";
}
