// Who is calling, and what they proved. Every surface asks a Verifier before anything else answers; people prove a second factor
// for one named action at a time; machines hold tokens that name what they may do.
//
// What every verifier promises (testkit/conformance/verifier.ts):
//  1. An identity comes only from a token that its issuer signed for us, with an algorithm and key that we accept, before it ran out.
//  2. A revoked token, session or person is refused within `revocationMsMax`. A process that cannot ask what is revoked believes what
//     it knew for a bounded, documented time; after that it answers IDENTITY_UNAVAILABLE to everybody but our own processes, whose
//     tokens need no asking and open nothing but what the table of authority names for each of them.
//  3. Whatever else is wrong with a token is UNAUTHENTICATED, with a sentence that says what to do and repeats nothing of the token.
import type { Operation, Role } from "../contracts/src/authority.ts";
import type { Denial } from "../contracts/src/codes.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { Health } from "./health.ts";

export interface Identity {
  readonly kind: "operator" | "service";
  /** How this caller stands in records: `operator:<name>` or `service:<name>`. */
  readonly actor: string;
  readonly name: string;
  /** The person or machine itself, unique over all issuers; two sessions of one person have one subject. */
  readonly subject: string;
  readonly issuer: string;
  readonly roles: readonly Role[];
  /** A machine's token is narrowed to these. */
  readonly operations?: readonly Operation[];
  /** A machine's token may speak of these funds; absent means every fund. */
  readonly funds?: readonly string[];
  /** What a revocation of this one token names. */
  readonly tokenId: string;
  /** What a revocation of the whole login names, when the issuer told it. */
  readonly sessionId?: string;
  readonly issuedAt: Instant;
  /** When the person last logged in, when the issuer told it: a renewed token is newer than the login that it goes back to. */
  readonly authenticatedAt?: Instant;
  readonly expiresAt: Instant;
}

export interface Verifier {
  /** Rejects with UNAUTHENTICATED or IDENTITY_UNAVAILABLE. */
  verify(token: string): Promise<Identity>;
  health(): Health;
  close(): Promise<void>;
}

export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly denial: Denial; readonly retryAfterS?: number };

export interface FactorStatus {
  readonly enrolledAt?: Instant;
  readonly recoveryCodesLeft: number;
  readonly lockedUntil?: Instant;
}

/** What a person shows. WebAuthn joins this union with the web desks. */
export type ShownFactor =
  | { readonly kind: "totp"; readonly code: string }
  | { readonly kind: "recovery_code"; readonly code: string };

/** One action and its parameters; a proof opens exactly this. Parameters are compared by the hash of their canonical JSON. */
export interface NamedAction {
  readonly action: Operation;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface SecondFactors {
  status(identity: Identity): Promise<FactorStatus>;
  /** Makes a secret that counts only once it is confirmed; a factor that exists stays in force until then, and must be shown first. */
  begin(
    identity: Identity,
    shown: ShownFactor | undefined,
  ): Promise<Outcome<{ readonly secret: string; readonly uri: string }>>;
  /** Recovery codes are given here, once, and never again. */
  confirm(identity: Identity, code: string): Promise<Outcome<{ readonly recoveryCodes: readonly string[] }>>;
  /** A proof for one action, of short life, that can be redeemed once. Every attempt leaves an event. */
  stepUp(
    identity: Identity,
    named: NamedAction,
    shown: ShownFactor,
  ): Promise<Outcome<{ readonly proof: string; readonly expiresAt: Instant }>>;
}

export interface ServiceToken {
  readonly id: string;
  readonly name: string;
  readonly operations: readonly Operation[];
  /** The funds that it may speak of; absent means every fund. */
  readonly funds?: readonly string[];
  /** The logins of NATS that speak for it: what comes under them is its own. Absent means none. */
  readonly natsLogins?: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly revokedAt?: Instant;
  /** Its successor, when it was rotated: both work until the old one runs out. */
  readonly rotatedTo?: string;
  /** The second admin, where it took two. */
  readonly cosignedBy?: string;
  /** To about a minute; absent for one that nobody has shown yet. */
  readonly lastUsedAt?: Instant;
}

export interface IssuedToken extends ServiceToken {
  /** Given here, once, and never again. */
  readonly token: string;
}

/** What one admin asked for and another one has to sign. */
export interface IdentityRequest {
  readonly requestId: string;
  readonly operation: Operation;
  /** The person, machine or token that it is about. */
  readonly target: string;
  /** Exactly what is signed. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly requestedBy: string;
  readonly reason: string;
  readonly at: Instant;
  readonly expiresAt: Instant;
}

/** Nothing is done yet: a second admin must sign. */
export interface Requested {
  readonly request: IdentityRequest;
  /** The first half of a new person's password, for the admin who asks; the admin who signs gets the second one. */
  readonly passwordHalf?: string;
}

export interface TokenRequest {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** The funds that it may speak of; absent means every fund. */
  readonly funds?: readonly string[] | undefined;
  /** The logins of NATS that speak for it; absent means none. */
  readonly natsLogins?: readonly string[] | undefined;
  readonly expiresInS: number;
}

export interface ServiceTokens {
  /** Newest first; at most so many, from after that one on, and nothing after one that is not there. */
  list(page?: { readonly countMax: number; readonly after?: string | undefined }): Promise<readonly ServiceToken[]>;
  /**
   * Redeems the proof and issues in one transaction; in production a token that may change something is only requested, and a second admin signs
   * (ports/operators.ts). The proof names IssueServiceToken with `name`, `operations`, `expires_in_s`, and `funds` and `nats_logins` where it
   * names them.
   */
  issue(
    identity: Identity,
    request: TokenRequest,
    proof: string | undefined,
    reason?: string,
  ): Promise<Outcome<IssuedToken | Requested>>;
  /** The old token stays good for `overlapS`. The proof names RotateServiceToken with `id`, `overlap_s`, `expires_in_s`. */
  rotate(
    identity: Identity,
    request: { readonly id: string; readonly overlapS: number; readonly expiresInS: number },
    proof: string | undefined,
    reason?: string,
  ): Promise<Outcome<IssuedToken | Requested>>;
  /** Taking away needs no proof: it is the safe direction. */
  revoke(identity: Identity, id: string, reason?: string): Promise<Outcome<ServiceToken>>;
}

/** A login of a program on a device, which a person approved in a browser. */
export interface DeviceLogin {
  /** As events and tokens name it. */
  readonly sessionId: string;
  /** What asked for it, as it called itself, and from which address. */
  readonly program: string;
  readonly address: string;
  readonly approvedAt: Instant;
  readonly expiresAt: Instant;
}

export interface LoggedOut {
  /** Approved in the browser that logged out; they are logins of their own and go on. */
  readonly deviceLogins: readonly DeviceLogin[];
  /** Of the browser's session at the embedded provider, when that ended: it opens nothing any more. */
  readonly endedCookie?: { readonly name: string; readonly path: string };
}

export interface Sessions {
  /** Ends the caller's login: its session with all that belongs to it when there is one, else its token. */
  logOut(identity: Identity): Promise<LoggedOut>;
  /**
   * Ends every session of a person, named as records name them: `operator:<name>`. `known` says whether there is such a person;
   * null when only another issuer could tell. The revocation is kept in any case.
   */
  revokeAll(identity: Identity, actor: string, reason?: string): Promise<{ readonly known: boolean | null }>;
}

export interface SigningKeys {
  /** "after overlap" lets tokens that were signed before run out; "at once" refuses them from now on. */
  rotate(identity: Identity, retire: "after overlap" | "at once", reason?: string): Promise<{ readonly keyId: string }>;
}
