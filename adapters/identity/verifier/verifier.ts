// Who a token proves its bearer to be. Three kinds are told apart by how they begin: those of our own processes, those of machines, and the
// signed ones of people. Whatever is kept from an earlier look is judged again at every use: end, key, revocation, age of what we know.
import { timingSafeEqual } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, type JWTVerifyOptions, jwtVerify } from "jose";
import { platformOperations } from "../../../contracts/src/authority.ts";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import {
  earlier,
  fromMicroseconds,
  type Instant,
  microsecondsPerMillisecond,
  microsecondsPerSecond,
  toUnixMs,
} from "../../../contracts/src/instant.ts";
import { isOwnSource } from "../../../contracts/src/platform-services.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Health } from "../../../ports/health.ts";
import type { Identity, Verifier } from "../../../ports/identity.ts";
import type { Log } from "../../../ports/log.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import { tokenLengthMax } from "../../listener/bearer-form.ts";
import { isPlatformTokenTimely, platformTokenPrefix, readPlatformToken } from "../platform-token.ts";
import { hashOf } from "../sealing.ts";
import { serviceTokenIdOf, serviceTokenPrefix } from "../service-token-text.ts";
import { identityOf } from "./claims.ts";
import { isCompactForm } from "./compact-form.ts";
import type { IdentityFeed } from "./identity-feed.ts";
import type { IdentitySnapshot } from "./identity-snapshot.ts";
import { refusalFor, refusals, unavailable } from "./refusals.ts";
import type { TokenIssuer } from "./token-issuer.ts";
import type { TokenUses } from "./token-uses.ts";
import { createVerifiedTokens } from "./verified-tokens.ts";

interface VerifierOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly platformKey: string;
  readonly feed: IdentityFeed;
  /** Who signs for people. */
  readonly issuer: TokenIssuer;
  /** Who wants to know that a machine showed its token. */
  readonly uses?: Pick<TokenUses, "note">;
  readonly cacheSizeMax?: number;
}

const cacheSizeMaxDefault = 10_000;
/** For so long a caller waits before nobody is believed. */
const lookMsMax = 500;
/** Tokens of ours have no issuer with an address. */
const ownIssuer = "portcullis";
const theBeginning = fromMicroseconds(0);

export function createVerifier(options: VerifierOptions): Verifier {
  const { clock, log, feed, issuer } = options;
  const ends = options.metrics.counter(
    "portcullis_identity_verifications_total",
    "Tokens that were verified anew or refused.",
    ["end"],
  );
  const verified = createVerifiedTokens(options.cacheSizeMax ?? cacheSizeMaxDefault);
  const toleranceUs = issuer.toleranceS * microsecondsPerSecond;

  function platform(token: string): Identity {
    const read = readPlatformToken(options.platformKey, token);
    if (read === undefined) throw refusals.platformForged();
    if (!isPlatformTokenTimely(read, clock.now())) throw refusals.platformRanOut();
    const { service, expiresAt } = read;
    return {
      kind: "service",
      actor: `service:${service}`,
      name: service,
      subject: `service:${service}`,
      issuer: ownIssuer,
      // A report replays limits, which is people's to read; the list of operations is all that it opens.
      roles: service === "reports" ? ["service", "operator"] : ["service"],
      operations: platformOperations[service],
      tokenId: `platform:${service}`,
      issuedAt: theBeginning,
      expiresAt,
    };
  }

  function service(token: string): Identity | Promise<Identity> {
    const id = serviceTokenIdOf(token);
    if (id === undefined) throw refusals.notAToken();
    if (feed.current().serviceTokens.has(id)) return machine(token, id);
    // A token that is not known here may have been issued a moment ago: one look tells.
    return feed.refreshOnDemand().then(() => machine(token, id));
  }

  function machine(token: string, id: string): Identity {
    const snapshot = feed.current();
    const known = snapshot.serviceTokens.get(id);
    const shown = Buffer.from(hashOf(token), "hex");
    // A wrong secret is answered like an unknown id, so that nobody can find out which ids there are.
    if (known === undefined || known.hash.length !== shown.length || !timingSafeEqual(known.hash, shown)) {
      throw refusals.serviceUnknown();
    }
    if (known.isRevoked) throw refusals.serviceRevoked();
    if (known.expiresAt <= clock.now()) throw refusals.serviceRanOut();
    // Issued before the name became one of ours: in records it would stand as us.
    if (isOwnSource(known.name)) throw refusals.serviceNamedAsOurs();
    const identity: Identity = {
      kind: "service",
      actor: `service:${known.name}`,
      name: known.name,
      subject: `service:${known.name}`,
      issuer: ownIssuer,
      roles: ["service"],
      operations: known.operations,
      ...(known.funds === undefined ? {} : { funds: known.funds }),
      tokenId: known.id,
      issuedAt: known.createdAt,
      expiresAt: known.expiresAt,
    };
    if (isRevoked(identity, snapshot, 0)) throw refusals.serviceRevoked();
    options.uses?.note(known.id);
    return identity;
  }

  /** What holds for a token whose signature is known to be right, at this moment. */
  function judge(identity: Identity): Identity {
    const now = clock.now();
    if (identity.expiresAt + toleranceUs <= now) throw refusals.ranOut();
    // A token from the future would outlive the revocation of its owner, which goes by when it was issued.
    if (identity.issuedAt > now + toleranceUs) throw refusals.notYet();
    if (isRevoked(identity, feed.current(), issuer.aheadMsMax)) throw refusals.revoked();
    return identity;
  }

  /** What the header says, before anything is believed of it. */
  function acceptable(token: string): { readonly alg: string; readonly kid: string | undefined } {
    const { alg, kid, typ } = decoded(() => decodeProtectedHeader(token)) as Readonly<Record<string, unknown>>;
    if (typeof alg !== "string" || !issuer.algorithms.includes(alg)) throw refusals.algorithm();
    if (typ !== undefined && typeof typ !== "string") throw refusals.notAToken();
    if (!issuer.accepts(typ)) throw refusals.otherKind();
    if (kid !== undefined && typeof kid !== "string") throw refusals.notAToken();
    return { alg, kid };
  }

  function person(token: string): Identity | Promise<Identity> {
    const hash = hashOf(token);
    const before = verified.get(hash);
    if (before !== undefined && issuer.markOf(before.keyId, before.identity.issuer) === before.mark) {
      // Not counted: the counter would cost more than all the rest of this path.
      return judge(before.identity);
    }
    verified.remove(hash);
    return personAnew(token, hash);
  }

  async function personAnew(token: string, hash: string): Promise<Identity> {
    if (!isCompactForm(token)) throw refusals.notAToken();
    const { alg, kid } = acceptable(token);
    const found = await issuer.keyFor(
      kid === undefined ? { alg } : { alg, kid },
      decoded(() => decodeJwt(token)),
    );
    const rules: JWTVerifyOptions = {
      algorithms: [alg],
      issuer: found.issuer,
      audience: issuer.audience,
      requiredClaims: ["sub", "iat", "exp"],
      clockTolerance: issuer.toleranceS,
      currentDate: new Date(toUnixMs(clock.now())),
    };
    const { payload } = await jwtVerify(token, found.key, rules);
    // Whoever sends such a token must also prove that they hold a key, and nothing here could check that.
    if (payload["cnf"] !== undefined) throw refusals.bound();
    const identity = judge(identityOf(token, payload, issuer.claims));
    if (found.mark !== undefined) verified.put(hash, { identity, keyId: kid ?? "", mark: found.mark });
    ends.add(1, { end: "verified" });
    return identity;
  }

  /**
   * What is known is answered without a promise, which saves the caller three turns of waiting. Each kind looks at the form of its
   * own tokens; one that is known by its hash had the right one.
   */
  function check(token: string): Identity | Promise<Identity> {
    if (token.length > tokenLengthMax) throw refusals.notAToken();
    if (token.startsWith(platformTokenPrefix)) return platform(token);
    if (token.startsWith(serviceTokenPrefix)) return service(token);
    return person(token);
  }

  /** What is known may only be old because this process stood still, as in a slow start: one look tells, and the store is not waited for long. */
  async function lookAgain(token: string): Promise<Identity> {
    await feed.refreshWithin(lookMsMax);
    try {
      return await check(token);
    } catch (thrown) {
      const fault = asFault(thrown);
      ends.add(1, { end: fault.code });
      throw fault;
    }
  }

  function asFault(thrown: unknown): Fault {
    const reported = refusalFor(thrown);
    if (reported instanceof Fault && (reported.code === "UNAUTHENTICATED" || reported.code === "IDENTITY_UNAVAILABLE"))
      return reported;
    log.error("a token could not be checked", { error: messageOf(reported) });
    return unavailable("the token could not be checked: the log has the reason", "defect");
  }

  return {
    async verify(token) {
      try {
        return await check(token);
      } catch (thrown) {
        const fault = asFault(thrown);
        if (fault.code === "IDENTITY_UNAVAILABLE" && feed.health().status !== "ok") return lookAgain(token);
        ends.add(1, { end: fault.code });
        throw fault;
      }
    },
    health: () => worst(feed.health(), issuer.health()),
    async close() {
      await Promise.all([feed.close(), issuer.close()]);
    },
  };
}

function decoded<Value>(decode: () => Value): Value {
  try {
    return decode();
  } catch {
    // The decoder's complaint is about text that came from outside; that it is no token says enough.
    throw refusals.notAToken();
  }
}

/** A person is named by subject or as records name them; what was issued before that moment is refused. */
function isRevoked(identity: Identity, snapshot: IdentitySnapshot, aheadMsMax: number): boolean {
  if (snapshot.revokedTokens.has(identity.tokenId)) return true;
  if (identity.sessionId !== undefined && snapshot.revokedSessions.has(identity.sessionId)) return true;
  // Another issuer may renew a token without asking us: what counts is the login that it goes back to.
  const since = earlier(identity.issuedAt, identity.authenticatedAt ?? identity.issuedAt);
  const isBefore = (revokedAt: Instant | undefined): boolean =>
    revokedAt !== undefined && since < revokedAt + aheadMsMax * microsecondsPerMillisecond;
  return (
    isBefore(snapshot.revokedSubjects.get(identity.subject)) || isBefore(snapshot.revokedSubjects.get(identity.actor))
  );
}

function worst(one: Health, other: Health): Health {
  const rank = { ok: 0, starting: 1, failing: 2 };
  return rank[other.status] > rank[one.status] ? other : one;
}
