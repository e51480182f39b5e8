// The routes about a caller: how to log in, who they are, their second factor, their sessions and the signing keys.
import { describe, expect, it } from "vitest";
import type { DenialCode } from "../../../contracts/src/codes.ts";
import type { Route } from "../../../ports/http.ts";
import { ask, type Behaviour, duty, machine, nowForTests, testParts } from "../../../testkit/gateway/parts.ts";
import { identity, loginConfiguration, logOut, sessionsRevoke, signingKeysRotate } from "./identity.ts";
import { openApi } from "./open-api.ts";
import { secondFactorBegin, secondFactorConfirm, stepUp } from "./second-factor.ts";

const time = "2026-11-15T13:30:00.000000Z";

function fixture(make: (parts: ReturnType<typeof testParts>["parts"]) => Route, behaviour: Behaviour = {}) {
  const { parts, calls } = testParts(behaviour);
  return { route: make(parts), calls };
}

describe("login configuration", () => {
  it("tells a stranger where to log in and what time it is", async () => {
    const { route } = fixture(loginConfiguration);
    const answer = await ask(route, { identity: undefined });
    expect(answer).toEqual({
      status: 200,
      body: {
        resource: "http://127.0.0.1:8080",
        authorization_servers: ["http://127.0.0.1:8080/oidc"],
        bearer_methods_supported: ["header"],
        scopes_supported: ["openid", "profile", "offline_access"],
        client_id: "portcullis-cli",
        web_client_id: "portcullis-web",
        audience: "portcullis",
        scopes: "openid profile offline_access",
        development_login: true,
        time,
      },
    });
  });
});

describe("identity", () => {
  it("shows a person what the token proved and how the second factor stands", async () => {
    const status = { enrolledAt: nowForTests, recoveryCodesLeft: 9, lockedUntil: nowForTests };
    const answer = await ask(fixture(identity, { status }).route);
    expect(answer.body).toEqual({
      actor: "operator:duty",
      kind: "operator",
      name: "duty",
      roles: ["operator", "admin"],
      issuer: duty.issuer,
      issued_at: time,
      expires_at: "2026-11-15T13:35:00.000000Z",
      second_factor: { enrolled_at: time, recovery_codes_left: 9, locked_until: time },
    });
  });

  it("says null for what is not there, and a machine has no second factor", async () => {
    const none = { second_factor: { enrolled_at: null, recovery_codes_left: 0, locked_until: null } };
    expect((await ask(fixture(identity).route)).body).toMatchObject(none);
    expect((await ask(fixture(identity).route, { identity: machine })).body).toMatchObject({
      kind: "service",
      operations: ["CheckOrder"],
      second_factor: null,
    });
  });
});

describe("sessions", () => {
  it("logs the caller out and says when it holds everywhere", async () => {
    const { route, calls } = fixture(logOut);
    expect(await ask(route)).toEqual({ status: 200, body: { effective_within_ms: 2_000, device_logins: [] } });
    expect(calls).toEqual([["logOut", duty]]);
  });

  it("names the devices that go on, and takes the browser's dead cookie away", async () => {
    const device = {
      sessionId: "abc",
      program: "ctl on desk-7",
      address: "10.0.0.7",
      approvedAt: nowForTests,
      expiresAt: nowForTests,
    };
    const loggedOut = { deviceLogins: [device], endedCookie: { name: "portcullis_session", path: "/oidc" } };
    expect(await ask(fixture(logOut, { loggedOut }).route)).toEqual({
      status: 200,
      body: {
        effective_within_ms: 2_000,
        device_logins: [
          { session_id: "abc", program: "ctl on desk-7", address: "10.0.0.7", approved_at: time, expires_at: time },
        ],
      },
      headers: {
        "set-cookie": "portcullis_session=; Path=/oidc; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax",
      },
    });
  });

  it("ends every session of a named person", async () => {
    const { route, calls } = fixture(sessionsRevoke);
    expect(await ask(route, { body: { actor: "operator:relief", reason: "a lost laptop" } })).toEqual({
      status: 200,
      body: { effective_within_ms: 2_000, known: true },
    });
    expect(calls).toEqual([["revokeAll", duty, "operator:relief", "a lost laptop"]]);
  });

  it.each([
    undefined,
    null,
    [],
    "operator:relief",
    {},
    { actor: "relief" },
    { actor: "service:feed" },
    { actor: "operator:" },
    { actor: "operator:a\nb" },
    { actor: `operator:${"a".repeat(201)}` },
    { actor: 7 },
    { actor: "operator:relief", also: true },
  ])("refuses the body %j", async (body) => {
    const { route, calls } = fixture(sessionsRevoke);
    expect((await ask(route, { body })).status).toBe(400);
    expect(calls).toEqual([]);
  });
});

describe("signing keys", () => {
  it.each([
    ["after_overlap", "after overlap"],
    ["at_once", "at once"],
  ] as const)("rotates %s", async (retire, said) => {
    const { route, calls } = fixture(signingKeysRotate);
    const confirmation = retire === "at_once" ? { confirmation: "ROTATE" } : {};
    expect(await ask(route, { body: { retire, reason: "a drill", ...confirmation } })).toEqual({
      status: 200,
      body: { key_id: "key-2" },
    });
    expect(calls).toEqual([["rotateKeys", duty, said, "a drill"]]);
  });

  it("says whose business it is with an external issuer", async () => {
    const answer = await ask(fixture(signingKeysRotate, { externalIssuer: true }).route, {
      body: { retire: "at_once" },
    });
    expect(answer).toEqual({
      status: 409,
      body: {
        code: "SIGNING_KEYS_EXTERNAL",
        detail: "Tokens here are signed by https://login.example: rotate its keys there.",
      },
    });
  });

  it.each([{}, { retire: "later" }, { retire: true }, { retire: "at_once", force: true }])(
    "refuses the body %j",
    async (body) => {
      expect((await ask(fixture(signingKeysRotate).route, { body })).status).toBe(400);
    },
  );
});

describe("second factor", () => {
  it("begins without a factor, with a code, or with a recovery code", async () => {
    for (const [body, shown] of [
      [{}, undefined],
      [{ totp: "123456" }, { kind: "totp", code: "123456" }],
      [{ recovery_code: "abcd-efgh" }, { kind: "recovery_code", code: "abcd-efgh" }],
    ] as const) {
      const { route, calls } = fixture(secondFactorBegin);
      expect(await ask(route, { body })).toEqual({
        status: 201,
        body: { secret: "SECRET", uri: "otpauth://totp/x" },
      });
      expect(calls).toEqual([["begin", duty, shown]]);
    }
  });

  it("confirms with a code and tells the recovery codes", async () => {
    const { route, calls } = fixture(secondFactorConfirm);
    const answer = await ask(route, { body: { code: "123456" } });
    expect(answer).toEqual({ status: 200, body: { recovery_codes: ["aaaa-bbbb", "cccc-dddd"] } });
    expect(calls).toEqual([["confirm", duty, "123456"]]);
  });

  it("steps up for one action and its parameters, as they came", async () => {
    const { route, calls } = fixture(stepUp);
    const parameters = { name: "feed", operations: ["CheckOrder"], deep: { a: [1, null, { b: true }] } };
    const body = { action: "IssueServiceToken", parameters, totp: "123456" };
    expect(await ask(route, { body })).toEqual({ status: 201, body: { proof: "proof", expires_at: time } });
    const named = { action: "IssueServiceToken", parameters };
    expect(calls).toEqual([["stepUp", duty, named, { kind: "totp", code: "123456" }]]);
  });

  const deep = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
  const action = "IssueServiceToken";
  const totp = "123456";
  const bad: readonly [string, (parts: ReturnType<typeof testParts>["parts"]) => Route, unknown][] = [
    ["both factors at once", secondFactorBegin, { totp, recovery_code: "abcd-efgh" }],
    ["five digits", secondFactorBegin, { totp: "12345" }],
    ["seven digits", secondFactorBegin, { totp: "1234567" }],
    ["digits of another script", secondFactorBegin, { totp: "١٢٣٤٥٦" }],
    ["a code and a newline", secondFactorBegin, { totp: "123456\n" }],
    ["a number", secondFactorBegin, { totp: 123_456 }],
    ["null for a code", secondFactorBegin, { totp: null }],
    ["an endless recovery code", secondFactorBegin, { recovery_code: "a".repeat(65) }],
    ["an unknown key", secondFactorBegin, { totp, remember: true }],
    ["no body", secondFactorBegin, undefined],
    ["a list", secondFactorBegin, []],
    ["no code", secondFactorConfirm, {}],
    ["an empty code", secondFactorConfirm, { code: "" }],
    ["an unknown key", secondFactorConfirm, { code: totp, totp }],
    ["no factor", stepUp, { action, parameters: {} }],
    ["both factors", stepUp, { action, parameters: {}, totp, recovery_code: "abcd-efgh" }],
    ["no action", stepUp, { parameters: {}, totp }],
    ["an action that is not in the table", stepUp, { action: "toString", parameters: {}, totp }],
    ["no parameters", stepUp, { action, totp }],
    ["parameters that are a list", stepUp, { action, parameters: [], totp }],
    ["parameters nested too deep", stepUp, { action, parameters: { a: deep(9) }, totp }],
    ["parameters nested absurdly deep", stepUp, { action, parameters: { a: deep(200_000) }, totp }],
    ["too many parameters", stepUp, { action, parameters: { a: Array(300).fill(0) }, totp }],
    ["parameters too long", stepUp, { action, parameters: { a: "x".repeat(17_000) }, totp }],
    ["a parameter's name too long", stepUp, { action, parameters: { ["x".repeat(65)]: 1 }, totp }],
  ];
  it.each(bad)("refuses %s", async (_name, make, body) => {
    const { route, calls } = fixture(make);
    expect((await ask(route, { body })).status).toBe(400);
    expect(calls).toEqual([]);
  });

  it("has a bound on attempts wherever a code can be tried", () => {
    for (const make of [secondFactorBegin, secondFactorConfirm, stepUp]) {
      expect(fixture(make).route.attemptsPerMinuteMax).toBe(30);
    }
  });
});

describe("denials", () => {
  const goodStepUp = { action: "IssueServiceToken", parameters: {}, totp: "123456" };
  const denials: readonly [
    string,
    (parts: ReturnType<typeof testParts>["parts"]) => Route,
    object,
    DenialCode,
    number,
  ][] = [
    ["begin", secondFactorBegin, { totp: "123456" }, "SECOND_FACTOR_WRONG", 403],
    ["begin", secondFactorBegin, {}, "STEP_UP_REQUIRED", 403],
    ["begin", secondFactorBegin, { totp: "123456" }, "SECOND_FACTOR_LOCKED", 429],
    ["confirm", secondFactorConfirm, { code: "123456" }, "SECOND_FACTOR_WRONG", 403],
    ["confirm", secondFactorConfirm, { code: "123456" }, "SECOND_FACTOR_NOT_BEGUN", 409],
    ["confirm", secondFactorConfirm, { code: "123456" }, "SECOND_FACTOR_LOCKED", 429],
    ["step-up", stepUp, goodStepUp, "SECOND_FACTOR_MISSING", 409],
    ["step-up", stepUp, goodStepUp, "SECOND_FACTOR_WRONG", 403],
    ["step-up", stepUp, goodStepUp, "SECOND_FACTOR_LOCKED", 429],
  ];
  it.each(denials)("%s is a problem with the code's status", async (_name, make, body, code, status) => {
    const denial = { code, reason: "Because." };
    expect(await ask(fixture(make, { denial }).route, { body })).toEqual({
      status,
      body: { code, detail: "Because." },
    });
    const waiting = await ask(fixture(make, { denial, retryAfterS: 59.2 }).route, { body });
    expect(waiting.headers).toEqual({ "retry-after": "60" });
  });

  it("answers nobody who has not logged in, whatever the adapter let through", async () => {
    for (const make of [identity, logOut, secondFactorBegin, secondFactorConfirm, stepUp, sessionsRevoke]) {
      const body = { code: "123456" };
      const { route, calls } = fixture(make);
      const bodies = [body, {}, goodStepUp, { actor: "operator:relief" }];
      const fitting = bodies.find((one) => route.body === undefined || route.body.safeParse(one).success);
      await expect(ask(route, { identity: undefined, body: fitting })).rejects.toMatchObject({
        code: "UNAUTHENTICATED",
      });
      expect(calls).toEqual([]);
    }
  });
});

describe("OpenAPI", () => {
  it("is given as the composition made it", async () => {
    const { body } = await ask(fixture(openApi).route, { identity: undefined });
    expect(JSON.parse(String(body))).toMatchObject({ openapi: "3.1.0" });
  });
});
