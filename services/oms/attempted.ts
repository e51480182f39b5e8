// What people asked order management to do, reported in the transaction that does it; what machines do is reported by the events of the change itself.
import { format, type Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity } from "../../ports/identity.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { line } from "../shared/one-line.ts";

export interface Attempted {
  readonly verb: "SubmitOrder" | "CancelOrder" | "AmendOrder" | "CancelAll";
  readonly target: string;
  readonly reason: string;
}

/** The event's id; undefined when nothing was reported. */
export async function tellAttempt(
  unit: UnitOfWork,
  identity: Identity,
  { verb, target, reason }: Attempted,
  at: Instant,
): Promise<string | undefined> {
  if (identity.kind !== "operator") return undefined;
  return unit.events.publish(subjects.operatorAttempted, {
    operator: identity.actor,
    verb,
    target: line(target, 200),
    allowed: true,
    reason: line(reason, 2_000),
    at: format(at),
  });
}
