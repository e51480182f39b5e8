// Loosening costs more than tightening: a change of limits that lets more through, or that moves how exits get out, is made only with a reason and
// a proof of the second factor for exactly this change. Everything else about limits needs neither.
//
//  1. Asked last: a change that would be refused anyway asks for nothing and uses no proof up.
//  2. The proof is redeemed in the transaction that writes the version, so that both happen or neither.
//  3. It opens the envelope as it was sent: fund, version, every limit and the reason.
import type { Denial } from "../../contracts/src/codes.ts";
import type { RiskEnvelope as EnvelopeMessage } from "../../contracts/src/generated/svc/v1/envelope.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import { type EnvelopeChange, guardedChanges } from "../../core/envelope/changes.ts";
import { envelopeChanges } from "../../core/envelope/envelope.ts";
import type { Identity, NamedAction } from "../../ports/identity.ts";
import type { UnitOfWork } from "../../ports/store.ts";

/** As many fields as an answer names; more are counted. */
const namedMax = 20;

interface LooseningAsked {
  readonly message: EnvelopeMessage;
  readonly before: RiskEnvelope | undefined;
  readonly next: RiskEnvelope;
  readonly identity: Identity;
  readonly reason: string;
  readonly proof: string | undefined;
  readonly at: Instant;
}

/** What the version records of it; undefined when nothing is loosened and nothing was asked; or why it is not made. */
export async function proveLoosening(
  unit: Pick<UnitOfWork, "stepUps">,
  { message, before, next, identity, reason, proof, at }: LooseningAsked,
): Promise<RiskEnvelope["loosening"] | Denial> {
  const guarded = guardedChanges(envelopeChanges(before, next));
  if (guarded.length === 0) return undefined;
  const fields = guarded.filter(({ effect }) => effect === "LOOSENS").map(({ field }) => field);
  const what = whatItDoes(guarded, fields);
  const reported = { loosens: fields.slice(0, namedMax) };
  if (identity.kind !== "operator") {
    const sentence = `${what} A machine has no second factor, so a risk officer has to do that.`;
    return { code: "STEP_UP_REQUIRED", reason: sentence, ...reported };
  }
  if (proof === undefined) {
    const needed =
      reason.trim() === "" ? "a reason and a proof of your second factor" : "a proof of your second factor";
    return { code: "STEP_UP_REQUIRED", reason: `${what} That needs ${needed} for exactly this change.`, ...reported };
  }
  if (reason.trim() === "") {
    return {
      code: "REASON_MISSING",
      reason: `${what} That is not done without a reason. The proof was not used.`,
      ...reported,
    };
  }
  const denial = await unit.stepUps.redeem({ identity, named: envelopeAction(message), proof, at });
  return denial === undefined ? { fields: fields.slice(0, 200), second_factor: true } : { ...denial, ...reported };
}

/** What a proof must name: the envelope as it was sent, without what the engine writes. */
export function envelopeAction(message: EnvelopeMessage): NamedAction {
  const { updated_by: _by, updated_at: _at, loosening: _loosening, hash: _hash, ...asked } = message;
  const parameters = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  return { action: "UpdateEnvelope", parameters };
}

function whatItDoes(guarded: readonly EnvelopeChange[], loosened: readonly string[]): string {
  if (loosened.length === 0) return `It changes ${listed(guarded.map(({ field }) => field))}.`;
  return `It loosens ${listed(loosened)}.`;
}

function listed(fields: readonly string[]): string {
  const more = fields.length - namedMax;
  return `${fields.slice(0, namedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
