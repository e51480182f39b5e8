// The list of what ended before it ran out, as every verifier reads it: rows of tokens, of sessions and of people.
import { format, fromMicroseconds, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { idText } from "../../../contracts/src/records/fields.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { EventWriter } from "../../../ports/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";

/** A revocation outlives what it concerns by this much, so that clocks may disagree. */
export const marginMs = 3_600_000;
/** A person's sessions may outlast what is configured now; these rows are few, so they may stay. */
const personS = 31 * 86_400;

interface Revocation {
  readonly kind: "token" | "session" | "subject";
  readonly id: string;
  readonly at: Instant;
  /** Nothing that it concerns is alive after this moment. */
  readonly until: Instant;
  readonly actor: string;
}

/** When the revocation of one login may be forgotten. */
export function sessionRevocationEnd(at: Instant, sessionS: number): Instant {
  return plusMilliseconds(at, sessionS * 1_000 + marginMs);
}

/** When the revocation of a person may be forgotten. */
export function personRevocationEnd(at: Instant, sessionS: number): Instant {
  return plusMilliseconds(at, Math.max(sessionS, personS) * 1_000 + marginMs);
}

/** Writes it down; one that is there already only grows. */
export async function revoke(sql: Sql, { kind, id, at, until, actor }: Revocation): Promise<void> {
  await sql.write({
    name: "identity_revoke",
    text: `insert into identity_revocation (kind, id, revoked_us, until_us, actor) values ($1, $2, $3, $4, $5)
           on conflict (kind, id) do update set actor = $5,
             revoked_us = greatest(identity_revocation.revoked_us, $3),
             until_us = greatest(identity_revocation.until_us, $4)`,
    values: [kind, id, at, until, actor],
  });
}

export async function tellClosed(
  events: EventWriter,
  actor: string,
  at: Instant,
  { sessionId, by }: { readonly sessionId?: string | undefined; readonly by?: { actor: string; reason?: string } },
): Promise<void> {
  // Another issuer's session id may look like anything; one that records cannot carry is left out.
  const known = sessionId !== undefined && idText.safeParse(sessionId).success;
  await events.publish(subjects.sessionClosed, {
    principal: actor,
    ...(known ? { session_id: sessionId } : {}),
    method: "token",
    ...by,
    at: format(at),
  });
}

/** Whether any of these sessions has ended. */
export async function isAnySessionRevoked(sql: Sql, sessionIds: readonly string[]): Promise<boolean> {
  const found = await sql.read({
    name: "identity_sessions_revoked",
    text: "select 1 from identity_revocation where kind = 'session' and id = any($1::text[]) limit 1",
    values: [sessionIds],
  });
  return found.rowCount === 1;
}

/** Whether what was issued to this person at that moment has ended since; for the embedded provider, before it renews. */
export async function isSubjectRevoked(sql: Sql, subject: string, issuedAt: Instant): Promise<boolean> {
  const found = await sql.read({
    name: "identity_subject_revoked",
    text: "select revoked_us from identity_revocation where kind = 'subject' and id = $1",
    values: [subject],
  });
  const row = found.rows[0];
  return row !== undefined && issuedAt < fromMicroseconds(Number(row.revoked_us));
}
