// Proofs of a second factor in a transaction of the memory store, judged as the real ones (adapters/identity/step-up-proofs.ts). How one is earned
// is nobody's business here: whoever made the world gives them out.

import {
  missingProof,
  parametersHashOf,
  proofMsMax,
  tellWrongProof,
  wrongProof,
} from "../../../adapters/identity/step-up-proofs.ts";
import { format, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Identity, NamedAction } from "../../../ports/identity.ts";
import type { ShownProof, StepUpRecords } from "../../../ports/step-ups.ts";
import type { EventWriter } from "../../../ports/store.ts";
import type { RecordTools } from "../layered-map.ts";

interface StoredProof {
  readonly subject: string;
  readonly sessionId: string | undefined;
  readonly action: string;
  readonly parametersHash: string;
  readonly expiresAt: Instant;
  readonly isRedeemed: boolean;
}

/** By the proof itself. */
export type StepUpTables = Map<string, StoredProof>;

/** A proof that this person earned for this action, at this moment. */
export function giveProof(
  tables: StepUpTables,
  {
    identity,
    named,
    at,
  }: { readonly identity: Pick<Identity, "subject" | "sessionId">; readonly named: NamedAction; readonly at: Instant },
): string {
  const proof = `psu_${String(tables.size).padStart(43, "0")}`;
  tables.set(proof, {
    subject: identity.subject,
    sessionId: identity.sessionId,
    action: named.action,
    parametersHash: parametersHashOf(named.parameters),
    expiresAt: plusMilliseconds(at, proofMsMax),
    isRedeemed: false,
  });
  return proof;
}

export function stepUpChanges(
  tables: StepUpTables,
  loginsEnded: ReadonlyMap<string, Instant>,
  events: EventWriter,
  { inTurn, lock, table }: RecordTools,
): StepUpRecords {
  const proofs = table("step_up_proof", tables);

  function redeem({ proof = "", identity, named, at }: ShownProof): Promise<boolean> {
    return inTurn(async () => {
      await lock(`step-up proof ${proof}`);
      const stored = proofs.get(proof);
      const fits =
        stored !== undefined &&
        !stored.isRedeemed &&
        stored.subject === identity.subject &&
        stored.sessionId === identity.sessionId &&
        stored.action === named.action &&
        stored.parametersHash === parametersHashOf(named.parameters) &&
        stored.expiresAt > at;
      if (fits) proofs.set(proof, { ...stored, isRedeemed: true });
      return fits;
    });
  }

  return {
    hasEndedSince: async ({ actor }, since) => (loginsEnded.get(actor) ?? since - 1) >= since,
    async redeem(shown) {
      const { identity, named, at } = shown;
      if (shown.proof === undefined) return missingProof(named);
      if (!(await redeem(shown))) {
        const denial = wrongProof(named);
        await tellWrongProof(events, shown, denial);
        return denial;
      }
      await events.publish(subjects.stepUpRedeemed, {
        operator: identity.actor,
        action: named.action,
        parameters_hash: parametersHashOf(named.parameters),
        at: format(at),
      });
      return undefined;
    },
  };
}
