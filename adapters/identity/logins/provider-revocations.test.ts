// The embedded provider with the real list of ended logins behind it: what ended stays ended, whatever the provider is called meanwhile.
import { afterEach, beforeEach, expect, test } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import { openProviderFixture, type ProviderFixture } from "../../../testkit/identity/embedded-provider.ts";
import { person } from "../../../testkit/identity/operators.ts";
import { nextSecond } from "../../../testkit/next-second.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { systemClock } from "../../system/clock.ts";
import { createProviderRevocations } from "./provider-revocations.ts";
import { createSessions } from "./sessions.ts";

const client = { client_id: "portcullis-cli" };
const common = { clock: systemClock(), sessionS: 43_200 };
let database: TestDatabase;
let peer: PostgresPeer;
let fixture: ProviderFixture;

beforeEach(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
  fixture = await openProviderFixture(peer.store, {
    revocations: createProviderRevocations({ ...common, store: peer.store }),
  });
});

afterEach(async () => {
  await fixture?.close();
  await peer?.close();
  await database?.drop();
});

async function refreshTokenOf(name: string, password: string): Promise<string> {
  const grant_type = "urn:portcullis:params:oauth:grant-type:development";
  const answer = await fixture.post("/token", { ...client, grant_type, name, password });
  expect(answer.status).toBe(200);
  return answer.body["refresh_token"] ?? "";
}

const refresh = (token: string) =>
  fixture.post("/token", { ...client, grant_type: "refresh_token", refresh_token: token });

test("a person who was revoked stays out when the issuer's address changes, and comes in by logging in anew", async () => {
  const sessions = createSessions({
    ...common,
    everybodyIsKnown: true,
    store: peer.store,
    sealing: fixture.sealing,
    issuer: () => fixture.issuer,
  });
  const [ended, other] = [
    await refreshTokenOf("duty", "correct horse"),
    await refreshTokenOf("relief", "battery staple"),
  ];
  await nextSecond();
  await sessions.revokeAll(person("relief"), "operator:duty");
  await fixture.restart({ issuer: "http://127.0.0.1:1/oidc" });
  expect((await refresh(ended)).body).toMatchObject({ error: "invalid_grant" });
  expect((await refresh(other)).status).toBe(200);
  await nextSecond();
  expect((await refresh(await refreshTokenOf("duty", "correct horse"))).status).toBe(200);
});

test("of many uses at once of what was used up, none is an error of ours", async () => {
  const token = await refreshTokenOf("duty", "correct horse");
  expect((await refresh(token)).status).toBe(200);
  const answers = await Promise.all(Array.from({ length: 40 }, () => refresh(token)));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).not.toContain(200);
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
  expect(fixture.lines.filter((line) => line.includes("failed"))).toEqual([]);
  expect((await peer.pool.query("select kind from identity_revocation")).rows).toEqual([{ kind: "session" }]);
});

/** Of so many at once, a busy server leaves the last ones waiting for longer than the store waits for a connection: they come again. */
async function inTime(revoke: () => Promise<unknown> | undefined): Promise<unknown> {
  for (;;) {
    try {
      return await revoke();
    } catch (thrown) {
      if (!(thrown instanceof Fault && thrown.code === "STORE_UNAVAILABLE")) throw thrown;
    }
  }
}

test("a login that many end at once is ended once", async () => {
  const other = openPeer(database.address.app, { poolSize: 20 });
  try {
    const epoch = async () => (await peer.pool.query("select epoch::int as n from identity_epoch")).rows[0].n as number;
    const begin = await epoch();
    const both = [peer, other].map(({ store }) => createProviderRevocations({ ...common, store }));
    await both[0]?.revokeSession("one", "operator:duty");
    const moved = (await epoch()) - begin;
    const ends = await Promise.allSettled(
      Array.from({ length: 400 }, (_none, index) => inTime(() => both[index % 2]?.revokeSession("s", "operator:duty"))),
    );
    expect(ends.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(await epoch(), "nobody is woken for what is known already").toBe(begin + 2 * moved);
  } finally {
    await other.close();
  }
});
