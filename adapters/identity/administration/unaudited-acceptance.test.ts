// 28.6: an admin asks for a change without an event to be accepted, somebody else signs, and whoever is part of such a change does neither.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Identity, NamedAction } from "../../../ports/identity.ts";
import type { IdentityRequests } from "../../../ports/operators.ts";
import { type IdentityFixture, openIdentityFixture, person, putOperator } from "../../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { systemRandom } from "../../system/random.ts";
import { createTokenChanges } from "../service-tokens.ts";
import { makeProof } from "../step-up-proofs.ts";
import { createCosignRequests } from "./cosign-requests.ts";
import { lockPeople } from "./operator-rows.ts";
import { createPeopleChanges } from "./people-changes.ts";

const random = systemRandom();
const [anna, bert, mallory] = [person("anna"), person("bert"), person("mallory")];
let database: TestDatabase;
let fixture: IdentityFixture;
let requests: IdentityRequests;
let changeId = "";

beforeEach(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
  await putOperator(fixture, { name: "anna", passwordHash: "x", roles: ["admin"] });
  await putOperator(fixture, { name: "bert", passwordHash: "x", roles: ["risk_officer"] });
  // These two are there as if their events had been published.
  await fixture.rows(
    "insert into guarded_row (of_table, row_id, digest, ends_us) select of_table, row_id, digest, ends_us from guard_differences()",
  );
  await putOperator(fixture, { name: "mallory", passwordHash: "x", roles: ["admin"] });
  const found = await fixture.rows(
    "select row_id, guard_change_id(of_table, row_id, found, digest) as id from guard_differences()",
  );
  expect(found).toEqual([{ row_id: "mallory", id: expect.any(String) }]);
  changeId = String(found[0]?.["id"]);
  const changes = createPeopleChanges({ issuer: () => anna.issuer, sessionS: 43_200 });
  const hashing = { hash: async () => "x", verify: async () => true };
  requests = createCosignRequests({
    ...fixture,
    random,
    hashing,
    people: lockPeople,
    changes,
    tokens: createTokenChanges({ random }),
  });
});
afterEach(async () => {
  await fixture.close();
  await database.drop();
});

async function proofFor(identity: Identity, named: NamedAction): Promise<string> {
  const made = await fixture.store.transactSql("test", (_unit, sql) =>
    makeProof(sql, random, { identity, named, at: fixture.clock.now() }),
  );
  return made.proof;
}

async function ask(identity: Identity, id = changeId, reason = "made by hand") {
  const proof = await proofFor(identity, { action: "AcceptUnauditedChange", parameters: { change_id: id } });
  return requests.requestAcceptance({ identity, reason, proof }, id);
}

async function sign(identity: Identity, id: string) {
  const proof = await proofFor(identity, { action: "CosignUnauditedChange", parameters: { request_id: id } });
  return requests.cosignAcceptance({ identity, proof }, id);
}

async function requestId(): Promise<string> {
  const asked = await ask(anna);
  return asked.ok ? asked.value.request.requestId : JSON.stringify(asked);
}

const denial = (code: string) => ({ ok: false, denial: { code, reason: expect.stringMatching(/\.$/) } });

describe("28.6: accepting a change without an event", () => {
  it("is asked for by an admin and signed by somebody who need not be one; neither does it alone", async () => {
    const id = await requestId();
    expect(await sign(anna, id)).toMatchObject(denial("IDENTITY_SAME_PERSON"));
    expect(await sign(bert, id)).toMatchObject({ ok: true, value: { cosignedBy: "operator:bert" } });
    const [row] = await fixture.rows("select operation, target, parameters, outcome, ended_by from identity_request");
    expect(row).toMatchObject({ target: "operator:mallory", outcome: "signed", ended_by: "operator:bert" });
    expect(await sign(bert, id)).toMatchObject(denial("IDENTITY_REQUEST_VOID"));
  });

  it("is not asked for by anybody else, without a reason or a proof, or for a change that is not there", async () => {
    expect(await ask(bert)).toMatchObject(denial("OPERATOR_NOT_ADMIN"));
    expect(await ask(anna, changeId, " ")).toMatchObject(denial("IDENTITY_REASON_MISSING"));
    expect(await ask(anna, "0000000000000000")).toMatchObject(denial("UNAUDITED_CHANGE_UNKNOWN"));
    const unproved = await requests.requestAcceptance({ identity: anna, reason: "r", proof: undefined }, changeId);
    expect(unproved).toMatchObject(denial("STEP_UP_REQUIRED"));
    expect(await fixture.rows("select from identity_request")).toEqual([]);
  });

  it("is neither asked for nor signed by who was put in that way", async () => {
    expect(await ask(mallory)).toMatchObject(denial("UNAUDITED_CHANGE_OWN"));
    expect(await sign(mallory, await requestId())).toMatchObject(denial("UNAUDITED_CHANGE_OWN"));
    // A second factor that was put in counts as well.
    await fixture.rows("insert into second_factor (subject, actor, secret_sealed) values ($1, 'operator:bert', 'x')", [
      bert.subject,
    ]);
    expect(await sign(bert, await requestId())).toMatchObject(denial("UNAUDITED_CHANGE_OWN"));
  });

  it("gives no signature under anything else that an admin asked for", async () => {
    await fixture.rows(
      `insert into identity_request (request_id, operation, target, parameters, requested_by, subject, reason, made_us, expires_us)
       values ('11111111-0000', 'ChangeOperatorRoles', 'operator:bert', '{"name":"bert","roles":["admin"]}', 'operator:anna', 'x', 'r', 1, $1)`,
      [fixture.clock.now() + 1_000_000],
    );
    expect(await sign(bert, "11111111-0000")).toMatchObject(denial("IDENTITY_REQUEST_UNKNOWN"));
  });
});
