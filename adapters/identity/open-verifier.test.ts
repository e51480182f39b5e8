// The verifier as a process opens it from its configuration: on its own store, and with a real issuer of somebody else's.
import { randomBytes } from "node:crypto";
import { SignJWT } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { valid } from "../../testkit/configuration/loading.ts";
import { memorySecrets } from "../../testkit/identity/test-secrets.ts";
import { noMetrics } from "../../testkit/no-telemetry.ts";
import { testDatabase } from "../../testkit/postgres.ts";
import { openPeer } from "../../testkit/postgres-fixture.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { startSecondIssuer } from "../../testkit/second-issuer.ts";
import { fixtureKey } from "../../testkit/verifier-fixtures.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { openVerifier } from "./open-verifier.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function opened(yaml: string) {
  const database = await testDatabase();
  const peer = openPeer(database.address.app);
  const timers = systemTimers();
  const { configuration } = valid(yaml);
  const it = await openVerifier({
    clock: systemClock(),
    timers,
    random: systemRandom(),
    log: quietLog,
    metrics: noMetrics,
    store: peer.store,
    secrets: memorySecrets(),
    configuration,
  });
  ends.push(async () => {
    await it.verifier.close();
    timers.release();
    await peer.close();
    await database.drop();
  });
  return { ...it, pool: peer.pool };
}

describe("open verifier", () => {
  it("embedded: takes access tokens of the announced issuer, and no ID token of it", async () => {
    const { verifier, feed, pool, platformToken } = await opened("{}");
    expect(verifier.health()).toEqual({ status: "ok" });
    const key = await fixtureKey("ES256");
    const nowS = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: "http://h/oidc",
      sub: "duty",
      aud: "portcullis",
      roles: ["admin"],
      iat: nowS,
      exp: nowS + 600,
    };
    const sign = (changes: object, typ = "at+jwt") =>
      new SignJWT({ ...claims, ...changes })
        .setProtectedHeader({ alg: "ES256", kid: key.kid, typ })
        .sign(key.privateKey);
    await expect(verifier.verify(await sign({}))).rejects.toMatchObject({ code: "IDENTITY_UNAVAILABLE" });
    await pool.query("insert into identity_issuer (issuer, updated_us) values ('http://h/oidc', 1)");
    await pool.query("insert into identity_key (kid, public_jwk, created_us) values ($1, $2, 1)", [
      key.kid,
      key.publicJwk,
    ]);
    await feed.refresh();
    expect(await verifier.verify(await sign({}))).toMatchObject({ subject: "http://h/oidc|duty", roles: ["admin"] });
    const idToken = { aud: "portcullis-cli" };
    for (const token of [sign(idToken, "JWT"), sign(idToken), sign({}, "JWT")]) {
      await expect(verifier.verify(await token)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    }
    expect((await verifier.verify(platformToken("oms"))).actor).toBe("service:oms");
  });

  // A new RSA key may take many seconds on a busy machine.
  it("external: takes what the issuer signed for our client, with roles from a nested claim and a map", {
    timeout: 120_000,
  }, async () => {
    const issuer = await startSecondIssuer({ accounts: [], algorithm: "RS256" });
    ends.push(issuer.stop);
    const { verifier } = await opened(`
identity:
  issuer: ${issuer.issuer}
  client_id: ${issuer.clientId}
  roles_claim: realm_access.roles
  name_claim: preferred_username
  role_names: { desk-operators: operator }
`);
    const person = { sub: "4711", preferred_username: "erika", realm_access: { roles: ["desk-operators", "admin"] } };
    const identity = await verifier.verify(await issuer.mint(person));
    expect(identity).toMatchObject({ actor: "operator:erika", subject: `${issuer.issuer}|4711`, roles: ["operator"] });
    expect(verifier.health()).toEqual({ status: "ok" });
    const refused = [
      issuer.mint({ ...person, aud: "portcullis" }),
      issuer.mint({ ...person, preferred_username: null }),
      issuer.mint({ ...person, azp: "another-client" }),
      issuer.mint({ ...person, azp: [issuer.clientId] }),
      issuer.mint({ ...person, aud: [issuer.clientId, "other"], azp: "other" }),
      issuer.mint({ ...person, events: { "http://schemas.openid.net/event/backchannel-logout": {} } }),
      issuer.mint(person, { typ: "logout+jwt" }),
    ];
    for (const token of refused) {
      await expect(verifier.verify(await token)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    }
    await verifier.verify(await issuer.mint({ ...person, azp: issuer.clientId }));
    const shared = await opened(`
identity:
  issuer: ${issuer.issuer}
  client_id: ${issuer.clientId}
  audience: the-platform
`);
    // An audience of its own is a resource that several clients may be let into.
    await shared.verifier.verify(await issuer.mint({ ...person, aud: "the-platform", azp: "another-client" }));
    await issuer.stop();
    await verifier.verify(await issuer.mint({ ...person, jti: randomBytes(4).toString("hex") }));
  });
});
