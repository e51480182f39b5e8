// The routes of people and of signatures: what they hand on, what they answer for what is done and for what is only requested.
import { describe, expect, it } from "vitest";
import type { Route } from "../../../ports/http.ts";
import { ask, duty, request, testParts } from "../../../testkit/gateway/parts.ts";
import {
  identityRequestCosign,
  identityRequestsList,
  operatorAdd,
  operatorDisable,
  operatorFactorReset,
  operatorRoles,
  operatorsList,
} from "./operators.ts";

type Parts = ReturnType<typeof testParts>["parts"];

function fixture(make: (parts: Parts) => Route, behaviour: Parameters<typeof testParts>[0] = {}) {
  const { parts, calls } = testParts(behaviour);
  return { route: make(parts), calls };
}

const time = "2026-11-15T13:30:00.000000Z";
const erika = { name: "erika", roles: ["operator"], state: "active", development: false, created_at: time };
const asked = { identity: duty, reason: "why", proof: "proof" };
const proved = { reason: "why", step_up_proof: "proof" };
const reported = {
  request_id: request.requestId,
  operation: "ChangeOperatorRoles",
  target: "operator:erika",
  parameters: { name: "erika", roles: ["viewer"] },
  requested_by: "operator:anna",
  reason: "moved",
  requested_at: time,
  expires_at: "2026-11-16T13:30:00.000000Z",
};

describe("people", () => {
  it("are listed", async () => {
    expect(await ask(fixture(operatorsList).route)).toEqual({ status: 200, body: [erika] });
  });

  it("are added: what is done is 201 with the password", async () => {
    const { route, calls } = fixture(operatorAdd);
    const answer = await ask(route, { body: { name: "erika", roles: ["operator"], ...proved } });
    expect(answer).toEqual({ status: 201, body: { ...erika, password: "aaaa-bbbb" } });
    expect(calls).toEqual([["add", asked, { name: "erika", roles: ["operator"] }]]);
  });

  it("what is only requested is 202, with half of a password where there is one", async () => {
    const { route, calls } = fixture(operatorRoles);
    const answer = await ask(route, { params: { name: "erika" }, body: { roles: ["viewer"], ...proved } });
    expect(answer).toEqual({ status: 202, body: { ...reported, password_half: "aaaa" } });
    expect(calls).toEqual([["changeRoles", asked, { name: "erika", roles: ["viewer"] }]]);
    const reset = await ask(fixture(operatorFactorReset).route, { params: { name: "erika" }, body: proved });
    expect(reset).toEqual({ status: 202, body: reported });
  });

  it("are disabled, with their tokens unless they are kept", async () => {
    const { route, calls } = fixture(operatorDisable);
    const answer = await ask(route, { params: { name: "erika" }, body: proved });
    expect(answer).toMatchObject({ status: 200, body: { state: "disabled", disabled_by: "operator:duty" } });
    await ask(route, { params: { name: "erika" }, body: { ...proved, keep_tokens: true } });
    expect(calls.map((call) => call[2])).toEqual([
      { name: "erika", keepTokens: false },
      { name: "erika", keepTokens: true },
    ]);
  });

  it("a denial has the status of its code and its sentence", async () => {
    const denial = { code: "OPERATOR_LAST_ADMIN", reason: "duty is the last admin." } as const;
    const { route } = fixture(operatorDisable, { denial });
    expect(await ask(route, { params: { name: "duty" }, body: proved })).toEqual({
      status: 409,
      body: { code: "OPERATOR_LAST_ADMIN", detail: "duty is the last admin." },
    });
  });

  it.each([
    ["no reason", { name: "erika", roles: ["operator"] }],
    ["a name with a space", { name: "a b", roles: ["operator"], ...proved }],
    ["a name in capitals", { name: "Erika", roles: ["operator"], ...proved }],
    ["an unknown key", { name: "erika", roles: ["operator"], password: "mine", ...proved }],
  ])("adding refuses %s", async (_name, body) => {
    const { route, calls } = fixture(operatorAdd);
    expect((await ask(route, { body })).status).toBe(400);
    expect(calls).toEqual([]);
  });
});

describe("requests", () => {
  it("are listed, and signed by their id", async () => {
    expect(await ask(fixture(identityRequestsList).route)).toEqual({ status: 200, body: [reported] });
    const { route, calls } = fixture(identityRequestCosign);
    const answer = await ask(route, { params: { request_id: request.requestId }, body: { step_up_proof: "proof" } });
    expect(answer).toEqual({ status: 200, body: { ...reported, cosigned_by: "operator:duty", operator: erika } });
    expect(calls).toEqual([["cosign", { identity: duty, proof: "proof" }, request.requestId]]);
    expect((await ask(route, { params: { request_id: "a b" }, body: {} })).status).toBe(400);
  });
});
