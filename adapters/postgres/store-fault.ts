// Turns what the database driver throws into faults. A driver's error may quote parameters and rows, so nothing of it but
// the condition's code, the constraint's name and the plain message is ever passed on.
import { Fault } from "../../contracts/src/fault.ts";

interface ServerError extends Error {
  readonly code: string;
  readonly severity: string;
  readonly constraint?: string;
}

function isServerError(thrown: unknown): thrown is ServerError {
  return thrown instanceof Error && "severity" in thrown && "code" in thrown && typeof thrown.code === "string";
}

/** True when the server itself said no and the session lives on: then it is certain what became of the statement. */
export function isDefinite(thrown: unknown): boolean {
  return isServerError(thrown) && thrown.severity === "ERROR" && !thrown.code.startsWith("08");
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
  // Too many connections, out of memory, shutting down, cancelled: the server is there and cannot serve now.
  if (/^(53|57|55)/.test(thrown.code)) {
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
