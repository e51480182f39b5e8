// Fixtures that put the verifier under its conformance suite: once with the embedded provider's keys from the store, once with an issuer of
// somebody else's. Both have a real database behind a proxy that can be cut, and a clock that can be pushed ahead.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import type pg from "pg";
import { createPlatformTokens } from "../adapters/identity/platform-token.ts";
import { openExternalKeys } from "../adapters/identity/verifier/external-keys.ts";
import { createIdentityFeed } from "../adapters/identity/verifier/identity-feed.ts";
import { createSnapshotReader } from "../adapters/identity/verifier/identity-snapshot.ts";
import { embeddedIssuer, externalIssuer, type TokenIssuer } from "../adapters/identity/verifier/token-issuer.ts";
import { createVerifier } from "../adapters/identity/verifier/verifier.ts";
import { openPool } from "../adapters/postgres/connection.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { type Instant, plusMilliseconds } from "../contracts/src/instant.ts";
import type { Clock } from "../ports/clock.ts";
import type { Signing, VerifierFixture } from "./conformance/verifier-fixture.ts";
import { startCutProxy } from "./cut-proxy.ts";
import { noMetrics } from "./no-telemetry.ts";
import { testDatabase } from "./postgres.ts";
import { openPeer } from "./postgres-fixture.ts";
import { quietLog } from "./quiet-log.ts";

export interface PushedClock extends Clock {
  push(ms: number): void;
}

export function pushedClock(): PushedClock {
  const real = systemClock();
  let aheadMs = 0;
  return {
    now: () => plusMilliseconds(real.now(), aheadMs),
    push: (ms) => {
      aheadMs += ms;
    },
  };
}

export interface FixtureKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function fixtureKey(algorithm: string): Promise<FixtureKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const kid = randomBytes(8).toString("hex");
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: "sig" } };
}

/** A database with the feed on it, as one process of the platform has it. */
export async function feedOnDatabase(clock: Clock) {
  const database = await testDatabase();
  const owner = openPool(database.address.owner, { log: quietLog, applicationName: "fixture owner", sizeMax: 2 });
  const proxy = await startCutProxy(database.address.app);
  const peer = openPeer(proxy.target);
  const timers = systemTimers();
  const common = { clock, timers, log: quietLog, metrics: noMetrics };
  const feed = createIdentityFeed({ ...common, read: createSnapshotReader({ ...common, store: peer.store }) });
  await feed.refresh();
  return {
    owner,
    proxy,
    store: peer.store,
    common,
    feed,
    async close() {
      await feed.close();
      timers.release();
      await peer.close();
      await owner.end();
      await proxy.close();
      await database.drop();
    },
  };
}

type Fixture = Awaited<ReturnType<typeof feedOnDatabase>>;

interface Publisher {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithm: string;
  readonly typ: string;
  readonly tokenIssuer: TokenIssuer;
  publish(key: FixtureKey): Promise<void>;
  withdraw(key: FixtureKey): Promise<void>;
  close(): Promise<void>;
}

export function embeddedFixture(): Promise<VerifierFixture> {
  return openFixture(async ({ owner, feed }) => {
    const issuer = "http://127.0.0.1:8080/oidc";
    await owner.query("insert into identity_issuer (issuer, updated_us) values ($1, 1)", [issuer]);
    return {
      issuer,
      audience: "portcullis",
      algorithm: "ES256",
      typ: "at+jwt",
      tokenIssuer: embeddedIssuer(feed),
      async publish({ kid, publicJwk }) {
        await owner.query("insert into identity_key (kid, public_jwk, created_us) values ($1, $2, 1)", [
          kid,
          publicJwk,
        ]);
      },
      async withdraw({ kid }) {
        await owner.query("update identity_key set refused_us = 1 where kid = $1", [kid]);
      },
      close: async () => undefined,
    };
  });
}

export function externalFixture(): Promise<VerifierFixture> {
  return openFixture(async ({ common }) => {
    const published = await publishKeys();
    const keys = openExternalKeys({ ...common, issuer: published.issuer, refreshMs: 300, cooldownMs: 0 });
    return {
      issuer: published.issuer,
      audience: "client-of-theirs",
      algorithm: "ES384",
      typ: "JWT",
      tokenIssuer: externalIssuer({
        issuer: published.issuer,
        audience: "client-of-theirs",
        claims: { rolesClaim: "roles", nameClaim: "sub", roleNames: {} },
        keys,
      }),
      publish: async (key) => void published.keys.push(key.publicJwk),
      withdraw: async (key) => void published.keys.splice(published.keys.indexOf(key.publicJwk), 1),
      close: published.stop,
    };
  });
}

/** The two documents of an issuer that a verifier looks at. */
export async function publishKeys(port = 0) {
  const keys: JWK[] = [];
  const asked: string[] = [];
  const changes: Record<string, unknown> = {};
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const isDiscovery = request.url === "/.well-known/openid-configuration";
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isDiscovery ? { issuer, jwks_uri: `${issuer}/jwks`, ...changes } : { keys }));
  });
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    /** Public keys, as they are published. */
    keys,
    /** Paths that were asked for. */
    asked,
    /** What the discovery document says instead. */
    changes,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function openFixture(publisherOf: (fixture: Fixture) => Promise<Publisher>): Promise<VerifierFixture> {
  const clock = pushedClock();
  const fixture = await feedOnDatabase(clock);
  const publisher = await publisherOf(fixture);
  const { issuer, audience, algorithm, tokenIssuer } = publisher;
  const platformKey = randomBytes(32).toString("base64url");
  const verifier = createVerifier({ ...fixture.common, platformKey, feed: fixture.feed, issuer: tokenIssuer });
  const foreign = await fixtureKey(algorithm);
  let current = await fixtureKey(algorithm);
  let previous = foreign;
  await publisher.publish(current);
  return {
    verifier,
    clock,
    issuer,
    audience,
    algorithm,
    sign(claims = {}, signing = {}) {
      const chosen = { current, previous, foreign }[signing.key ?? "current"];
      const kid = chosen === foreign ? current.kid : chosen.kid;
      return sign({ publisher, clock, claims, signing, privateKey: chosen.privateKey, kid });
    },
    publicKeyText: async () => JSON.stringify(current.publicJwk),
    async rotateKeys() {
      previous = current;
      current = await fixtureKey(algorithm);
      await publisher.publish(current);
    },
    withdrawPrevious: () => publisher.withdraw(previous),
    ...machines(fixture.owner, clock),
    platformToken: createPlatformTokens(platformKey, clock),
    async passTime(ms) {
      clock.push(ms);
      await fixture.feed.refresh();
    },
    async outage() {
      fixture.proxy.cut();
      return async () => fixture.proxy.restore();
    },
    async close() {
      await verifier.close();
      await publisher.close();
      await fixture.close();
    },
  };
}

interface FixtureSigning {
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signing: Signing;
  readonly privateKey: CryptoKey;
  readonly kid: string;
}

function sign({ publisher, clock, claims, signing, privateKey, kid }: FixtureSigning): Promise<string> {
  const iat = Math.floor(clock.now() / 1_000_000);
  const usual = {
    iss: publisher.issuer,
    aud: publisher.audience,
    sub: "somebody",
    roles: ["operator"],
    jti: randomBytes(8).toString("hex"),
    iat,
    exp: iat + 300,
  };
  const payload = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== null);
  return new SignJWT(Object.fromEntries(payload) as JWTPayload)
    .setProtectedHeader({ alg: publisher.algorithm, kid, typ: publisher.typ, ...signing.header })
    .sign(privateKey);
}

/** What other processes write into the store, straight into its tables. */
function machines(
  owner: pg.Pool,
  clock: Clock,
): Pick<VerifierFixture, "revoke" | "serviceToken" | "revokeServiceToken"> {
  const farAway = (at: Instant): Instant => plusMilliseconds(at, 86_400_000);
  return {
    async revoke(kind, id) {
      const at = clock.now();
      await owner.query(
        "insert into identity_revocation (kind, id, revoked_us, until_us, actor) values ($1, $2, $3, $4, 'fixture')",
        [kind, id, at, farAway(at)],
      );
    },
    async serviceToken({ operations, expiresInMs, funds }) {
      const id = randomBytes(12).toString("hex");
      const token = `pcs_${id}_${randomBytes(32).toString("base64url")}`;
      const at = clock.now();
      await owner.query(
        `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us, funds)
         values ($1, $2, $3, $4, 'fixture', $5, $6, $7)`,
        [
          id,
          `m-${id}`,
          createHash("sha256").update(token).digest("hex"),
          operations,
          at,
          plusMilliseconds(at, expiresInMs),
          funds ?? null,
        ],
      );
      return { id, name: `m-${id}`, token };
    },
    async revokeServiceToken(id) {
      await owner.query("update service_token set revoked_us = $2 where id = $1", [id, clock.now()]);
    },
  };
}
