// Proofs of a second factor, used up by whoever does what they are for. Whoever redeems one needs to know nothing of how it was earned.
import type { Denial } from "../contracts/src/codes.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { Identity, NamedAction } from "./identity.ts";

export interface StepUps {
  /**
   * Uses the proof up; undefined when it opened the action, else why not. It opens exactly this action with these parameters for this person,
   * once. Both the use and a proof that does not fit leave an event.
   */
  redeem(identity: Identity, named: NamedAction, proof: string | undefined): Promise<Denial | undefined>;
}

export interface ShownProof {
  readonly proof: string | undefined;
  readonly identity: Pick<Identity, "subject" | "actor" | "sessionId">;
  readonly named: NamedAction;
  readonly at: Instant;
}

/** The same inside a unit of work: the proof is used up together with what it opens, or not at all. */
export interface StepUpRecords {
  redeem(shown: ShownProof): Promise<Denial | undefined>;
  /** Whether an admin ended the person's logins after that moment, as with everybody who is disabled: what they asked for before counts no more. */
  hasEndedSince(person: Pick<Identity, "subject" | "actor">, since: Instant): Promise<boolean>;
}
