// Second factors on PostgreSQL: setting one up, and showing one for a named action.
//
//  1. An attempt, what it does to the account's state and its event are one transaction, and a refused attempt commits like an
//     accepted one: nobody gets a guess for free by hanging up, by crashing us or by asking twice at once.
//  2. A new secret replaces the old one only when a code of it was shown; until then the old one stays in force.
//  3. No event, answer or row but the enrolment's own answers carries a secret or a code.

import type { DenialCode } from "../../contracts/src/codes.ts";
import { format, type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type Judgement, judgeAttempt } from "../../core/halts/second-factor.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Identity, NamedAction, Outcome, SecondFactors, ShownFactor } from "../../ports/identity.ts";
import type { Random } from "../../ports/random.ts";
import type { EventWriter } from "../../ports/store.ts";
import type { PostgresStore } from "../postgres/store.ts";
import type { Sql } from "../postgres/store-transaction.ts";
import {
  type FactorRow,
  factorContext,
  findRecoveryCode,
  lockFactor,
  readFactorFacts,
  saveAttempts,
  saveFactor,
  savePending,
  saveRecoveryCodes,
  spendRecoveryCode,
} from "./factor-rows.ts";
import { matchTotp, newRecoveryCode, newTotpSecret, recoveryCodesCount, totpUri } from "./one-time-codes.ts";
import type { Sealing } from "./sealing.ts";
import { dropProofs, makeProof, parametersHashOf } from "./step-up-proofs.ts";

interface SecondFactorsOptions {
  readonly store: PostgresStore;
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly random: Random;
}

/** A secret that was begun and not confirmed is worth nothing after this time. */
export const pendingMsMax = 600_000;

/** Setting up a factor has no parameters that a code could be bound to. */
const enrolment: NamedAction = { action: "EnrolSecondFactor", parameters: {} };

type Denied = Extract<Outcome<never>, { readonly ok: false }>;

/** One attempt under way: whose it is, what for, and the transaction it lives in. */
export interface Try {
  readonly sql: Sql;
  readonly events: EventWriter;
  readonly identity: Pick<Identity, "subject" | "actor" | "sessionId">;
  readonly named: NamedAction;
  readonly parametersHash: string;
  readonly at: Instant;
}

export function createSecondFactors(options: SecondFactorsOptions): SecondFactors {
  const { store, sealing, clock, random } = options;

  /** Runs the work with the person's row locked from its first statement. */
  async function locked<Value>(
    name: string,
    identity: Identity,
    named: NamedAction,
    work: (attempt: Try, row: FactorRow | undefined) => Promise<Outcome<Value>>,
  ): Promise<Outcome<Value>> {
    // Before the transaction: parameters that have no hash must not take a wrong attempt back with them.
    const parametersHash = parametersHashOf(named.parameters);
    return store.transactSql(`identity.${name}`, async ({ events }, sql) => {
      const row = await lockFactor(sql, sealing, identity.subject);
      return work({ sql, events, identity, named, parametersHash, at: clock.now() }, row);
    });
  }

  return {
    async status(identity) {
      const facts = await store.transactSql("identity.factor_status", (_unit, sql) =>
        readFactorFacts(sql, identity.subject),
      );
      if (facts === undefined) return { recoveryCodesLeft: 0 };
      const { enrolledAt, lockedUntil, recoveryCodesLeft } = facts;
      return {
        ...(enrolledAt === undefined ? {} : { enrolledAt }),
        recoveryCodesLeft,
        ...(lockedUntil > clock.now() ? { lockedUntil } : {}),
      };
    },

    begin: (identity, shown) =>
      locked("factor_begin", identity, enrolment, async (attempt, row) => {
        if (row?.secret !== undefined) {
          if (shown === undefined) return denied("STEP_UP_REQUIRED");
          const refusal = await showFactor(attempt, { ...row, secret: row.secret }, shown);
          if (refusal !== undefined) return refusal;
        }
        const secret = newTotpSecret(random);
        await savePending(attempt.sql, identity, sealing.seal(secret, factorContext(identity.subject)), attempt.at);
        await tellChange(attempt, "totp", "begun");
        return { ok: true, value: { secret, uri: totpUri(secret, identity.name) } };
      }),

    confirm: (identity, code) =>
      locked("factor_confirm", identity, enrolment, async (attempt, row) => {
        const { sql, at } = attempt;
        const { sessionId } = identity;
        if (
          row?.pending === undefined ||
          row.pending.sessionId !== sessionId ||
          millisecondsBetween(row.pending.at, at) > pendingMsMax
        ) {
          return refuse(attempt, "totp", { code: "SECOND_FACTOR_NOT_BEGUN" });
        }
        const { secret } = row.pending;
        // The steps of the old secret say nothing about this one.
        const matched = matchTotp(secret, code, at) ?? "nothing";
        const { verdict, next } = judgeAttempt({ ...row.attempts, lastStep: -1, usedSteps: [] }, { matched, at });
        if (verdict.kind !== "accepted") {
          const { lastStep, usedSteps } = row.attempts;
          await saveAttempts(sql, row.subject, { ...next, lastStep, usedSteps });
          return refuse(attempt, "totp", refusalOf(verdict));
        }
        const recoveryCodes = Array.from({ length: recoveryCodesCount }, () => newRecoveryCode(random));
        const sealed = sealing.seal(secret, factorContext(identity.subject));
        await saveFactor(sql, identity, { sealed, enrolledAt: at, attempts: next });
        await saveRecoveryCodes(sql, identity.subject, recoveryCodes);
        await dropProofs(sql, identity.subject);
        const change = row.secret === undefined ? "enrolled" : "replaced";
        await tellChange(attempt, "totp", change);
        await tellChange(attempt, "recovery_codes", change);
        return { ok: true, value: { recoveryCodes } };
      }),

    stepUp: (identity, named, shown) =>
      locked("step_up", identity, named, async (attempt, row) => {
        if (row?.secret === undefined) return refuse(attempt, shown.kind, { code: "SECOND_FACTOR_MISSING" });
        const refusal = await showFactor(attempt, { ...row, secret: row.secret }, shown);
        if (refusal !== undefined) return refusal;
        return { ok: true, value: await makeProof(attempt.sql, random, attempt) };
      }),
  };
}

/** Judges what was shown against the confirmed factor and keeps the outcome; undefined when it was accepted. */
export async function showFactor(
  attempt: Try,
  row: FactorRow & { readonly secret: string },
  shown: ShownFactor,
): Promise<Denied | undefined> {
  const { sql, at } = attempt;
  const recovery = shown.kind === "recovery_code" ? await findRecoveryCode(sql, row.subject, shown.code) : undefined;
  const step = shown.kind === "totp" ? matchTotp(row.secret, shown.code, at) : undefined;
  const matched = recovery === undefined ? (step ?? "nothing") : "recovery code";
  const { verdict, next } = judgeAttempt(row.attempts, { matched, at });
  if (next !== row.attempts) await saveAttempts(sql, row.subject, next);
  if (verdict.kind !== "accepted") return refuse(attempt, shown.kind, refusalOf(verdict));
  if (recovery !== undefined) {
    await spendRecoveryCode(sql, row.subject, recovery, at);
    await tellChange(attempt, "recovery_codes", "recovery_code_used");
  }
  await attempt.events.publish(subjects.stepUpGranted, { ...tried(attempt), factor: shown.kind });
  return undefined;
}

interface Refusal {
  readonly code: DenialCode & keyof typeof sentences;
  readonly reason?: string;
  readonly retryAfterS?: number;
}

const sentences = {
  STEP_UP_REQUIRED: "You have a second factor already: show a code of it, or a recovery code, to replace it.",
  SECOND_FACTOR_MISSING: "You have not set up a second factor: run ctl auth enrol-totp.",
  SECOND_FACTOR_NOT_BEGUN: "There is no new second factor to confirm, or it was begun too long ago: begin again.",
  SECOND_FACTOR_WRONG: "This code is wrong, or its time has passed.",
  SECOND_FACTOR_LOCKED: "Too many wrong codes in a row.",
  SECOND_FACTOR_UNCHECKED: "The code could not be checked. The gateway's log says why; try again with the next one.",
} as const;

function refusalOf(verdict: Exclude<Judgement["verdict"], { kind: "accepted" }>): Refusal {
  if (verdict.kind === "replayed") {
    return { code: "SECOND_FACTOR_WRONG", reason: "This code was used already: wait for the next one." };
  }
  if (verdict.kind === "locked") {
    return {
      code: "SECOND_FACTOR_LOCKED",
      reason: `${sentences.SECOND_FACTOR_LOCKED} Try again in ${verdict.retryAfterS} s.`,
      retryAfterS: verdict.retryAfterS,
    };
  }
  return {
    code: "SECOND_FACTOR_WRONG",
    ...(verdict.retryAfterS === undefined ? {} : { retryAfterS: verdict.retryAfterS }),
  };
}

function denied(code: Refusal["code"], refusal: Partial<Refusal> = {}): Denied {
  const { reason = sentences[code], retryAfterS } = refusal;
  return { ok: false, denial: { code, reason }, ...(retryAfterS === undefined ? {} : { retryAfterS }) };
}

export async function refuse(attempt: Try, factor: ShownFactor["kind"], refusal: Refusal): Promise<Denied> {
  await attempt.events.publish(subjects.stepUpRefused, { ...tried(attempt), factor, code: refusal.code });
  return denied(refusal.code, refusal);
}

function tried({ identity, named, parametersHash, at }: Try) {
  return {
    operator: identity.actor,
    action: named.action,
    parameters_hash: parametersHash,
    at: format(at),
  };
}

async function tellChange(
  { events, identity, at }: Try,
  factor: "totp" | "recovery_codes",
  change: "begun" | "enrolled" | "replaced" | "recovery_code_used",
): Promise<void> {
  await events.publish(subjects.factorChanged, { operator: identity.actor, factor, change, at: format(at) });
}
