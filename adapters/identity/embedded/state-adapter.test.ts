// The state adapter by itself: what its header promises, on a real database.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as instant from "../../../contracts/src/instant.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { systemClock } from "../../system/clock.ts";
import { systemRandom } from "../../system/random.ts";
import { createSealing, hashOf } from "../sealing.ts";
import { loadLibrary } from "./load-library.ts";
import { createRequestScope } from "./request-scope.ts";
import { createStateAdapter, type StateOptions } from "./state-adapter.ts";

let database: TestDatabase;
let peer: PostgresPeer;
let options: StateOptions;
let aheadMs = 0;
const revoked: string[] = [];

beforeAll(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
  const real = systemClock();
  options = {
    store: peer.store,
    sealing: createSealing(systemRandom().bytes(32), systemRandom()),
    revocations: {
      isRevoked: async () => false,
      isAnySessionRevoked: async () => false,
      revokeSession: async (sessionId) => {
        revoked.push(sessionId);
      },
    },
    clock: { now: () => instant.plusMilliseconds(real.now(), aheadMs) },
    scope: createRequestScope(),
    library: await loadLibrary(),
  };
});

afterAll(async () => {
  await peer?.close();
  await database?.drop();
});

const adapter = (model: string) => createStateAdapter(model, options);

describe("the state adapter", () => {
  test("1: keeps hashes and sealed payloads, each sealed for its own row", async () => {
    await adapter("Session").upsert("cookie-1", { uid: "uid-1", accountId: "duty" }, 60);
    await adapter("DeviceCode").upsert("device-1", { userCode: "BCDFGHJK" }, 60);
    expect(await adapter("Session").find("cookie-1")).toEqual({ uid: "uid-1", accountId: "duty" });
    expect(await adapter("Session").findByUid("uid-1")).toEqual({ uid: "uid-1", accountId: "duty" });
    expect(await adapter("DeviceCode").findByUserCode("BCDFGHJK")).toEqual({ userCode: "BCDFGHJK" });
    expect(await adapter("Interaction").find("cookie-1")).toBeUndefined();
    const lines = await peer.pool.query(
      "select t::text as line, encode(payload_sealed, 'escape') as sealed from oidc_state t",
    );
    for (const { line, sealed } of lines.rows as { line: string; sealed: string }[]) {
      expect(`${line}${sealed}`).not.toMatch(/cookie-1|uid-1|duty|device-1|BCDFGHJK/);
    }
    await peer.pool.query("update oidc_state set id_hash = $1 where id_hash = $2", [
      hashOf("other"),
      hashOf("cookie-1"),
    ]);
    await expect(adapter("Session").find("other")).rejects.toThrow();
  });

  test("what has ended is not found, but a device is told that its code expired", async () => {
    await adapter("AuthorizationCode").upsert("code-2", { exp: 1 }, 60);
    await adapter("DeviceCode").upsert("device-2", { exp: 1 }, 60);
    aheadMs = 61_000;
    expect(await adapter("AuthorizationCode").find("code-2")).toBeUndefined();
    expect(await adapter("DeviceCode").find("device-2")).toEqual({ exp: 1 });
    aheadMs = 0;
  });

  test("2: of many who use one token, one does, and the grant ends with everything of it", async () => {
    await adapter("Grant").upsert("grant-3", { accountId: "duty" }, 60);
    await adapter("RefreshToken").upsert("refresh-3", { grantId: "grant-3" }, 60);
    await adapter("AuthorizationCode").upsert("code-3", { grantId: "grant-3" }, 60);
    const tries = Array.from({ length: 8 }, () => adapter("RefreshToken").consume("refresh-3"));
    const ends = await Promise.allSettled(tries);
    expect(ends.filter((end) => end.status === "fulfilled")).toHaveLength(1);
    expect(revoked).toContain(hashOf("grant-3"));
    for (const [model, id] of [
      ["Grant", "grant-3"],
      ["RefreshToken", "refresh-3"],
      ["AuthorizationCode", "code-3"],
    ] as const) {
      expect(await adapter(model).find(id)).toBeUndefined();
    }
    await expect(adapter("RefreshToken").consume("never-was")).rejects.toThrow("invalid_grant");
  });

  test("2: what is used up stays so when it is saved again", async () => {
    await adapter("AuthorizationCode").upsert("code-4", {}, 60);
    await adapter("AuthorizationCode").consume("code-4");
    await adapter("AuthorizationCode").upsert("code-4", {}, 60);
    expect((await adapter("AuthorizationCode").find("code-4"))?.consumed).toBeGreaterThan(0);
  });

  test("3: a grant opens and closes one session, reported once each", async () => {
    await options.scope.run("10.0.0.5", async () => {
      await adapter("Grant").upsert("grant-5", { accountId: "relief" }, 60);
      await adapter("Grant").upsert("grant-5", { accountId: "relief" }, 60);
      await adapter("Grant").destroy("grant-5");
      await adapter("Grant").destroy("grant-5");
    });
    const found = await peer.pool.query(
      "select subject, payload from outbox where key = 'operator:relief' order by id",
    );
    const events = found.rows.map((row: { subject: string; payload: Buffer }) => [
      row.subject,
      JSON.parse(row.payload.toString()) as Record<string, unknown>,
    ]);
    expect(events.map(([subject]) => subject)).toEqual([
      "svc.v1.identity.session.opened",
      "svc.v1.identity.session.closed",
    ]);
    expect(events[0]?.[1]).toMatchObject({
      session_id: hashOf("grant-5"),
      remote_address: "10.0.0.5",
      method: "password",
    });
  });

  test("4: a device's code is taken over once and answered once, also at the same moment", async () => {
    await adapter("DeviceCode").upsert("device-6", { userCode: "X" }, 60);
    const takes = Array.from({ length: 6 }, () =>
      adapter("DeviceCode").upsert("device-6", { userCode: "X", inFlight: true }, 60),
    );
    expect((await Promise.allSettled(takes)).filter((end) => end.status === "fulfilled")).toHaveLength(1);
    const answers = ["duty", "relief"].map((accountId) =>
      adapter("DeviceCode").upsert("device-6", { inFlight: true, accountId }, 60),
    );
    expect((await Promise.allSettled(answers)).filter((end) => end.status === "fulfilled")).toHaveLength(1);
  });
});
