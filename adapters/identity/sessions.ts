// Ending logins. A token that was signed stays signed, so what ended is written down, and every verifier refuses it within the
// promised time; the embedded provider asks the same list before it renews a login.
import { Fault } from "../../contracts/src/fault.ts";
import { format, fromMicroseconds, type Instant, later, plusMilliseconds } from "../../contracts/src/instant.ts";
import { idText, nameText } from "../../contracts/src/records/fields.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Identity, Sessions } from "../../ports/identity.ts";
import type { EventWriter } from "../../ports/store.ts";
import type { PostgresStore } from "../postgres/store.ts";
import type { Sql } from "../postgres/store-transaction.ts";
import { endRequestsOf } from "./administration/identity-requests.ts";
import { findToken } from "./service-token-rows.ts";
import { revokeWithEvent } from "./service-tokens.ts";
import { dropProofs } from "./step-up-proofs.ts";

interface SessionsOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  /** The issuer of people, embedded or external; asked when it is needed, because a port of 0 is known only after listening. */
  issuer(): string;
  /** How long a login can last: `identity.session_s`. */
  readonly sessionS: number;
  /** Whether all people are in our own table: with the embedded provider they are. */
  readonly everybodyIsKnown: boolean;
}

/** A revocation outlives what it concerns by this much, so that clocks may disagree. */
const marginMs = 3_600_000;
/** A person's sessions may outlast what is configured now; these rows are few, so they may stay. */
const personS = 31 * 86_400;
const actorForm = /^operator:(.+)$/;

interface Revocation {
  readonly kind: "token" | "session" | "subject";
  readonly id: string;
  readonly at: Instant;
  /** Nothing that it concerns is alive after this moment. */
  readonly until: Instant;
  readonly actor: string;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { store, clock } = options;

  return {
    logOut: (identity) =>
      store.transactSql("identity.log_out", async ({ events }, sql) => {
        const at = clock.now();
        const { actor, sessionId } = identity;
        if (identity.kind === "service") await giveUpToken(sql, events, identity, at);
        else await revoke(sql, { ...loginOf(identity, at, options.sessionS), at, actor });
        await tellClosed(events, actor, at, { sessionId });
      }),

    async revokeAll(identity, actor, reason) {
      const name = actorForm.exec(actor)?.[1];
      if (name === undefined || !nameText.safeParse(actor).success) {
        throw new Fault("INVALID_ARGUMENT", "actor is not of the form operator:<name>.", { retry: "never" });
      }
      return store.transactSql("identity.revoke_all", async ({ events }, sql) => {
        const person = { name, issuer: options.issuer(), sessionS: options.sessionS };
        await endLogins(sql, events, person, { actor: identity.actor, reason, at: clock.now() });
        const isKnown = await isKnownPerson(sql, actor, name);
        return { known: isKnown || options.everybodyIsKnown ? isKnown : null };
      });
    },
  };
}

/** Ends every login of a person with all that it earned: proofs of the second factor, and requests that nobody has signed. */
export async function endLogins(
  sql: Sql,
  events: EventWriter,
  { name, issuer, sessionS }: { readonly name: string; readonly issuer: string; readonly sessionS: number },
  by: { readonly actor: string; readonly reason: string | undefined; readonly at: Instant },
): Promise<void> {
  const actor = `operator:${name}`;
  const until = personRevocationEnd(by.at, sessionS);
  for (const id of await subjectsOf(sql, actor, `${issuer}|${name}`)) {
    await revoke(sql, { kind: "subject", id, at: by.at, until, actor: by.actor });
    await dropProofs(sql, id);
  }
  await endRequestsOf(sql, events, actor, by);
  await tellClosed(events, actor, by.at, {
    by: { actor: by.actor, ...(by.reason === undefined ? {} : { reason: by.reason }) },
  });
}

/** What a person's token belongs to, and until when something of it may be alive. */
function loginOf(identity: Identity, at: Instant, sessionS: number): Pick<Revocation, "kind" | "id" | "until"> {
  const tokenEnd = plusMilliseconds(identity.expiresAt, marginMs);
  if (identity.sessionId === undefined) return { kind: "token", id: identity.tokenId, until: tokenEnd };
  // Another issuer's token may outlast what a login may last here, and must not come back to life.
  return { kind: "session", id: identity.sessionId, until: later(tokenEnd, sessionRevocationEnd(at, sessionS)) };
}

/** When the revocation of one login may be forgotten. */
export function sessionRevocationEnd(at: Instant, sessionS: number): Instant {
  return plusMilliseconds(at, sessionS * 1_000 + marginMs);
}

/** When the revocation of a person may be forgotten. */
export function personRevocationEnd(at: Instant, sessionS: number): Instant {
  return plusMilliseconds(at, Math.max(sessionS, personS) * 1_000 + marginMs);
}

/**
 * Whom a name in the records may stand for. The issuer's own subject is known when people are named by `sub`; whoever set up a second
 * factor is known by it; and the name itself is written down as well, for verifiers that know a caller by name only.
 */
async function subjectsOf(sql: Sql, actor: string, likely: string): Promise<readonly string[]> {
  const found = await sql.read({
    text: "select subject from second_factor where actor = $1 order by subject",
    values: [actor],
  });
  return [...new Set<string>([likely, actor, ...found.rows.map((row) => row.subject)])];
}

async function isKnownPerson(sql: Sql, actor: string, name: string): Promise<boolean> {
  const found = await sql.read({
    text: `select exists (select from operator where name = $1) or exists (select from second_factor where actor = $2) as known`,
    values: [name, actor],
  });
  return found.rows[0]?.known === true;
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

/** A machine that logs out gives its token up for good; those of our own processes are derived, and end only with their key. */
async function giveUpToken(sql: Sql, events: EventWriter, identity: Identity, at: Instant): Promise<void> {
  const found = await findToken(sql, identity.tokenId);
  if (found === undefined) {
    throw new Fault("PERMISSION_DENIED", "A token of the platform's own processes cannot be given up.", {
      retry: "never",
    });
  }
  await revokeWithEvent(sql, events, found, { identity, at });
}

async function tellClosed(
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

export async function isSessionRevoked(sql: Sql, sessionId: string): Promise<boolean> {
  const found = await sql.read({
    name: "identity_session_revoked",
    text: "select 1 from identity_revocation where kind = 'session' and id = $1",
    values: [sessionId],
  });
  return found.rowCount === 1;
}
