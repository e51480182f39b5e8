// The routes of machines' tokens: listed without a value, issued and rotated with one, and refused in every way that they can be.
import { describe, expect, it } from "vitest";
import type { DenialCode } from "../../../contracts/src/codes.ts";
import type { Route } from "../../../ports/http.ts";
import { ask, type Behaviour, duty, nowForTests, testParts, token } from "../../../testkit/gateway/parts.ts";
import { serviceTokenIssue, serviceTokenRevoke, serviceTokenRotate, serviceTokensList } from "./service-tokens.ts";

type Parts = ReturnType<typeof testParts>["parts"];

function fixture(make: (parts: Parts) => Route, behaviour: Behaviour = {}) {
  const { parts, calls } = testParts(behaviour);
  return { route: make(parts), calls };
}

const reported = {
  id: "k1",
  name: "feed",
  operations: ["CheckOrder", "GetEnvelope"],
  every_fund: true,
  created_by: "operator:duty",
  created_at: "2026-11-15T13:30:00.000000Z",
  expires_at: "2026-11-15T14:30:00.000000Z",
};

const request = { name: "feed", operations: ["CheckOrder"], expires_in_s: 3_600 };
const rotation = { overlap_s: 0, expires_in_s: 3_600 };
const params = { token_id: "k1" };

describe("list", () => {
  it("shows every token and never a value", async () => {
    const leaky = { ...token, token: "pcs_k1_value" };
    const ended = { ...token, id: "k0", revokedAt: nowForTests, rotatedTo: "k1" };
    const answer = await ask(fixture(serviceTokensList, { tokens: [leaky, ended] }).route);
    expect(answer).toEqual({
      status: 200,
      body: [reported, { ...reported, id: "k0", revoked_at: "2026-11-15T13:30:00.000000Z", rotated_to: "k1" }],
    });
  });

  it("is an empty list when there are none", async () => {
    expect((await ask(fixture(serviceTokensList, { tokens: [] }).route)).body).toEqual([]);
  });
});

describe("issue", () => {
  it("hands the request and the proof on, and tells the token once", async () => {
    const { route, calls } = fixture(serviceTokenIssue);
    const answer = await ask(route, { body: { ...request, reason: "a new desk", step_up_proof: "proof" } });
    expect(answer).toEqual({ status: 201, body: { ...reported, token: "pcs_k1_value" } });
    expect(calls).toEqual([
      ["issue", duty, { name: "feed", operations: ["CheckOrder"], expiresInS: 3_600 }, "proof", "a new desk"],
    ]);
  });

  it("hands on the funds, and says whether it is every fund", async () => {
    const { route, calls } = fixture(serviceTokenIssue);
    expect((await ask(route, { body: request })).body).toMatchObject({ every_fund: true });
    await ask(route, { body: { ...request, funds: ["harbor", "alpha"] } });
    expect(calls[1]?.[2]).toMatchObject({ funds: ["harbor", "alpha"] });
    const { route: list } = fixture(serviceTokensList, { tokens: [{ ...token, funds: ["harbor"] }] });
    expect((await ask(list)).body).toEqual([{ ...reported, funds: ["harbor"], every_fund: false }]);
  });

  it("leaves a missing proof to whoever redeems it", async () => {
    const { route, calls } = fixture(serviceTokenIssue);
    await ask(route, { body: request });
    expect(calls[0]?.slice(3)).toEqual([undefined, undefined]);
  });

  it.each([
    ["no body", undefined],
    ["no name", { ...request, name: undefined }],
    ["an empty name", { ...request, name: "" }],
    ["a name with a space", { ...request, name: "my feed" }],
    ["a name that would end a line", { ...request, name: "feed\n" }],
    ["a name of the platform's own", { ...request, name: "riskengine" }],
    ["a name too long", { ...request, name: "a".repeat(65) }],
    ["no operations", { ...request, operations: [] }],
    ["an operation that does not exist", { ...request, operations: ["Everything"] }],
    ["no funds", { ...request, funds: [] }],
    ["a fund twice", { ...request, funds: ["a", "a"] }],
    ["a fund that is no identifier", { ...request, funds: ["two words"] }],
    ["65 funds", { ...request, funds: Array.from({ length: 65 }, (_, n) => `f${n}`) }],
    ["an operation twice", { ...request, operations: ["CheckOrder", "CheckOrder"] }],
    ["operations that are text", { ...request, operations: "CheckOrder" }],
    ["a life of half a second", { ...request, expires_in_s: 0.5 }],
    ["a life too short", { ...request, expires_in_s: 59 }],
    ["a life too long", { ...request, expires_in_s: 366 * 86_400 + 1 }],
    ["a life as text", { ...request, expires_in_s: "3600" }],
    ["an endless proof", { ...request, step_up_proof: "p".repeat(513) }],
    ["an empty proof", { ...request, step_up_proof: "" }],
    ["an endless reason", { ...request, reason: "r".repeat(501) }],
    ["an unknown key", { ...request, roles: ["admin"] }],
  ])("refuses %s", async (_name, body) => {
    const { route, calls } = fixture(serviceTokenIssue);
    expect((await ask(route, { body })).status).toBe(400);
    expect(calls).toEqual([]);
  });
});

describe("rotate", () => {
  it("names the old token by the path", async () => {
    const { route, calls } = fixture(serviceTokenRotate);
    const answer = await ask(route, {
      params,
      body: { ...rotation, overlap_s: 60, reason: "yearly", step_up_proof: "proof" },
    });
    expect(answer).toEqual({ status: 201, body: { ...reported, token: "pcs_k1_value" } });
    expect(calls).toEqual([["rotate", duty, { id: "k1", overlapS: 60, expiresInS: 3_600 }, "proof", "yearly"]]);
  });

  it.each([
    ["an overlap below zero", params, { ...rotation, overlap_s: -1 }],
    ["an overlap of more than a week", params, { ...rotation, overlap_s: 7 * 86_400 + 1 }],
    ["no overlap", params, { expires_in_s: 3_600 }],
    ["no life", params, { overlap_s: 0 }],
    ["an unknown key", params, { ...rotation, id: "k2" }],
    ["an id that is no id", { token_id: "a b" }, rotation],
    ["an id too long", { token_id: "a".repeat(65) }, rotation],
    ["an empty id", { token_id: "" }, rotation],
  ])("refuses %s", async (_name, given, body) => {
    const { route, calls } = fixture(serviceTokenRotate);
    expect((await ask(route, { params: given, body })).status).toBe(400);
    expect(calls).toEqual([]);
  });
});

describe("revoke", () => {
  it("takes it away without a proof", async () => {
    const { route, calls } = fixture(serviceTokenRevoke);
    const answer = await ask(route, { params, query: { reason: "a leak" } });
    expect(answer).toEqual({ status: 200, body: { ...reported, revoked_at: "2026-11-15T13:30:00.000000Z" } });
    expect(calls).toEqual([["revoke", duty, "k1", "a leak"]]);
  });
});

describe("denials", () => {
  const cases: readonly [string, (parts: Parts) => Route, object, DenialCode, number][] = [
    ["issue", serviceTokenIssue, { body: request }, "STEP_UP_REQUIRED", 403],
    ["issue", serviceTokenIssue, { body: request }, "STEP_UP_WRONG", 403],
    ["issue", serviceTokenIssue, { body: request }, "SERVICE_TOKEN_OPERATION_UNKNOWN", 400],
    ["issue", serviceTokenIssue, { body: request }, "SERVICE_TOKEN_LIMIT", 409],
    ["rotate", serviceTokenRotate, { params, body: rotation }, "STEP_UP_REQUIRED", 403],
    ["rotate", serviceTokenRotate, { params, body: rotation }, "SERVICE_TOKEN_NOT_ACTIVE", 404],
    ["revoke", serviceTokenRevoke, { params, query: {} }, "SERVICE_TOKEN_NOT_ACTIVE", 404],
  ];
  it.each(cases)("%s is a problem with the code's status", async (_name, make, asked, code, status) => {
    const denial = { code, reason: "Because." };
    const answer = await ask(fixture(make, { denial }).route, asked);
    expect(answer).toEqual({ status, body: { code, detail: "Because." } });
  });

  it("answers nobody who has not logged in", async () => {
    for (const make of [serviceTokenIssue, serviceTokenRotate, serviceTokenRevoke]) {
      const { route, calls } = fixture(make);
      const body = make === serviceTokenIssue ? request : rotation;
      await expect(ask(route, { identity: undefined, params, body })).rejects.toMatchObject({
        code: "UNAUTHENTICATED",
      });
      expect(calls).toEqual([]);
    }
  });
});
