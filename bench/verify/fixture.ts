// What is verified and by whom: one database with an issuer, its key and a machine's token in it, our verifier on top as a process of
// the platform has it, and beside it the same check by hand, with the same key, of the same token.
import { createHash, randomBytes } from "node:crypto";
import { exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from "jose";
import { createIdentityFeed } from "../../adapters/identity/verifier/identity-feed.ts";
import { createSnapshotReader } from "../../adapters/identity/verifier/identity-snapshot.ts";
import { embeddedAudience, embeddedIssuer } from "../../adapters/identity/verifier/token-issuer.ts";
import { createVerifier } from "../../adapters/identity/verifier/verifier.ts";
import { createWake } from "../../adapters/postgres/bus/wake.ts";
import { type DatabaseAddress, openClient, openPool } from "../../adapters/postgres/connection.ts";
import { createPostgresStore } from "../../adapters/postgres/store.ts";
import { createMetrics } from "../../adapters/telemetry/prometheus-metrics.ts";
import type { Verifier } from "../../ports/identity.ts";
import { benchTools } from "../bus/ticket.ts";

export interface Fixture {
  readonly verifier: Verifier;
  /** A machine's token that may call GetEnvelope. */
  readonly serviceToken: string;
  /** Signs tokens of a person that nobody has seen. */
  sign(count: number): Promise<readonly string[]>;
  /** jose's jwtVerify with everything that our verifier asks of it. */
  verifyByHand(token: string): Promise<unknown>;
  close(): Promise<void>;
}

const algorithm = "ES256";
const issuer = "http://127.0.0.1:8080/oidc";
/** Longer than any run: a token that runs out in the middle would be refused. */
const lifeS = 3_600;

export async function openFixture(address: DatabaseAddress): Promise<Fixture> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const { kty, crv, x, y } = await exportJWK(publicKey);
  const publicJwk = { kty, crv, x, y } as { kty: string };
  const kid = randomBytes(8).toString("hex");
  const serviceToken = await fill(address, kid, publicJwk);
  const { verifier, close } = await openOurs(address);
  const key = await importJWK(publicJwk, algorithm);
  const rules = {
    algorithms: [algorithm],
    issuer,
    audience: embeddedAudience,
    requiredClaims: ["sub", "iat", "exp"],
    clockTolerance: 1,
  };
  const signOne = (): Promise<string> => {
    const iat = Math.floor(Date.now() / 1_000);
    const [jti, sid] = [randomBytes(16).toString("base64url"), randomBytes(16).toString("base64url")];
    const who = { iss: issuer, aud: embeddedAudience, sub: "duty", roles: ["operator", "risk_officer", "admin"] };
    return new SignJWT({ ...who, jti, sid, iat, exp: iat + lifeS })
      .setProtectedHeader({ alg: algorithm, kid, typ: "at+jwt" })
      .sign(privateKey);
  };
  return {
    verifier,
    serviceToken,
    sign: (count) => Promise.all(Array.from({ length: count }, signOne)),
    verifyByHand: (token) => jwtVerify(token, key, rules),
    close,
  };
}

/** The rows that the gateway would have written; answers with the machine's token. */
async function fill(address: DatabaseAddress, kid: string, publicJwk: object): Promise<string> {
  const id = randomBytes(12).toString("hex");
  const token = `pcs_${id}_${randomBytes(32).toString("base64url")}`;
  const hash = createHash("sha256").update(token).digest("hex");
  const nowUs = Date.now() * 1_000;
  const client = await openClient(address.owner, { log: benchTools().log, applicationName: "bench verify" });
  try {
    await client.query("insert into identity_issuer (issuer, updated_us) values ($1, 1)", [issuer]);
    await client.query("insert into identity_key (kid, public_jwk, created_us) values ($1, $2, 1)", [kid, publicJwk]);
    await client.query(
      `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us)
       values ($1, 'bench', $2, $3, 'bench', $4, $5)`,
      [id, hash, ["CheckOrder", "CheckOrders", "GetEnvelope"], nowUs, nowUs + lifeS * 1_000_000],
    );
  } finally {
    await client.end();
  }
  return token;
}

async function openOurs(address: DatabaseAddress): Promise<Pick<Fixture, "verifier" | "close">> {
  const metrics = createMetrics({ service: "bench" });
  const tools = { ...benchTools(), metrics };
  const connection = { log: tools.log, applicationName: "bench verify" };
  const pool = openPool(address.app, { ...connection, sizeMax: 2 });
  const wake = createWake({ ...tools, open: () => openClient(address.app, connection) });
  const store = createPostgresStore({ ...tools, pool, wake });
  const feed = createIdentityFeed({ ...tools, read: createSnapshotReader({ ...tools, store }) });
  await feed.refresh();
  const platformKey = randomBytes(32).toString("base64url");
  const verifier = createVerifier({ ...tools, platformKey, feed, issuer: embeddedIssuer(feed) });
  return {
    verifier,
    async close() {
      await verifier.close();
      await store.close();
      await wake.close();
      await pool.end();
      tools.timers.release();
      metrics.close();
    },
  };
}
