// Signing keys from outside: published, replaced by age and on demand, kept over restarts, refused when they must be, and reported.
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fetchOnNewConnection } from "../../../testkit/http/fetch-on-new-connection.ts";
import { admin, openProviderFixture, type ProviderFixture } from "../../../testkit/identity/embedded-provider.ts";
import { memorySecrets } from "../../../testkit/identity/test-secrets.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { systemClock } from "../../system/clock.ts";
import { openSigningKeys } from "./signing-keys.ts";

let database: TestDatabase;
let peer: PostgresPeer;
let fixture: ProviderFixture;

beforeAll(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
  fixture = await openProviderFixture(peer.store);
});

afterAll(async () => {
  await fixture?.close();
  await peer?.close();
  await database?.drop();
});

const published = async (): Promise<JSONWebKeySet> =>
  (await (await fetchOnNewConnection(`${fixture.issuer}/jwks`)).json()) as JSONWebKeySet;
const kids = async (): Promise<unknown[]> => (await published()).keys.map((key) => key["kid"]);

async function newToken(): Promise<string> {
  const grant = { client_id: "portcullis-cli", grant_type: "urn:portcullis:params:oauth:grant-type:development" };
  const answer = await fixture.post("/token", { ...grant, name: "duty", password: "correct horse" });
  expect(answer.status).toBe(200);
  return answer.body["access_token"] ?? "";
}

const kidOf = (token: string): string => decodeProtectedHeader(token).kid ?? "";
const verifies = async (token: string): Promise<boolean> =>
  jwtVerify(token, createLocalJWKSet(await published())).then(
    () => true,
    () => false,
  );

interface KeyRow {
  readonly kid: string;
  readonly public_jwk: Record<string, unknown>;
  readonly retired_us: string | null;
  readonly refused_us: string | null;
}

async function rows(): Promise<KeyRow[]> {
  const found = await peer.pool.query(
    "select kid, public_jwk, retired_us, refused_us from identity_key order by created_us",
  );
  return found.rows as KeyRow[];
}

async function reported(): Promise<string[]> {
  const found = await peer.pool.query(
    "select payload from outbox where subject = 'svc.v1.identity.key.changed' order by id",
  );
  return found.rows.map((row: { payload: Buffer }) => {
    const { key_id, change, actor } = JSON.parse(row.payload.toString()) as Record<string, string>;
    return `${key_id} ${change} by ${actor}`;
  });
}

describe("signing keys", () => {
  test("are made at the first start, published without their private part, and kept by a restart", async () => {
    const token = await newToken();
    const kid = kidOf(token);
    expect(await kids()).toEqual([kid]);
    const [row] = await rows();
    expect(row?.kid).toBe(kid);
    expect(row?.public_jwk).toMatchObject({ kty: "EC", crv: "P-256", alg: "ES256", use: "sig", kid });
    expect(Object.keys(row?.public_jwk ?? {})).not.toContain("d");
    expect(JSON.stringify(await published())).not.toContain('"d"');
    const issuer = await peer.pool.query("select issuer from identity_issuer");
    expect(issuer.rows).toEqual([{ issuer: fixture.issuer }]);
    await fixture.restart();
    expect(kidOf(await newToken())).toBe(kid);
    expect(await verifies(token)).toBe(true);
    expect(await reported()).toEqual([`${kid} made by service:gateway`]);
  });

  test("after overlap the new key signs and the old one is still published", async () => {
    const token = await newToken();
    const { keyId } = await fixture.provider().keys.rotate(admin, "after overlap");
    const next = await newToken();
    expect(kidOf(next)).toBe(keyId);
    expect(await kids()).toEqual([keyId, kidOf(token)]);
    expect([await verifies(token), await verifies(next)]).toEqual([true, true]);
    expect((await reported()).slice(-2)).toEqual([
      `${kidOf(token)} retired by operator:duty`,
      `${keyId} made by operator:duty`,
    ]);
    const [old, fresh] = await rows();
    expect([old?.retired_us === null, old?.refused_us, fresh?.retired_us]).toEqual([false, null, null]);
  });

  test("at once the old keys are refused, those on their way out included", async () => {
    const token = await newToken();
    const { keyId } = await fixture.provider().keys.rotate(admin, "at once");
    expect(await kids()).toEqual([keyId]);
    expect(await verifies(token)).toBe(false);
    const all = await rows();
    expect(all).toHaveLength(3);
    expect(all.filter((row) => row.refused_us === null).map((row) => row.kid)).toEqual([keyId]);
    expect(kidOf(await newToken())).toBe(keyId);
    await fixture.restart();
    expect(await kids()).toEqual([keyId]);
  });

  test("requests that are under way while keys are rotated are answered", async () => {
    const answers = Array.from({ length: 8 }, () => newToken());
    const rotations = [
      fixture.provider().keys.rotate(admin, "after overlap"),
      fixture.provider().keys.rotate(admin, "after overlap"),
    ];
    const [tokens] = await Promise.all([Promise.all(answers), ...rotations]);
    for (const token of tokens) expect(await verifies(token)).toBe(true);
  });

  test("are replaced by age, and forgotten when nothing that they signed can be alive", async () => {
    const ownDatabase = await testDatabase();
    const own = openPeer(ownDatabase.address.app);
    const real = systemClock();
    let aheadS = 0;
    const options = {
      store: own.store,
      secrets: memorySecrets(),
      secretsPrefix: "portcullis",
      clock: { now: () => (real.now() + aheadS * 1_000_000) as ReturnType<typeof real.now> },
      accessTokenS: 300,
      signingKeyS: 3_600,
    };
    const rings: string[][] = [];
    const opened = await openSigningKeys({ ...options, inForce: (ring) => rings.push(ring.map((key) => key.kid)) });
    const stored = async () =>
      (await own.pool.query("select kid, retired_us from identity_key order by created_us")).rows;
    try {
      aheadS = 3_599;
      await opened.tend();
      expect(rings).toHaveLength(1);
      aheadS = 3_601;
      await opened.tend();
      const [first = []] = rings;
      expect(rings.at(-1)).toHaveLength(2);
      expect(rings.at(-1)?.[1]).toBe(first[0]);
      expect(await stored()).toHaveLength(2);
      aheadS += 300;
      await opened.tend();
      expect(await stored()).toHaveLength(2);
      aheadS += 61;
      await opened.tend();
      expect(rings.at(-1)).toHaveLength(1);
      expect(await stored()).toHaveLength(1);
      // Another process rotates; this one takes it over.
      const other = await openSigningKeys({ ...options, inForce: () => undefined });
      const { keyId } = await other.rotate(admin, "at once");
      await opened.tend();
      expect(rings.at(-1)?.[0]).toBe(keyId);
      const changes = await own.pool.query(
        "select payload from outbox where subject = 'svc.v1.identity.key.changed' order by id",
      );
      expect(changes.rows.map((row: { payload: Buffer }) => JSON.parse(row.payload.toString()).change)).toEqual([
        "made",
        "retired",
        "made",
        "refused",
        "retired",
        "refused",
        "made",
      ]);
    } finally {
      await own.close();
      await ownDatabase.drop();
    }
  });

  test("two processes that start at once share one key", async () => {
    const ownDatabase = await testDatabase();
    const own = openPeer(ownDatabase.address.app);
    const options = {
      store: own.store,
      secrets: memorySecrets(),
      secretsPrefix: "portcullis",
      clock: systemClock(),
      accessTokenS: 300,
      signingKeyS: 3_600,
    };
    try {
      const last: string[][] = [[], []];
      await Promise.all(
        last.map((_none, index) =>
          openSigningKeys({
            ...options,
            inForce: (ring) => {
              last[index] = ring.map((key) => key.kid);
            },
          }),
        ),
      );
      expect(last[0]).toHaveLength(1);
      expect(last[1]).toEqual(last[0]);
      expect((await own.pool.query("select kid from identity_key")).rows).toEqual([{ kid: last[0]?.[0] }]);
    } finally {
      await own.close();
      await ownDatabase.drop();
    }
  });
});
