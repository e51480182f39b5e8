// Who signs the tokens of people: the embedded provider, whose keys come with the feed, or an issuer of the user's, whose keys come from
// its own address. A verifier treats both alike.
import type { CryptoKey, JWSHeaderParameters, JWTPayload } from "jose";
import type { Health } from "../../../ports/health.ts";
import type { ClaimRules } from "./claims.ts";
import { type ExternalKeys, externalAlgorithms } from "./external-keys.ts";
import type { IdentityFeed } from "./identity-feed.ts";
import { refusals, unavailable } from "./refusals.ts";

/** A key that a token may be verified with, and what must stay as it is for the verification to stand. */
interface FoundKey {
  readonly key: CryptoKey;
  readonly issuer: string;
  readonly mark: KeyMark;
}

/** Compared by identity alone, because that is asked at every use of a token. */
export type KeyMark = CryptoKey | string | undefined;

export interface TokenIssuer {
  readonly algorithms: readonly string[];
  readonly audience: string;
  readonly claims: ClaimRules;
  /** How far its clock and ours may be apart. */
  readonly toleranceS: number;
  /** By how much its clock may be ahead of the one that dates revocations of persons. */
  readonly aheadMsMax: number;
  /** Whether a token of this type, by its header, may be shown to us. */
  accepts(type: string | undefined): boolean;
  /** The key for a header; rejects with UNAUTHENTICATED or IDENTITY_UNAVAILABLE. The payload is not verified yet. */
  keyFor(header: JWSHeaderParameters, unverified: JWTPayload): Promise<FoundKey>;
  /** The mark that the key of that id has now; undefined when it, or that issuer, is not to be believed any more. */
  markOf(keyId: string, issuer: string): KeyMark;
  health(): Health;
  close(): Promise<void>;
}

/** Whom the embedded provider's access tokens are for. */
export const embeddedAudience = "portcullis";

function isType(type: string | undefined, ...accepted: readonly string[]): boolean {
  if (type === undefined) return false;
  return accepted.includes(type.toLowerCase().replace(/^application\//, ""));
}

export function embeddedIssuer(feed: IdentityFeed): TokenIssuer {
  return {
    algorithms: ["ES256"],
    audience: embeddedAudience,
    claims: { rolesClaim: "roles", nameClaim: "sub", roleNames: {} },
    // Its clock is one of our own machines'.
    toleranceS: 1,
    aheadMsMax: 0,
    accepts: (type) => isType(type, "at+jwt"),
    async keyFor({ kid }, { iss }) {
      if (kid === undefined) throw refusals.unknownKey();
      const before = feed.current();
      // A key or an issuer that is not known here may be a second old: one look tells.
      if (!before.keys.has(kid) || before.issuer !== iss) await feed.refreshOnDemand();
      const { issuer, keys } = feed.current();
      if (issuer === undefined) throw unavailable("the login service has not started yet: try again shortly", "issuer");
      const known = keys.get(kid);
      if (known === undefined) throw refusals.unknownKey();
      if (known.isRefused) throw refusals.withdrawnKey();
      return { key: known.key, issuer, mark: known.key };
    },
    markOf(keyId, named) {
      const { issuer, keys } = feed.current();
      const known = keys.get(keyId);
      return known === undefined || known.isRefused || issuer !== named ? undefined : known.key;
    },
    health: () => ({ status: "ok" }),
    close: async () => undefined,
  };
}

interface ExternalIssuerOptions {
  readonly issuer: string;
  readonly audience: string;
  /** The one client whose tokens are for us, when the audience is that client and not a resource of its own. */
  readonly authorizedParty?: string;
  readonly claims: ClaimRules;
  readonly keys: ExternalKeys;
}

export function externalIssuer(options: ExternalIssuerOptions): TokenIssuer {
  const { issuer, authorizedParty, keys } = options;
  return {
    algorithms: externalAlgorithms,
    audience: options.audience,
    claims: options.claims,
    toleranceS: 5,
    aheadMsMax: 5_000,
    // ID tokens have the general type or none; a logout token, for one, has its own and proves nothing about its sender.
    accepts: (type) => type === undefined || isType(type, "jwt", "at+jwt"),
    async keyFor(header, unverified) {
      // Said before the issuer is asked for its keys, so that a stray token costs no request.
      if (unverified.iss !== issuer) throw refusals.otherIssuer();
      // A security event is signed by the same keys for the same audience, and is no login.
      if (unverified["events"] !== undefined) throw refusals.otherKind();
      // It names our client among others, but another one asked for it.
      const party = unverified["azp"];
      if (authorizedParty !== undefined && party !== undefined && party !== authorizedParty) {
        throw refusals.otherAudience();
      }
      // Taken before the key: a set that changes in between makes the token be verified once more, never once too seldom.
      const mark = keys.mark();
      return { key: await keys.keyFor(header), issuer, mark };
    },
    markOf: () => keys.mark(),
    health: () => keys.health(),
    close: () => keys.close(),
  };
}
