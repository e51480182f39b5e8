// People, requests and signatures on the real database: what two admins do, what one may not, and what a disabled person keeps.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Identity, NamedAction, Outcome } from "../../../ports/identity.ts";
import type { AskedBy, IdentityRequests, OperatorsAdmin } from "../../../ports/operators.ts";
import {
  type IdentityFixture,
  openIdentityFixture,
  person,
  putOperator,
  quiet,
} from "../../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { systemRandom } from "../../system/random.ts";
import { systemTimers } from "../../system/timers.ts";
import { createSessions } from "../logins/sessions.ts";
import { createOperators } from "../operators.ts";
import { createServiceTokens, createTokenChanges } from "../service-tokens.ts";
import { makeProof } from "../step-up-proofs.ts";
import { createTokenUses } from "../verifier/token-uses.ts";
import { createCosignRequests } from "./cosign-requests.ts";
import { startEndingTokens } from "./ending-tokens.ts";
import { makeLocalAdmin } from "./local-admin.ts";
import { lockPeople } from "./operator-rows.ts";
import { createOperatorsAdmin } from "./operators-admin.ts";
import { createPeopleChanges } from "./people-changes.ts";

const random = systemRandom();
const timers = systemTimers();
const [anna, bert] = [person("anna"), person("bert")];
const issuer = () => anna.issuer;
/** Argon2 is its own test's business, and slow. */
const hashing = {
  hash: async (password: string) => `hash of ${password}`,
  verify: async (hash: string, password: string) => hash === `hash of ${password}`,
};

let database: TestDatabase;
let fixture: IdentityFixture;

beforeEach(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
  for (const name of ["anna", "bert"]) {
    await putOperator(fixture, { name, passwordHash: `hash of ${name}`, roles: ["operator", "admin"] });
  }
});

afterEach(async () => {
  await fixture.close();
  await database.drop();
});

function opened(isProduction = true, store = fixture.store) {
  const changes = createPeopleChanges({ issuer, sessionS: 43_200 });
  const tokenChanges = createTokenChanges({ random });
  const people = lockPeople;
  const shared = { ...fixture, store, random, hashing, people, isProduction, isExternal: false };
  return {
    operators: createOperatorsAdmin({ ...shared, changes }),
    requests: createCosignRequests({ ...shared, changes, tokens: tokenChanges }),
    tokens: createServiceTokens({ ...shared, changes: tokenChanges }),
    people: createOperators({ ...shared, timers }),
  };
}

async function proofFor(identity: Identity, named: NamedAction): Promise<string> {
  const made = await fixture.store.transactSql("test", (_unit, sql) =>
    makeProof(sql, random, { identity, named, at: fixture.clock.now() }),
  );
  return made.proof;
}

async function asked(identity: Identity, named: NamedAction, reason = "because"): Promise<AskedBy> {
  return { identity, reason, proof: await proofFor(identity, named) };
}

const added = { name: "erika", roles: ["operator"] };
const adding: NamedAction = { action: "AddOperator", parameters: added };
const disabling = (name: string): NamedAction => ({
  action: "DisableOperator",
  parameters: { name, keep_tokens: false },
});
const signing = (id: string): NamedAction => ({ action: "CosignIdentityRequest", parameters: { request_id: id } });

async function addErika(operators: OperatorsAdmin): Promise<{ requestId: string; half: string }> {
  const outcome = await operators.add(await asked(anna, adding), added);
  if (!outcome.ok || !("request" in outcome.value)) throw new Error(JSON.stringify(outcome));
  return { requestId: outcome.value.request.requestId, half: outcome.value.passwordHalf ?? "" };
}

async function disable(operators: OperatorsAdmin, by: Identity, name: string): Promise<Outcome<object>> {
  return operators.disable(await asked(by, disabling(name)), { name, keepTokens: false });
}

async function sign(requests: IdentityRequests, by: Identity, id: string) {
  return requests.cosign({ identity: by, proof: await proofFor(by, signing(id)) }, id);
}

const denial = (code: string) => ({ ok: false, denial: { code, reason: expect.stringMatching(/\.$/) } });
const published = async (...names: string[]) =>
  (await fixture.events())
    .filter(({ subject }) => names.some((name) => subject === `svc.v1.${name}`))
    .map(({ payload }) => payload);
const stateOf = async (name: string) =>
  (await fixture.rows("select roles, disabled_us is not null as disabled from operator where name = $1", [name]))[0];

describe("in production", () => {
  it("one asks and another signs; each is told half of the password, and the record names both", async () => {
    const { operators, requests, people } = opened();
    const { requestId, half } = await addErika(operators);
    expect(await stateOf("erika")).toBeUndefined();
    expect(await requests.list()).toMatchObject([
      { requestId, target: "operator:erika", requestedBy: "operator:anna" },
    ]);
    const signed = await sign(requests, bert, requestId);
    if (!signed.ok) throw new Error(signed.denial.reason);
    const second = signed.value.passwordHalf ?? "";
    expect(await people.authenticate("erika", `${half}-${second}`, "::1")).toMatchObject({ ok: true, name: "erika" });
    for (const wrong of [half, second, `${second}-${half}`]) {
      expect(await people.authenticate("erika", wrong, "::1")).toMatchObject({ ok: false });
    }
    expect(await published("identity.operator.changed")).toMatchObject([
      {
        operator: "operator:erika",
        change: "made",
        actor: "operator:anna",
        cosigned_by: "operator:bert",
        reason: "because",
      },
    ]);
    expect(await published("identity.request.ended")).toMatchObject([{ outcome: "signed", ended_by: "operator:bert" }]);
    expect(await requests.list()).toEqual([]);
    expect(await fixture.rows("select sealed from identity_request")).toEqual([{ sealed: null }]);
  });

  it("nobody signs their own request, nor twice, nor too late, nor without a fresh proof of their own", async () => {
    const { operators, requests } = opened();
    const first = await addErika(operators);
    expect(await sign(requests, anna, first.requestId)).toMatchObject(denial("IDENTITY_SAME_PERSON"));
    const proof = await proofFor(bert, signing(first.requestId));
    expect(await requests.cosign({ identity: bert, proof: undefined }, first.requestId)).toMatchObject({
      denial: { code: "STEP_UP_REQUIRED" },
    });
    const annas = await proofFor(anna, signing(first.requestId));
    expect(await requests.cosign({ identity: bert, proof: annas }, first.requestId)).toMatchObject({
      denial: { code: "STEP_UP_WRONG" },
    });
    expect(await requests.cosign({ identity: bert, proof }, first.requestId)).toMatchObject({ ok: true });
    expect(await requests.cosign({ identity: bert, proof }, first.requestId)).toMatchObject(
      denial("IDENTITY_REQUEST_VOID"),
    );
    expect(await sign(requests, bert, "00000000")).toMatchObject(denial("IDENTITY_REQUEST_UNKNOWN"));
    const changing: NamedAction = { action: "ChangeOperatorRoles", parameters: { name: "bert", roles: ["viewer"] } };
    const late = await operators.changeRoles(await asked(anna, changing), { name: "bert", roles: ["viewer"] });
    if (!late.ok || !("request" in late.value)) throw new Error("not requested");
    fixture.clock.pass(24 * 3_600_000);
    expect(await sign(requests, bert, late.value.request.requestId)).toMatchObject(denial("IDENTITY_REQUEST_EXPIRED"));
    expect(await stateOf("bert")).toEqual({ roles: ["operator", "admin"], disabled: false });
    const refused = await published("operations.operator.attempted");
    expect(refused.map(({ code }) => code)).toEqual([
      "IDENTITY_SAME_PERSON",
      "IDENTITY_REQUEST_VOID",
      "IDENTITY_REQUEST_UNKNOWN",
      "IDENTITY_REQUEST_EXPIRED",
    ]);
  });

  it("asking takes a reason and the second factor, and what cannot be is refused before a proof is used", async () => {
    const { operators } = opened();
    expect(await operators.add({ identity: anna, reason: "r", proof: undefined }, added)).toMatchObject({
      denial: { code: "STEP_UP_REQUIRED" },
    });
    const by = await asked(anna, adding);
    expect(await operators.add({ ...by, reason: " " }, added)).toMatchObject(denial("IDENTITY_REASON_MISSING"));
    expect(await operators.add(by, { name: "erika", roles: ["root"] })).toMatchObject(denial("OPERATOR_ROLE_UNKNOWN"));
    expect(await operators.add(by, added)).toMatchObject({ ok: true });
    expect(await operators.add(by, added), "the proof again").toMatchObject({ denial: { code: "STEP_UP_WRONG" } });
  });

  it("of two who sign at once one does it, once", async () => {
    const one = opened();
    const other = opened(true, fixture.another());
    await putOperator(fixture, { name: "carl", passwordHash: "x", roles: ["admin"] });
    const { requestId } = await addErika(one.operators);
    const outcomes = await Promise.all([
      sign(one.requests, bert, requestId),
      sign(other.requests, person("carl"), requestId),
    ]);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await published("identity.operator.changed")).toHaveLength(1);
  });

  it("whoever is back after being disabled has a new password and no factor", async () => {
    const { operators, requests, people } = opened();
    await fixture.rows(
      "insert into second_factor (subject, actor, secret_sealed, enrolled_us) values ($1, 'operator:bert', 'x', 1)",
      [bert.subject],
    );
    await putOperator(fixture, { name: "carl", passwordHash: "x", roles: ["admin"] });
    expect(await disable(operators, anna, "bert")).toMatchObject({ ok: true });
    const back = { name: "bert", roles: ["viewer"] };
    const outcome = await operators.add(await asked(anna, { action: "AddOperator", parameters: back }), back);
    if (!outcome.ok || !("request" in outcome.value)) throw new Error("not requested");
    const signed = await sign(requests, person("carl"), outcome.value.request.requestId);
    expect(signed).toMatchObject({ ok: true, value: { operator: { name: "bert", roles: ["viewer"] } } });
    expect(await people.authenticate("bert", "bert", "::1")).toMatchObject({ ok: false });
    expect(await fixture.rows("select 1 from second_factor")).toEqual([]);
    expect(await published("identity.operator.changed")).toMatchObject([
      { change: "disabled" },
      { change: "restored" },
    ]);
  });
});

describe("disabling", () => {
  it("ends logins, proofs, requests and tokens given alone, and the name logs in no more", async () => {
    const { operators, requests, tokens, people } = opened();
    const reading = { name: "probe", operations: ["ReadMetrics"] as const, expiresInS: 3_600 };
    const parameters = { name: "probe", operations: ["ReadMetrics"], expires_in_s: 3_600 };
    const proof = await proofFor(bert, { action: "IssueServiceToken", parameters });
    const token = await tokens.issue(bert, reading, proof);
    expect(token).toMatchObject({ ok: true, value: { name: "probe" } });
    const byBert = await operators.add(await asked(bert, adding), added);
    if (!byBert.ok || !("request" in byBert.value)) throw new Error("not requested");
    const kept = await proofFor(bert, disabling("anna"));
    fixture.clock.pass(1_000);
    expect(await disable(operators, anna, "bert")).toMatchObject({
      ok: true,
      value: { revokedTokens: [expect.any(String)] },
    });
    expect(await people.authenticate("bert", "bert", "::1")).toMatchObject({ ok: false });
    expect(await people.find("bert")).toBeUndefined();
    const revoked = await fixture.rows("select id from identity_revocation where kind = 'subject' order by id");
    expect(revoked.map(({ id }) => id)).toEqual([bert.subject, "operator:bert"]);
    expect(await fixture.rows("select 1 from service_token where revoked_us is null")).toEqual([]);
    expect(await requests.list()).toEqual([]);
    expect(await sign(requests, anna, byBert.value.request.requestId)).toMatchObject(denial("IDENTITY_REQUEST_VOID"));
    const late = { identity: bert, reason: "too late", proof: kept };
    expect(await operators.disable(late, { name: "anna", keepTokens: false })).toMatchObject(
      denial("OPERATOR_DISABLED"),
    );
    expect(await sign(requests, bert, byBert.value.request.requestId)).toMatchObject({ ok: false });
    expect(await published("identity.operator.changed")).toMatchObject([
      { operator: "operator:bert", change: "disabled", actor: "operator:anna", reason: "because" },
    ]);
  });

  it("of two admins who disable each other at once one stays, and the last one always does", async () => {
    const one = opened();
    const other = opened(true, fixture.another());
    const outcomes = await Promise.all([disable(one.operators, anna, "bert"), disable(other.operators, bert, "anna")]);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    const active = await fixture.rows("select name from operator where disabled_us is null");
    expect(active).toHaveLength(1);
    const last = person(String(active[0]?.["name"]));
    expect(await disable(one.operators, last, last.name)).toMatchObject(denial("OPERATOR_LAST_ADMIN"));
  });

  it("ending the logins of a person voids what they asked for", async () => {
    const { operators, requests } = opened();
    const { requestId } = await addErika(operators);
    const sessions = createSessions({ ...fixture, issuer, sessionS: 43_200, everybodyIsKnown: true });
    await sessions.revokeAll(bert, "operator:anna", "a lost laptop");
    expect(await sign(requests, bert, requestId)).toMatchObject(denial("IDENTITY_REQUEST_VOID"));
  });
});

describe("outside production", () => {
  it("one admin with a second factor is enough", async () => {
    const { operators, requests, people, tokens } = opened(false);
    const outcome = await operators.add(await asked(anna, adding), added);
    if (!outcome.ok || "request" in outcome.value) throw new Error("not done");
    expect(await people.authenticate("erika", outcome.value.password ?? "", "::1")).toMatchObject({ ok: true });
    expect(await fixture.rows("select id from identity_revocation"), "a new person logs in at once").toEqual([]);
    expect(await requests.list()).toEqual([]);
    const parameters = { name: "acme-oms", operations: ["CheckOrder"], expires_in_s: 3_600 };
    const proof = await proofFor(anna, { action: "IssueServiceToken", parameters });
    const issued = await tokens.issue(anna, { name: "acme-oms", operations: ["CheckOrder"], expiresInS: 3_600 }, proof);
    expect(issued).toMatchObject({ ok: true, value: { token: expect.any(String) } });
  });
});

describe("machines' tokens in production", () => {
  const request = { name: "acme-oms", operations: ["CheckOrder"] as const, expiresInS: 40 * 86_400 };
  const named: NamedAction = {
    action: "IssueServiceToken",
    parameters: { name: "acme-oms", operations: ["CheckOrder"], expires_in_s: 40 * 86_400 },
  };

  it("that may change something are requested, and the signer is shown the token; so is a rotation", async () => {
    const { tokens, requests } = opened();
    const give = async (reason?: string) => tokens.issue(anna, request, await proofFor(anna, named), reason);
    expect(await give()).toMatchObject(denial("IDENTITY_REASON_MISSING"));
    const asking = await give("the desk's order management");
    if (!asking.ok || !("request" in asking.value)) throw new Error("not requested");
    expect(await tokens.list()).toEqual([]);
    const signed = await sign(requests, bert, asking.value.request.requestId);
    if (!signed.ok) throw new Error(signed.denial.reason);
    expect(signed.value.token).toMatchObject({
      name: "acme-oms",
      createdBy: "operator:anna",
      cosignedBy: "operator:bert",
    });
    const id = signed.value.token?.id ?? "";
    const rotation = { id, overlapS: 60, expiresInS: 3_600 };
    const parameters = { id, overlap_s: 60, expires_in_s: 3_600 };
    const proof = await proofFor(anna, { action: "RotateServiceToken", parameters });
    const turning = await tokens.rotate(anna, rotation, proof, "in time");
    if (!turning.ok || !("request" in turning.value)) throw new Error("not requested");
    expect(await sign(requests, bert, turning.value.request.requestId)).toMatchObject({
      ok: true,
      value: { token: { name: "acme-oms" } },
    });
    expect(await published("identity.token.changed")).toMatchObject([
      { change: "issued", actor: "operator:anna", cosigned_by: "operator:bert" },
      { change: "rotated", cosigned_by: "operator:bert" },
      { change: "issued", cosigned_by: "operator:bert" },
    ]);
  });

  it("live for 90 days at most, say when they were used, and alarm once 14 days before their end", async () => {
    const { tokens } = opened(false);
    const long = await tokens.issue(anna, { ...request, expiresInS: 90 * 86_400 + 1 }, "x");
    expect(long).toMatchObject(denial("SERVICE_TOKEN_LIFE"));
    const issued = await tokens.issue(anna, request, await proofFor(anna, named));
    if (!issued.ok || "request" in issued.value) throw new Error("not issued");
    const uses = createTokenUses({ ...fixture, timers, log: quiet });
    uses.note(issued.value.id);
    uses.note("0123456789abcdef01234567");
    await uses.close();
    expect(await tokens.list()).toMatchObject([{ lastUsedAt: fixture.clock.now() }]);
    const ending = startEndingTokens({ ...fixture, timers, log: quiet });
    fixture.clock.pass(26 * 86_400_000 - 1);
    expect(await ending.round()).toBe(0);
    fixture.clock.pass(1);
    expect(await ending.round()).toBe(1);
    await ending.close();
    const again = startEndingTokens({ ...fixture, timers, log: quiet });
    expect(await again.round(), "after a restart").toBe(0);
    await again.close();
    expect(await published("operations.alarm.raised")).toMatchObject([
      { code: "SERVICE_TOKEN_ENDING", facts: { about: issued.value.id }, sentence: expect.stringContaining("rotate") },
    ]);
  });

  it("a request that no admin signs is reported as expired", async () => {
    const { operators } = opened();
    await addErika(operators);
    fixture.clock.pass(24 * 3_600_000);
    const ending = startEndingTokens({ ...fixture, timers, log: quiet });
    await ending.round();
    await ending.round();
    await ending.close();
    expect(await published("identity.request.ended")).toMatchObject([{ outcome: "expired" }]);
  });
});

describe("the local command", () => {
  const make = (name: string) =>
    makeLocalAdmin({ ...fixture, random, hashing, sessionS: 43_200, account: "root" }, name);

  it("makes the first two and no third, and one again when the other is alone; the record says so", async () => {
    await fixture.rows("delete from operator");
    const { people, operators } = opened();
    const first = await make("anna");
    if (!first.ok) throw new Error(first.denial.reason);
    expect(await people.authenticate("anna", first.password, "::1")).toMatchObject({ ok: true, roles: ["admin"] });
    expect(await make("bert")).toMatchObject({ ok: true, others: ["anna"] });
    expect(await make("carl")).toMatchObject(denial("OPERATOR_EXISTS"));
    expect(await make("Not A Name")).toMatchObject({ ok: false });
    expect(await disable(operators, anna, "bert")).toMatchObject({ ok: true });
    expect(await make("bert")).toMatchObject({ ok: true, others: ["anna"] });
    expect(await published("identity.operator.changed")).toMatchObject([
      {
        operator: "operator:anna",
        change: "made",
        actor: "service:local-command",
        reason: expect.stringContaining("root"),
      },
      { operator: "operator:bert", change: "made" },
      { operator: "operator:bert", change: "disabled" },
      { operator: "operator:bert", change: "restored" },
    ]);
  });
});
