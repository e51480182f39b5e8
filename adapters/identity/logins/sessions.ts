// Ending logins. A token that was signed stays signed, so what ended is written down, and every verifier refuses it within the
// promised time; the embedded provider asks the same list before it renews a login.
import { alarms } from "../../../contracts/src/codes/alarms.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { format, type Instant, later, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { nameText } from "../../../contracts/src/records/fields.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Identity, LoggedOut, Sessions } from "../../../ports/identity.ts";
import type { EventWriter } from "../../../ports/store.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";
import { endRequestsOf } from "../administration/identity-requests.ts";
import { sessionCookieName } from "../embedded/options.ts";
import type { Sealing } from "../sealing.ts";
import { findToken } from "../service-token-rows.ts";
import { revokeWithEvent } from "../service-tokens.ts";
import { dropProofs } from "../step-up-proofs.ts";
import { endGrant } from "./browser-logins.ts";
import { marginMs, personRevocationEnd, revoke, sessionRevocationEnd, tellClosed } from "./revocation-rows.ts";

interface SessionsOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly sealing: Sealing;
  /** The issuer of people, embedded or external; asked when it is needed, because a port of 0 is known only after listening. */
  issuer(): string;
  /** How long a login can last: `identity.session_s`. */
  readonly sessionS: number;
  /** Whether all people are in our own table: with the embedded provider they are. */
  readonly everybodyIsKnown: boolean;
}

const actorForm = /^operator:(.+)$/;

export function createSessions(options: SessionsOptions): Sessions {
  const { store, clock } = options;

  return {
    logOut: (identity) =>
      store.transactSql("identity.log_out", async ({ events }, sql) => {
        const at = clock.now();
        if (identity.kind === "operator") return endLogin(sql, events, identity, at, options);
        await giveUpToken(sql, events, identity, at);
        await tellClosed(events, identity.actor, at, {});
        return { deviceLogins: [] };
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

/** A token without a session, and a session with all that belongs to it. */
async function endLogin(
  sql: Sql,
  events: EventWriter,
  { actor, sessionId, tokenId, expiresAt }: Identity,
  at: Instant,
  { sealing, sessionS, issuer }: SessionsOptions,
): Promise<LoggedOut> {
  const tokenEnd = plusMilliseconds(expiresAt, marginMs);
  if (sessionId === undefined) {
    await revoke(sql, { kind: "token", id: tokenId, at, until: tokenEnd, actor });
    await tellClosed(events, actor, at, {});
    return { deviceLogins: [] };
  }
  // Another issuer's token may outlast what a login may last here, and must not come back to life.
  const until = later(tokenEnd, sessionRevocationEnd(at, sessionS));
  const { ofBrowser, deviceLogins } = await endGrant(sql, events, sessionId, { sealing, at, until, actor });
  if (!ofBrowser) return { deviceLogins };
  return { deviceLogins, endedCookie: { name: sessionCookieName, path: new URL(issuer()).pathname } };
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

/** A machine that logs out gives its token up for good; those of our own processes are derived, and end only with their key. */
async function giveUpToken(sql: Sql, events: EventWriter, identity: Identity, at: Instant): Promise<void> {
  const found = await findToken(sql, identity.tokenId);
  if (found === undefined) {
    throw new Fault("PERMISSION_DENIED", "A token of the platform's own processes cannot be given up.", {
      retry: "never",
    });
  }
  if (found.revokedAt !== undefined) return;
  await revokeWithEvent(sql, events, found, { identity, at });
  // Nobody else was asked: whoever runs the machine hears of it, and may not have meant it.
  await events.publish(subjects.alarmRaised, {
    code: "SERVICE_TOKEN_ENDED",
    level: alarms.SERVICE_TOKEN_ENDED.level,
    service: "gateway",
    sentence: `The token ${found.id} of ${identity.actor} was ended by its own holder, and whoever goes on using it is refused: issue another with \`ctl auth tokens issue\`, or find out who has it.`,
    facts: { about: found.id },
    at: format(at),
  });
}
