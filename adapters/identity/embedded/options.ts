// What the embedded provider is given: its neighbours as the few calls it makes of them, and how long things last.
import type { Role } from "../../../contracts/src/authority.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { Secrets } from "../../../ports/secrets.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { Sealing } from "../sealing.ts";

export interface Person {
  readonly name: string;
  readonly roles: readonly Role[];
}

type Authentication =
  | ({ readonly ok: true } & Person)
  | { readonly ok: false; readonly code: string; readonly retryAfterS?: number };

export interface People {
  /** Tells the world of every refusal itself. */
  authenticate(name: string, password: string, remoteAddress: string): Promise<Authentication>;
  find(name: string): Promise<Person | undefined>;
}

export interface Revocations {
  isRevoked(login: {
    readonly sessionId: string;
    readonly subject: string;
    /** As records name the person; it stays the same when the issuer's address, and with it the subject, changes. */
    readonly actor: string;
    readonly issuedAt: Instant;
  }): Promise<boolean>;
  isAnySessionRevoked(sessionIds: readonly string[]): Promise<boolean>;
  /** Refuses the session's tokens everywhere; that it ended is reported by the provider. */
  revokeSession(sessionId: string, actor: string): Promise<void>;
}

/** Whom a second factor belongs to. */
export interface FactorOwner {
  readonly subject: string;
  readonly actor: string;
}

export interface LoginFactors {
  isEnrolled(owner: FactorOwner): Promise<boolean>;
  /** A code or a recovery code, for one login; undefined when it was accepted. Every attempt leaves an event. */
  show(
    owner: FactorOwner,
    parameters: Readonly<Record<string, unknown>>,
    code: string,
  ): Promise<{ readonly reason: string; readonly retryAfterS: number | undefined } | undefined>;
}

export interface EmbeddedProviderOptions {
  /** Where everybody reaches the provider, for example `http://127.0.0.1:8080/oidc`; requests come in under its path. */
  readonly issuer: string;
  /** Lets `portcullis-cli` exchange a name and a password for tokens, without a browser. */
  readonly development: boolean;
  /** identity.access_token_s, identity.session_s and identity.signing_key_s. */
  readonly accessTokenS: number;
  readonly sessionS: number;
  readonly signingKeyS: number;
  /** secrets.prefix */
  readonly secretsPrefix: string;
  readonly store: PostgresStore;
  readonly secrets: Secrets;
  readonly sealing: Sealing;
  readonly people: People;
  readonly factors: LoginFactors;
  readonly revocations: Revocations;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

export const cliClientId = "portcullis-cli";
export const webClientId = "portcullis-web";
export const sessionCookieName = "portcullis_session";
/** What clients would name as the resource, if they named one; ours and the issuer's parent mean the same. */
export const resourceIndicator = "urn:portcullis:api";
export const scopes = ["openid", "profile", "offline_access"] as const;

export function subjectOf(issuer: string, name: string): string {
  return `${issuer}|${name}`;
}

export function actorOf(name: string): string {
  return `operator:${name}`;
}
