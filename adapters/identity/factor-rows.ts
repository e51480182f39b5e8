// The rows of second factors, in the words of those who use them. Every change goes through the person's one row, which is locked
// first, so that two attempts at the same moment are judged one after the other.

import { Fault } from "../../contracts/src/fault.ts";
import { fromMicroseconds, type Instant } from "../../contracts/src/instant.ts";
import type { AttemptState } from "../../core/halts/second-factor.ts";
import type { Sql } from "../postgres/store-transaction.ts";
import { normalRecoveryCode } from "./one-time-codes.ts";
import { hashOf, type Sealing } from "./sealing.ts";

export interface FactorRow {
  readonly subject: string;
  /** As records named its owner when it was set up. */
  readonly actor: string;
  /** Base32, once confirmed. */
  readonly secret: string | undefined;
  readonly enrolledAt: Instant | undefined;
  readonly pending:
    | {
        readonly secret: string;
        readonly at: Instant;
        /** The login that began it; undefined when the issuer tells of none. */
        readonly sessionId: string | undefined;
      }
    | undefined;
  readonly attempts: AttemptState;
}

interface RawRow {
  readonly subject: string;
  readonly actor: string;
  readonly secret_sealed: Buffer | null;
  readonly enrolled_us: string | null;
  readonly pending_sealed: Buffer | null;
  readonly pending_us: string | null;
  readonly pending_session: string | null;
  readonly last_step: string;
  readonly used_steps: readonly string[];
  readonly failures: number;
  readonly locked_until_us: string;
}

const columns =
  "subject, actor, secret_sealed, enrolled_us, pending_sealed, pending_us, pending_session, last_step, used_steps, failures, locked_until_us";

export const factorContext = (subject: string): string => `second_factor ${subject}`;

function rowOf(raw: RawRow, opened: (sealed: Buffer) => string): FactorRow {
  return {
    subject: raw.subject,
    actor: raw.actor,
    secret: raw.secret_sealed === null ? undefined : opened(raw.secret_sealed),
    enrolledAt: raw.enrolled_us === null ? undefined : fromMicroseconds(Number(raw.enrolled_us)),
    pending:
      raw.pending_sealed === null || raw.pending_us === null
        ? undefined
        : {
            secret: opened(raw.pending_sealed),
            at: fromMicroseconds(Number(raw.pending_us)),
            sessionId: raw.pending_session ?? undefined,
          },
    attempts: {
      lastStep: Number(raw.last_step),
      usedSteps: raw.used_steps.map(Number),
      failures: raw.failures,
      lockedUntil: fromMicroseconds(Number(raw.locked_until_us)),
    },
  };
}

/** The person's row, locked until the transaction ends. */
export async function lockFactor(sql: Sql, sealing: Sealing, subject: string): Promise<FactorRow | undefined> {
  const found = await sql.write({
    name: "second_factor_lock",
    text: `select ${columns} from second_factor where subject = $1 for update`,
    values: [subject],
  });
  const raw: RawRow | undefined = found.rows[0];
  return raw === undefined ? undefined : rowOf(raw, (sealed) => sealing.open(sealed, factorContext(subject)));
}

/**
 * Every factor of whoever stands in records under that name, locked; they may come from several issuers. One that cannot be opened
 * any more has the secret `unreadable`: whoever asks for them all is about to replace or remove them.
 */
export async function lockFactorsOfActor(sql: Sql, sealing: Sealing, actor: string): Promise<readonly FactorRow[]> {
  const found = await sql.write({
    text: `select ${columns} from second_factor where actor = $1 order by subject for update`,
    values: [actor],
  });
  return found.rows.map((raw: RawRow) => rowOf(raw, (sealed) => openedOr(sealing, sealed, raw.subject)));
}

const unreadable = "(unreadable)";

function openedOr(sealing: Sealing, sealed: Buffer, subject: string): string {
  try {
    return sealing.open(sealed, factorContext(subject));
  } catch (thrown) {
    if (thrown instanceof Fault) return unreadable;
    throw thrown;
  }
}

/** `lastStep` and `usedSteps` belong to the confirmed secret: attempts at a pending one leave it alone. */
export async function saveAttempts(sql: Sql, subject: string, attempts: AttemptState): Promise<void> {
  await sql.write({
    name: "second_factor_attempts",
    text: "update second_factor set last_step = $2, used_steps = $3, failures = $4, locked_until_us = $5 where subject = $1",
    values: [subject, attempts.lastStep, attempts.usedSteps, attempts.failures, attempts.lockedUntil],
  });
}

interface Owner {
  readonly subject: string;
  readonly actor: string;
}

/** Only the login that begins it can confirm it. */
export async function savePending(
  sql: Sql,
  owner: Owner & { readonly sessionId?: string },
  sealed: Buffer,
  at: Instant,
): Promise<void> {
  await sql.write({
    name: "second_factor_pending",
    text: `insert into second_factor (subject, actor, pending_sealed, pending_us, pending_session) values ($1, $2, $3, $4, $5)
           on conflict (subject) do update set actor = $2, pending_sealed = $3, pending_us = $4, pending_session = $5`,
    values: [owner.subject, owner.actor, sealed, at, owner.sessionId ?? null],
  });
}

/** Puts a secret in force: what was pending and every old recovery code is gone. */
export async function saveFactor(
  sql: Sql,
  owner: Owner,
  factor: { readonly sealed: Buffer; readonly enrolledAt: Instant; readonly attempts: AttemptState },
): Promise<void> {
  const { sealed, enrolledAt, attempts } = factor;
  await sql.write({
    name: "second_factor_save",
    text: `insert into second_factor (subject, actor, secret_sealed, enrolled_us, last_step, used_steps, failures, locked_until_us)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (subject) do update set actor = $2, secret_sealed = $3, enrolled_us = $4, pending_sealed = null,
             pending_us = null, pending_session = null, last_step = $5, used_steps = $6, failures = $7, locked_until_us = $8`,
    values: [
      owner.subject,
      owner.actor,
      sealed,
      enrolledAt,
      attempts.lastStep,
      attempts.usedSteps,
      attempts.failures,
      attempts.lockedUntil,
    ],
  });
  await sql.write({ text: "delete from recovery_code where subject = $1", values: [owner.subject] });
}

export async function saveRecoveryCodes(sql: Sql, subject: string, codes: readonly string[]): Promise<void> {
  await sql.write({
    text: "insert into recovery_code (subject, code_hash) select $1, unnest($2::text[])",
    values: [subject, codes.map((code) => hashOf(normalRecoveryCode(code) ?? code))],
  });
}

/** Whether this is an unused recovery code of theirs, and its hash to use it up with. */
export async function findRecoveryCode(sql: Sql, subject: string, code: string): Promise<string | undefined> {
  const plain = normalRecoveryCode(code);
  if (plain === undefined) return undefined;
  const hash = hashOf(plain);
  const found = await sql.read({
    text: "select 1 from recovery_code where subject = $1 and code_hash = $2 and used_us is null",
    values: [subject, hash],
  });
  return found.rowCount === 1 ? hash : undefined;
}

export async function spendRecoveryCode(sql: Sql, subject: string, hash: string, at: Instant): Promise<void> {
  await sql.write({
    text: "update recovery_code set used_us = $3 where subject = $1 and code_hash = $2",
    values: [subject, hash, at],
  });
}

interface FactorFacts {
  readonly enrolledAt: Instant | undefined;
  readonly lockedUntil: Instant;
  readonly recoveryCodesLeft: number;
}

export async function readFactorFacts(sql: Sql, subject: string): Promise<FactorFacts | undefined> {
  const found = await sql.read({
    name: "second_factor_facts",
    text: `select enrolled_us, locked_until_us,
             (select count(*)::int from recovery_code where subject = $1 and used_us is null) as codes
           from second_factor where subject = $1`,
    values: [subject],
  });
  const row = found.rows[0];
  if (row === undefined) return undefined;
  return {
    enrolledAt: row.enrolled_us === null ? undefined : fromMicroseconds(Number(row.enrolled_us)),
    lockedUntil: fromMicroseconds(Number(row.locked_until_us)),
    recoveryCodesLeft: row.codes,
  };
}

/** After `saveFactor` for the new subject, when the issuer of the same person has another name now. */
export async function moveRecoveryCodes(sql: Sql, from: string, to: string): Promise<void> {
  await sql.write({ text: "update recovery_code set subject = $2 where subject = $1", values: [from, to] });
}

export async function deleteFactor(sql: Sql, subject: string): Promise<void> {
  await sql.write({ text: "delete from second_factor where subject = $1", values: [subject] });
}
