// What an operator's verb of the workers needs: a reason, and its entry in the record, in the unit of work that does what was asked.
import type { Denial } from "../../contracts/src/codes.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity } from "../../ports/identity.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { line } from "../shared/one-line.ts";

const reasonCharactersMax = 2_000;

/** One line; empty when nothing was said. */
export function givenReason(reason: string): string {
  return line(reason, reasonCharactersMax).trim();
}

export function missingReason(what: string): Denial {
  return { code: "REASON_MISSING", reason: `${what} without a reason.` };
}

export async function tellAttempt(
  unit: UnitOfWork,
  identity: Identity,
  attempt: { readonly verb: string; readonly target: string; readonly reason: string; readonly at: Instant },
): Promise<void> {
  // What machines do is reported by the events of the change itself.
  if (identity.kind !== "operator") return;
  await unit.events.publish(subjects.operatorAttempted, {
    operator: identity.actor,
    verb: attempt.verb,
    target: line(attempt.target, 200),
    allowed: true,
    reason: line(attempt.reason, reasonCharactersMax),
    at: format(attempt.at),
  });
}
