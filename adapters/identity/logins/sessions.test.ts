// Ending logins: the right rows, for long enough, and an event.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Identity, Sessions } from "../../../ports/identity.ts";
import { type IdentityFixture, openIdentityFixture, person } from "../../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { systemRandom } from "../../system/random.ts";
import { savePending } from "../factor-rows.ts";
import { createSealing } from "../sealing.ts";
import { insertToken } from "../service-token-rows.ts";
import { makeProof } from "../step-up-proofs.ts";
import { isAnySessionRevoked, isSubjectRevoked } from "./revocation-rows.ts";
import { createSessions } from "./sessions.ts";

const duty = person("duty");
const sealing = createSealing(systemRandom().bytes(32), systemRandom());
let database: TestDatabase;
let fixture: IdentityFixture;
let sessions: Sessions;

beforeEach(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
  sessions = createSessions({
    store: fixture.store,
    clock: fixture.clock,
    sealing,
    issuer: () => duty.issuer,
    sessionS: 43_200,
    everybodyIsKnown: true,
  });
});

afterEach(async () => {
  await fixture.close();
  await database.drop();
});

const revocations = () =>
  fixture.rows("select kind, id, revoked_us, until_us, actor from identity_revocation order by kind, id");
const sessionRevoked = (id: string) =>
  fixture.store.transactSql("test", (_unit, sql) => isAnySessionRevoked(sql, [id]));
const subjectRevoked = (id: string, ms: number) =>
  fixture.store.transactSql("test", (_unit, sql) =>
    isSubjectRevoked(sql, id, plusMilliseconds(fixture.clock.now(), ms)),
  );

describe("sessions", () => {
  it("ends the session until nothing of it can be alive, and moves the epoch", async () => {
    const [before] = await fixture.rows("select epoch from identity_epoch");
    await sessions.logOut(duty);
    const now = fixture.clock.now();
    expect(await revocations()).toEqual([
      {
        kind: "session",
        id: "session-duty",
        revoked_us: String(now),
        until_us: String(plusMilliseconds(now, 43_200_000 + 3_600_000)),
        actor: "operator:duty",
      },
    ]);
    expect(await fixture.rows("select epoch from identity_epoch")).not.toEqual([before]);
    expect(await sessionRevoked("session-duty")).toBe(true);
    expect(await sessionRevoked("session-relief")).toBe(false);
    expect(await fixture.events()).toMatchObject([
      {
        subject: "svc.v1.identity.session.closed",
        payload: { principal: "operator:duty", session_id: "session-duty" },
      },
    ]);
    await sessions.logOut(duty);
    expect(await revocations(), "again changes nothing that matters").toHaveLength(1);
  });

  it("ends the token when there is no session, and leaves out an id that records cannot carry", async () => {
    const { sessionId: _none, ...rest } = duty;
    await sessions.logOut(rest);
    await sessions.logOut({ ...duty, sessionId: "{odd} id" });
    expect((await revocations()).map(({ kind, id }) => [kind, id])).toEqual([
      ["session", "{odd} id"],
      ["token", "jti-duty"],
    ]);
    for (const { payload } of await fixture.events()) expect(payload).not.toHaveProperty("session_id");
  });

  it("keeps an ended session refused for as long as the token that was shown could live", async () => {
    const expiresAt = plusMilliseconds(fixture.clock.now(), 30 * 86_400_000);
    await sessions.logOut({ ...duty, expiresAt });
    expect(await revocations()).toMatchObject([{ until_us: String(plusMilliseconds(expiresAt, 3_600_000)) }]);
  });

  it("lets a machine give its token up for good", async () => {
    const id = "ab".repeat(12);
    const at = fixture.clock.now();
    const row = {
      id,
      name: "acme",
      operations: ["CheckOrder"],
      development: false,
      createdBy: "operator:duty",
    } as const;
    const expiresAt = plusMilliseconds(at, 60_000);
    await fixture.store.transactSql("test", (_unit, sql) =>
      insertToken(sql, { ...row, createdAt: at, expiresAt }, "hash"),
    );
    const { sessionId: _none, ...rest } = duty;
    const machine: Identity = { ...rest, kind: "service", actor: "service:acme", name: "acme", tokenId: id };
    await sessions.logOut(machine);
    expect(await fixture.rows("select revoked_us, revoked_by from service_token")).toEqual([
      { revoked_us: String(at), revoked_by: "service:acme" },
    ]);
    await sessions.logOut(machine);
    const raised = (await fixture.events()).filter(({ subject }) => subject === "svc.v1.operations.alarm.raised");
    expect(
      raised.map(({ payload }) => payload),
      "once, also where it is asked twice",
    ).toMatchObject([
      { code: "SERVICE_TOKEN_ENDED", facts: { about: id }, sentence: expect.stringContaining("service:acme") },
    ]);
    const own: Identity = { ...machine, actor: "service:oms", name: "oms", tokenId: "platform:oms" };
    await expect(sessions.logOut(own)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("ends everything that was issued to a person before, and nothing after", async () => {
    const foreign = { subject: "https://login.example|00u1", actor: "operator:duty" };
    await fixture.store.transactSql("test", (_unit, sql) =>
      savePending(sql, foreign, Buffer.of(1), fixture.clock.now()),
    );
    expect(await sessions.revokeAll(person("relief"), "operator:duty")).toEqual({ known: true });
    expect((await revocations()).map(({ kind, id, actor }) => [kind, id, actor])).toEqual(
      [duty.subject, foreign.subject, "operator:duty"].map((id) => ["subject", id, "operator:relief"]),
    );
    expect(await subjectRevoked(duty.subject, -1)).toBe(true);
    expect(await subjectRevoked(duty.subject, 0)).toBe(false);
    expect(await subjectRevoked(person("relief").subject, -1)).toBe(false);
    fixture.clock.pass(5_000);
    await sessions.revokeAll(person("relief"), "operator:duty");
    expect(await subjectRevoked(duty.subject, -1), "a later one reaches further").toBe(true);
  });

  it("says when nobody has that name, and keeps the revocation all the same", async () => {
    expect(await sessions.revokeAll(person("relief"), "operator:nobody")).toEqual({ known: false });
    expect((await revocations()).map(({ id }) => id)).toContain("operator:nobody");
    const elsewhere = { issuer: () => "https://login.example", sessionS: 43_200, everybodyIsKnown: false };
    const foreign = createSessions({ store: fixture.store, clock: fixture.clock, sealing, ...elsewhere });
    expect(await foreign.revokeAll(person("relief"), "operator:nobody")).toEqual({ known: null });
  });

  it("takes the person's unused proofs along, and nobody else's", async () => {
    const named = { action: "ResumeHalt", parameters: {} } as const;
    for (const identity of [duty, person("relief")]) {
      await fixture.store.transactSql("test", (_unit, sql) =>
        makeProof(sql, systemRandom(), { identity, named, at: fixture.clock.now() }),
      );
    }
    await sessions.revokeAll(person("relief"), "operator:duty");
    expect(await fixture.rows("select subject from step_up_proof")).toEqual([{ subject: person("relief").subject }]);
  });

  it("refuses what names no person", async () => {
    for (const actor of ["duty", "service:oms", "operator:", "", "operator:a\nb", `operator:${"x".repeat(300)}`]) {
      await expect(sessions.revokeAll(duty, actor)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(await revocations()).toEqual([]);
  });
});
