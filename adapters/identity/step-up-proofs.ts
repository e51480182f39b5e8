// Proofs of a second factor. One is made when a factor was accepted and redeemed by the transaction that does what it is for,
// so that both happen or neither; whoever redeems one needs to know nothing of how it was earned.
//
//  1. A proof opens one action with exactly the parameters it was made for, for the person who earned it, in the login in which they
//     did, once, for two minutes.
//  2. Only its hash is stored.
import type { Denial } from "../../contracts/src/codes.ts";
import { format, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity, NamedAction } from "../../ports/identity.ts";
import type { Random } from "../../ports/random.ts";
import type { ShownProof } from "../../ports/step-ups.ts";
import type { EventWriter } from "../../ports/store.ts";
import type { Sql } from "../postgres/store-transaction.ts";
import { canonicalJson } from "./canonical-json.ts";
import { hashOf } from "./sealing.ts";

export const proofMsMax = 120_000;
const proofBytes = 32;
const proofForm = /^psu_[A-Za-z0-9_-]{43}$/;

/** What stands for an action's parameters in rows and events. */
export function parametersHashOf(parameters: NamedAction["parameters"]): string {
  return hashOf(canonicalJson(parameters));
}

interface NewProof {
  readonly identity: Pick<Identity, "subject" | "sessionId">;
  readonly named: NamedAction;
  readonly at: Instant;
}

/** Inside the transaction in which the factor was accepted. */
export async function makeProof(
  sql: Sql,
  random: Random,
  { identity, named, at }: NewProof,
): Promise<{ readonly proof: string; readonly expiresAt: Instant }> {
  const proof = `psu_${Buffer.from(random.bytes(proofBytes)).toString("base64url")}`;
  const expiresAt = plusMilliseconds(at, proofMsMax);
  await sql.write({
    name: "step_up_proof_make",
    text: `insert into step_up_proof (proof_hash, subject, session_id, action, parameters_hash, issued_us, expires_us)
           values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      hashOf(proof),
      identity.subject,
      identity.sessionId ?? null,
      named.action,
      parametersHashOf(named.parameters),
      at,
      expiresAt,
    ],
  });
  return { proof, expiresAt };
}

/** Uses the proof up inside the caller's transaction; undefined when it opened the action. */
export async function redeemProof(
  sql: Sql,
  events: EventWriter,
  { proof, identity, named, at }: ShownProof,
): Promise<Denial | undefined> {
  if (proof === undefined) return missingProof(named);
  const parametersHash = parametersHashOf(named.parameters);
  if (!proofForm.test(proof)) return wrongProof(named);
  const redeemed = await sql.write({
    name: "step_up_proof_redeem",
    text: `update step_up_proof set redeemed_us = $5
           where proof_hash = $1 and subject = $2 and action = $3 and parameters_hash = $4
             and redeemed_us is null and expires_us > $5 and session_id is not distinct from $6`,
    values: [hashOf(proof), identity.subject, named.action, parametersHash, at, identity.sessionId ?? null],
  });
  if (redeemed.rowCount !== 1) return wrongProof(named);
  await events.publish(subjects.stepUpRedeemed, {
    operator: identity.actor,
    action: named.action,
    parameters_hash: parametersHash,
    at: format(at),
  });
  return undefined;
}

/** A proof is worth what earned it: when the factor is replaced or the person's logins are ended, those not used yet go. */
export async function dropProofs(sql: Sql, subject: string): Promise<void> {
  await sql.write({
    text: "delete from step_up_proof where subject = $1 and redeemed_us is null",
    values: [subject],
  });
}

/** The same; a proof that does not fit leaves an event too. A missing one is only a question for it. */
export async function redeemOrTell(sql: Sql, events: EventWriter, shown: ShownProof): Promise<Denial | undefined> {
  const denial = await redeemProof(sql, events, shown);
  if (denial?.code === "STEP_UP_WRONG") await tellWrongProof(events, shown, denial);
  return denial;
}

/** Whether somebody ended this person's logins after that moment. Requests live for minutes, and such a row for a month. */
export async function hasEndedSince(
  sql: Sql,
  { subject, actor }: Pick<Identity, "subject" | "actor">,
  since: Instant,
): Promise<boolean> {
  const found = await sql.read({
    name: "identity_ended_since",
    text: "select 1 from identity_revocation where kind = 'subject' and id in ($1, $2) and revoked_us >= $3 limit 1",
    values: [subject, actor, since],
  });
  return found.rowCount === 1;
}

export async function tellWrongProof(
  events: EventWriter,
  { identity, named, at }: ShownProof,
  { code }: Denial,
): Promise<void> {
  await events.publish(subjects.stepUpRefused, {
    operator: identity.actor,
    action: named.action,
    parameters_hash: parametersHashOf(named.parameters),
    code,
    at: format(at),
  });
}

export function missingProof(named: NamedAction): Denial {
  return {
    code: "STEP_UP_REQUIRED",
    reason: `${named.action} needs a proof of your second factor for exactly this.`,
  };
}

/** One sentence for every reason: a proof in the wrong hands must not say what it would open. */
export function wrongProof(named: NamedAction): Denial {
  return {
    code: "STEP_UP_WRONG",
    reason: `This proof does not open ${named.action} with these parameters for you, or it was used or ran out: get a new one.`,
  };
}
