// Whose turn comes when more is asked than can be done at once. Halting waits for nobody; its status, health, the log-in, callers with a verified token and
// strangers take turns, so that none of them can use up what the others have.
import type { Operation } from "../authority.ts";

export const lanes = ["halt_status", "health", "log_in", "known", "stranger"] as const;
export type Lane = (typeof lanes)[number];

const halting: ReadonlySet<Operation> = new Set(["RequestHalt", "AnnounceHalt", "ConfirmHalts"]);
const haltStatus: ReadonlySet<Operation> = new Set(["GetHaltStatus", "ListActiveHalts", "ListHaltChanges"]);

/** Undefined waits for no turn. `isKnown` says that a token was verified. */
export function laneOf(operation: Operation | undefined, isKnown: boolean): Lane | undefined {
  if (operation === "ReadHealth") return "health";
  if (operation === "LogIn") return "log_in";
  if (!isKnown) return "stranger";
  if (operation !== undefined && halting.has(operation)) return undefined;
  return operation !== undefined && haltStatus.has(operation) ? "halt_status" : "known";
}
