// Machines' tokens on the real database: issued with a proof, bounded, rotated with an overlap, revoked for good.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import type {
  Identity,
  IssuedToken,
  NamedAction,
  Outcome,
  Requested,
  ServiceTokens,
  TokenRequest,
} from "../../ports/identity.ts";
import { type IdentityFixture, openIdentityFixture, person } from "../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { systemRandom } from "../system/random.ts";
import { hashOf } from "./sealing.ts";
import { createServiceTokens, createTokenChanges } from "./service-tokens.ts";
import { makeProof } from "./step-up-proofs.ts";

const duty = person("duty");
const request: TokenRequest = { name: "acme-oms", operations: ["CheckOrder", "GetEnvelope"], expiresInS: 3_600 };

let database: TestDatabase;
let fixture: IdentityFixture;
let tokens: ServiceTokens;

beforeEach(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
  tokens = tokensOf(false);
});

afterEach(async () => {
  await fixture.close();
  await database.drop();
});

function tokensOf(isProduction: boolean): ServiceTokens {
  const options = { store: fixture.store, clock: fixture.clock, random: systemRandom(), liveMax: 3 };
  const changes = createTokenChanges(options);
  return createServiceTokens({ ...options, changes, isProduction, people: async () => "external" });
}

async function proofFor(named: NamedAction, identity: Identity = duty): Promise<string> {
  const made = await fixture.store.transactSql("test", (_unit, sql) =>
    makeProof(sql, systemRandom(), { identity, named, at: fixture.clock.now() }),
  );
  return made.proof;
}

const issuing = ({ name, operations, funds, natsLogins, expiresInS }: TokenRequest): NamedAction => ({
  action: "IssueServiceToken",
  parameters: {
    name,
    operations,
    ...(funds === undefined ? {} : { funds }),
    ...(natsLogins === undefined ? {} : { nats_logins: natsLogins }),
    expires_in_s: expiresInS,
  },
});

async function issue(of: TokenRequest = request): Promise<IssuedToken> {
  return whole(granted(await tokens.issue(duty, of, await proofFor(issuing(of)))));
}

async function rotate(id: string, overlapS: number, expiresInS = 7_200): Promise<Outcome<IssuedToken>> {
  const parameters = { id, overlap_s: overlapS, expires_in_s: expiresInS };
  const proof = await proofFor({ action: "RotateServiceToken", parameters });
  const outcome = await tokens.rotate(duty, { id, overlapS, expiresInS }, proof);
  return outcome.ok ? { ok: true, value: whole(outcome.value) } : outcome;
}

function whole(value: IssuedToken | Requested): IssuedToken {
  if ("request" in value) throw new Error("it was only requested");
  return value;
}

function granted<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.denial.code);
  return outcome.value;
}

const denial = (code: string) => ({ ok: false, denial: { code } });
const changes = async () =>
  (await fixture.events())
    .filter(({ subject }) => subject === "svc.v1.identity.token.changed")
    .map(({ payload }) => [payload["change"], payload["token_id"]]);

describe("issuing", () => {
  it("shows the token once, keeps its hash, and leaves an event", async () => {
    const issued = await issue();
    expect(issued.token).toMatch(new RegExp(`^pcs_${issued.id}_[A-Za-z0-9_-]{43}$`));
    expect(issued).toMatchObject({ name: "acme-oms", createdBy: "operator:duty", createdAt: fixture.clock.now() });
    expect(issued.expiresAt).toBe(plusMilliseconds(fixture.clock.now(), 3_600_000));
    const { token, ...rest } = issued;
    expect(await tokens.list()).toEqual([rest]);
    expect(await fixture.rows("select secret_hash, development from service_token")).toEqual([
      { secret_hash: hashOf(token), development: false },
    ]);
    expect(await changes()).toEqual([["issued", issued.id]]);
    const everything = await fixture.dump();
    expect(everything).toContain(issued.id);
    expect(everything).not.toContain(token);
    expect(everything).not.toContain(token.slice(-43));
  });

  it("needs a proof for exactly this token, and says in an event when it is another", async () => {
    expect(await tokens.issue(duty, request, undefined)).toMatchObject(denial("STEP_UP_REQUIRED"));
    const proof = await proofFor(issuing(request));
    const more: TokenRequest = { ...request, operations: [...request.operations, "RequestHalt"] };
    expect(await tokens.issue(duty, more, proof)).toMatchObject(denial("STEP_UP_WRONG"));
    expect(await tokens.issue(person("relief"), request, proof)).toMatchObject(denial("STEP_UP_WRONG"));
    expect(await tokens.list()).toEqual([]);
    granted(await tokens.issue(duty, request, proof));
    expect(await tokens.issue(duty, request, proof), "twice").toMatchObject(denial("STEP_UP_WRONG"));
    const refused = (await fixture.events()).filter(({ subject }) => subject === "svc.v1.identity.stepup.refused");
    expect(refused.map(({ payload }) => payload["operator"])).toEqual([
      "operator:duty",
      "operator:relief",
      "operator:duty",
    ]);
  });

  it("refuses what no token may be, before it looks at the proof", async () => {
    const proof = await proofFor(issuing(request));
    for (const bad of [
      { name: "" },
      { name: "two words" },
      { name: "x".repeat(129) },
      { operations: [] },
      { funds: [] },
      { funds: ["alpha", "alpha"] },
      { funds: ["two words"] },
      { funds: Array.from({ length: 65 }, (_, n) => `f${n}`) },
      { natsLogins: [] },
      { natsLogins: ["desk", "desk"] },
      { natsLogins: ["two.words"] },
      { natsLogins: ["riskengine"] },
      { natsLogins: Array.from({ length: 17 }, (_, n) => `l${n}`) },
      { name: "paper" },
      { name: "foreign-oms" },
      { name: "foreign.desk" },
      { operations: ["CheckOrder", "CheckOrder"] as const },
      { expiresInS: 59 },
      { expiresInS: 366 * 86_400 + 1 },
      { expiresInS: 60.5 },
      { expiresInS: Number.NaN },
    ]) {
      await expect(tokens.issue(duty, { ...request, ...bad }, proof)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    }
    for (const name of ["UpdateEnvelope", "LogIn", "ReadIdentity", "nothing"]) {
      const answer = await tokens.issue(duty, { ...request, operations: [name as "CheckOrder"] }, proof);
      expect(answer).toMatchObject(denial("SERVICE_TOKEN_OPERATION_UNKNOWN"));
    }
    expect(await tokens.issue(duty, request, proof)).toMatchObject({ ok: true });
  });

  it("stops at the bound, also for those who come at once, without using the proof up", async () => {
    await issue();
    const proofs = await Promise.all(Array.from({ length: 4 }, () => proofFor(issuing(request))));
    const answers = await Promise.all(proofs.map((proof) => tokens.issue(duty, request, proof)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(2);
    for (const answer of answers) if (!answer.ok) expect(answer).toMatchObject(denial("SERVICE_TOKEN_LIMIT"));
    const unused = await fixture.rows("select count(*)::int as n from step_up_proof where redeemed_us is null");
    expect(unused).toEqual([{ n: 2 }]);
    fixture.clock.pass(3_600_000);
    expect(await issue(), "those that ran out make room").toBeDefined();
  });
});

describe("rotating", () => {
  it("leaves the old one good for the overlap and links the new one", async () => {
    const old = await issue();
    fixture.clock.pass(1_000);
    const fresh = granted(await rotate(old.id, 600));
    expect(fresh).toMatchObject({ name: old.name, operations: old.operations });
    expect(fresh.token).not.toBe(old.token);
    expect(fresh.expiresAt).toBe(plusMilliseconds(fixture.clock.now(), 7_200_000));
    const listed = await tokens.list();
    expect(listed.map(({ id }) => id)).toEqual([fresh.id, old.id]);
    const page = async (after?: string) => (await tokens.list({ countMax: 1, after })).map(({ id }) => id);
    expect([await page(), await page(fresh.id), await page(old.id), await page("gone")]).toEqual([
      [fresh.id],
      [old.id],
      [],
      [],
    ]);
    expect(listed[1]).toMatchObject({ rotatedTo: fresh.id, expiresAt: plusMilliseconds(fixture.clock.now(), 600_000) });
    expect(await changes()).toEqual([
      ["issued", old.id],
      ["rotated", old.id],
      ["issued", fresh.id],
    ]);
    expect(await rotate(old.id, 0), "twice").toMatchObject(denial("SERVICE_TOKEN_NOT_ACTIVE"));
  });

  it("keeps the logins of NATS, which speak for one machine at a time", async () => {
    const ofOne: TokenRequest = { ...request, natsLogins: ["desk"] };
    const first = await issue(ofOne);
    const next = granted(await rotate(first.id, 60));
    expect([first.natsLogins, next.natsLogins]).toEqual([["desk"], ["desk"]]);
    const other: TokenRequest = { ...ofOne, name: "other", natsLogins: ["else", "desk"] };
    expect(await tokens.issue(duty, other, await proofFor(issuing(other)))).toMatchObject(
      denial("SERVICE_TOKEN_LOGIN_TAKEN"),
    );
    for (const { id } of [first, next]) granted(await tokens.revoke(duty, id));
    expect((await issue(other)).natsLogins).toEqual(["else", "desk"]);
    const told = (await fixture.events()).filter(({ subject }) => subject === "svc.v1.identity.token.changed");
    expect(told.at(-1)?.payload["nats_logins"]).toEqual(["else", "desk"]);
  });

  it("keeps the funds, and a proof for one fund opens no other", async () => {
    const ofOne: TokenRequest = { ...request, funds: ["harbor"] };
    const proof = await proofFor(issuing(ofOne));
    expect(await tokens.issue(duty, request, proof), "every fund").toMatchObject(denial("STEP_UP_WRONG"));
    expect(await tokens.issue(duty, { ...request, funds: ["alpha"] }, proof)).toMatchObject(denial("STEP_UP_WRONG"));
    const old = await issue(ofOne);
    const next = granted(await rotate(old.id, 60));
    expect(next.funds).toEqual(["harbor"]);
    expect((await tokens.list()).map(({ funds }) => funds)).toEqual([["harbor"], ["harbor"]]);
    const told = (await fixture.events()).filter(({ subject }) => subject === "svc.v1.identity.token.changed");
    expect(told.map(({ payload }) => payload["funds"])).toEqual([["harbor"], ["harbor"], ["harbor"]]);
  });

  it("never lengthens the old one's life, and needs its own proof", async () => {
    const old = await issue({ ...request, expiresInS: 60 });
    const named: NamedAction = {
      action: "RotateServiceToken",
      parameters: { id: old.id, overlap_s: 600, expires_in_s: 60 },
    };
    const proof = await proofFor(named);
    const other = { id: old.id, overlapS: 601, expiresInS: 60 };
    expect(await tokens.rotate(duty, other, proof)).toMatchObject(denial("STEP_UP_WRONG"));
    expect(await tokens.rotate(duty, other, undefined)).toMatchObject(denial("STEP_UP_REQUIRED"));
    granted(await tokens.rotate(duty, { ...other, overlapS: 600 }, proof));
    expect((await tokens.list()).find(({ id }) => id === old.id)?.expiresAt).toBe(old.expiresAt);
  });

  it("refuses unknown, revoked and expired ones, and bounds", async () => {
    const old = await issue();
    granted(await tokens.revoke(duty, old.id));
    for (const id of [old.id, "0".repeat(24), "\u0000", "x"]) {
      expect(await rotate(id, 0)).toMatchObject(denial("SERVICE_TOKEN_NOT_ACTIVE"));
    }
    const short = await issue({ ...request, expiresInS: 60 });
    fixture.clock.pass(60_000);
    expect(await rotate(short.id, 0)).toMatchObject(denial("SERVICE_TOKEN_NOT_ACTIVE"));
    for (const bad of [{ overlapS: -1 }, { overlapS: 7 * 86_400 + 1 }, { expiresInS: 1 }]) {
      const rotating = tokens.rotate(duty, { id: short.id, overlapS: 0, expiresInS: 60, ...bad }, undefined);
      await expect(rotating).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  it("at the bound works only without an overlap", async () => {
    const [first] = [await issue(), await issue(), await issue()];
    expect(await rotate(first.id, 1)).toMatchObject(denial("SERVICE_TOKEN_LIMIT"));
    expect(await rotate(first.id, 0)).toMatchObject({ ok: true });
  });
});

describe("revoking", () => {
  it("is for good, may be repeated, and tells once", async () => {
    const issued = await issue();
    const { revokedAt } = granted(await tokens.revoke(duty, issued.id));
    expect(revokedAt).toBe(fixture.clock.now());
    fixture.clock.pass(1_000);
    expect(granted(await tokens.revoke(person("relief"), issued.id)).revokedAt).toBe(revokedAt);
    expect(await changes()).toEqual([
      ["issued", issued.id],
      ["revoked", issued.id],
    ]);
    expect(await tokens.revoke(duty, "0".repeat(24))).toMatchObject(denial("SERVICE_TOKEN_NOT_ACTIVE"));
    expect(await tokens.revoke(duty, "\u0000")).toMatchObject(denial("SERVICE_TOKEN_NOT_ACTIVE"));
  });
});
