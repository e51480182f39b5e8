// How changes of people and machines' tokens are refused: in sentences that say what to do, and on record.
import type { Operation } from "../../../contracts/src/authority.ts";
import type { Denial } from "../../../contracts/src/codes.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Identity } from "../../../ports/identity.ts";
import type { EventWriter } from "../../../ports/store.ts";

export const noReason: Denial = {
  code: "IDENTITY_REASON_MISSING",
  reason: "This stands in the record for good: say why, with --reason TEXT.",
};

export const tooManyWait: Denial = {
  code: "IDENTITY_REQUEST_LIMIT",
  reason: "A hundred requests wait for a second admin already: sign some, or let them run out within 24 hours.",
};

export interface Attempt {
  readonly events: EventWriter;
  readonly identity: Pick<Identity, "actor">;
  readonly at: Instant;
}

/** An admin who tried what the rules forbid stands in the record. */
export async function refused(
  { events, identity, at }: Attempt,
  verb: Operation,
  target: string,
  denial: Denial,
): Promise<{ readonly ok: false; readonly denial: Denial }> {
  await events.publish(subjects.operatorAttempted, {
    operator: identity.actor,
    verb,
    target,
    allowed: false,
    code: denial.code,
    reason: denial.reason,
    at: format(at),
  });
  return { ok: false, denial };
}
