// From the claims of a verified token to an identity. What a claim may look like is decided here, because it ends up in records, logs
// and terminals.
import type { JWTPayload } from "jose";
import { isRole, type Role } from "../../../contracts/src/authority.ts";
import { fromMicroseconds, type Instant, microsecondsPerSecond } from "../../../contracts/src/instant.ts";
import type { Identity } from "../../../ports/identity.ts";
import { hashOf } from "../sealing.ts";
import { signingInputOf } from "./compact-form.ts";
import { refusals } from "./refusals.ts";

export interface ClaimRules {
  /** Where the roles stand, as names with dots between them. */
  readonly rolesClaim: string;
  readonly nameClaim: string;
  /** Our role for each of the issuer's values; when it is empty the values are our roles themselves. */
  readonly roleNames: Readonly<Record<string, Role>>;
}

const rolesMax = 1_000;
const idCharsMax = 256;
/** As records take a name (contracts/src/records/fields.ts), with room for the `operator:` before it. */
const nameCharsMax = 180;
/** With the u flag a surrogate matches only without its partner; it has no UTF-8 form, so that two such texts would be stored alike. */
const unprintable = /[\p{Cc}\u2028\u2029\p{Surrogate}]/u;
/** Format characters show nothing, or turn the text around: with them two names that are different look the same. */
const invisible = /\p{Cf}/u;

export function identityOf(token: string, claims: JWTPayload, rules: ClaimRules): Identity {
  const { iss, sub, iat, exp } = claims;
  if (!isShortLine(iss, 2_048) || !isShortLine(sub, idCharsMax)) throw refusals.incomplete();
  const name = claimAt(claims, rules.nameClaim);
  if (!isShortLine(name, nameCharsMax) || !isPlainName(name)) throw refusals.noName();
  const sessionId = claims["sid"];
  const loginAt = claims["auth_time"];
  return Object.freeze({
    kind: "operator" as const,
    actor: `operator:${name}`,
    name,
    subject: `${iss}|${sub}`,
    issuer: iss,
    roles: rolesOf(claimAt(claims, rules.rolesClaim), rules.roleNames),
    tokenId: isShortLine(claims.jti, idCharsMax) ? claims.jti : hashOf(signingInputOf(token)),
    ...(isShortLine(sessionId, idCharsMax) ? { sessionId } : {}),
    issuedAt: instantOf(iat),
    ...(typeof loginAt === "number" ? { authenticatedAt: instantOf(loginAt) } : {}),
    expiresAt: instantOf(exp),
  });
}

/** Values that are no role of ours are dropped: an issuer has groups for many programs. */
function rolesOf(value: unknown, roleNames: Readonly<Record<string, Role>>): readonly Role[] {
  const values: readonly unknown[] = Array.isArray(value) ? value.slice(0, rolesMax) : [value];
  const isMapped = Object.keys(roleNames).length > 0;
  const found = values.flatMap((one): readonly Role[] => {
    if (typeof one !== "string") return [];
    if (!isMapped) return isRole(one) ? [one] : [];
    const role = Object.hasOwn(roleNames, one) ? roleNames[one] : undefined;
    return role === undefined ? [] : [role];
  });
  return Object.freeze([...new Set(found)]);
}

/** The claim of that very name when there is one (some issuers use URLs as names), else the way through the dots. */
function claimAt(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

function isShortLine(value: unknown, charsMax: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= charsMax && !unprintable.test(value);
}

/** One that a person can read and tell from others: not blank, nothing unseen in it, and spelt the one way that Unicode prefers. */
function isPlainName(name: string): boolean {
  return name.trim() !== "" && !invisible.test(name) && name.normalize("NFC") === name;
}

/** A moment that no calendar of ours has cannot be compared with a revocation. */
function instantOf(seconds: number | undefined): Instant {
  const microseconds = Math.floor((seconds ?? Number.NaN) * microsecondsPerSecond);
  if (!Number.isSafeInteger(microseconds) || microseconds < 0) throw refusals.incomplete();
  return fromMicroseconds(microseconds);
}
