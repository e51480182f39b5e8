// A proof opens what it was made for, once, and nothing else.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Denial } from "../../contracts/src/codes.ts";
import type { Identity, NamedAction } from "../../ports/identity.ts";
import { type IdentityFixture, openIdentityFixture, person } from "../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { systemRandom } from "../system/random.ts";
import { makeProof, redeemProof } from "./step-up-proofs.ts";

const duty = person("duty");
const issue: NamedAction = {
  action: "IssueServiceToken",
  parameters: { name: "acme", operations: ["CheckOrder", "GetEnvelope"], expires_in_s: 3_600 },
};

const { sessionId: _none, ...withoutSession } = duty;

let database: TestDatabase;
let fixture: IdentityFixture;
let proof: string;

beforeAll(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
});

afterAll(async () => {
  await fixture.close();
  await database.drop();
});

beforeEach(async () => {
  const made = await fixture.store.transactSql("test", (_unit, sql) =>
    makeProof(sql, systemRandom(), { identity: duty, named: issue, at: fixture.clock.now() }),
  );
  proof = made.proof;
  expect(made.expiresAt - fixture.clock.now()).toBe(120_000_000);
});

interface Shown {
  readonly identity?: Identity;
  readonly named?: NamedAction;
  readonly proof?: string | undefined;
  readonly store?: PostgresStore;
}

function redeem(shown: Shown = {}): Promise<Denial | undefined> {
  const { identity = duty, named = issue, store = fixture.store } = shown;
  return store.transactSql("test", ({ events }, sql) =>
    redeemProof(sql, events, {
      proof: "proof" in shown ? shown.proof : proof,
      identity,
      named,
      at: fixture.clock.now(),
    }),
  );
}

const wrong = { code: "STEP_UP_WRONG" };

describe("a proof", () => {
  it("opens its action once, and says so in an event", async () => {
    expect(await redeem()).toBeUndefined();
    expect(await redeem()).toMatchObject(wrong);
    const reported = (await fixture.events()).filter(({ subject }) => subject === "svc.v1.identity.stepup.redeemed");
    expect(reported).toHaveLength(1);
    expect(reported[0]?.payload).toMatchObject({ operator: "operator:duty", action: "IssueServiceToken" });
    expect(JSON.stringify(reported)).not.toContain(proof);
  });

  it("does not mind the order in which the parameters were written", async () => {
    const { name, operations, expires_in_s } = issue.parameters;
    expect(await redeem({ named: { ...issue, parameters: { expires_in_s, operations, name } } })).toBeUndefined();
  });

  it.each<[string, Shown, string]>([
    ["no proof", { proof: undefined }, "STEP_UP_REQUIRED"],
    ["an empty proof", { proof: "" }, "STEP_UP_WRONG"],
    ["an invented proof", { proof: `psu_${"A".repeat(43)}` }, "STEP_UP_WRONG"],
    ["a proof with a null in it", { proof: "psu_\u0000" }, "STEP_UP_WRONG"],
    ["another action", { named: { ...issue, action: "RotateServiceToken" } }, "STEP_UP_WRONG"],
    ["another person", { identity: person("relief") }, "STEP_UP_WRONG"],
    ["another session of the same person", { identity: { ...duty, sessionId: "other" } }, "STEP_UP_WRONG"],
    ["the same person without a session", { identity: withoutSession }, "STEP_UP_WRONG"],
    ["the same name at another issuer", { identity: person("duty", "https://login.example") }, "STEP_UP_WRONG"],
    [
      "another value",
      { named: { ...issue, parameters: { ...issue.parameters, expires_in_s: 3_601 } } },
      "STEP_UP_WRONG",
    ],
    [
      "a parameter more",
      { named: { ...issue, parameters: { ...issue.parameters, fund_id: "alpha" } } },
      "STEP_UP_WRONG",
    ],
    ["a parameter less", { named: { ...issue, parameters: { name: "acme" } } }, "STEP_UP_WRONG"],
    [
      "operations in another order",
      { named: { ...issue, parameters: { ...issue.parameters, operations: ["GetEnvelope", "CheckOrder"] } } },
      "STEP_UP_WRONG",
    ],
  ])("does not open with %s, and is still good afterwards", async (_what, shown, code) => {
    expect(await redeem(shown)).toMatchObject({ code });
    expect(await redeem()).toBeUndefined();
  });

  it("of somebody whose issuer knows no sessions opens for them", async () => {
    const made = await fixture.store.transactSql("test", (_unit, sql) =>
      makeProof(sql, systemRandom(), { identity: withoutSession, named: issue, at: fixture.clock.now() }),
    );
    expect(await redeem({ proof: made.proof })).toMatchObject(wrong);
    expect(await redeem({ proof: made.proof, identity: withoutSession })).toBeUndefined();
  });

  it("runs out after two minutes", async () => {
    fixture.clock.pass(119_999);
    const other = proof;
    expect(await redeem()).toBeUndefined();
    const late = await fixture.store.transactSql("test", (_unit, sql) =>
      makeProof(sql, systemRandom(), { identity: duty, named: issue, at: fixture.clock.now() }),
    );
    expect(late.proof).not.toBe(other);
    fixture.clock.pass(120_000);
    expect(await redeem({ proof: late.proof })).toMatchObject(wrong);
  });

  it("opens for exactly one of many who show it at once", async () => {
    const stores = [fixture.store, fixture.another()];
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_none, index) => redeem({ store: stores[index % 2] ?? fixture.store })),
    );
    expect(answers.filter((denial) => denial === undefined)).toHaveLength(1);
  });

  it("is good again when the transaction that redeemed it did not happen", async () => {
    const failing = fixture.store.transactSql("test", async ({ events }, sql) => {
      await redeemProof(sql, events, { proof, identity: duty, named: issue, at: fixture.clock.now() });
      throw new Error("planned");
    });
    await expect(failing).rejects.toThrow("planned");
    expect(await redeem()).toBeUndefined();
  });
});
