// The gateway's routes on the real HTTP server, called through the real client: what a caller sees from outside, from the good
// answer to the last malformed body, and that nothing secret reaches the log.
import { afterEach, describe, expect, it } from "vitest";
import { type HttpServer, serveHttp } from "../../adapters/http/server.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Identity } from "../../ports/identity.ts";
import { heldFeed } from "../../testkit/gateway/market-feed.ts";
import { type Behaviour, duty, machine, testParts } from "../../testkit/gateway/parts.ts";
import { fetchOnNewConnection } from "../../testkit/http/fetch-on-new-connection.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { createClient } from "../client/src/index.ts";
import { gatewayRoutes } from "./index.ts";

const people: Readonly<Record<string, Identity>> = {
  "duty-token": duty,
  "viewer-token": { ...duty, actor: "operator:viewer", name: "viewer", roles: ["viewer"] },
  "machine-token": machine,
};

const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.drain(0);
});

async function fixture(behaviour: Behaviour = {}) {
  const { parts, calls } = testParts(behaviour);
  const { ports, lines } = testPorts();
  const anywhere = { host: "127.0.0.1", port: 0, environmentVariable: "PORTCULLIS_HTTP_PORT" };
  const server = await serveHttp({
    ...ports,
    verifier: {
      verify: async (token) => {
        const known = people[token];
        if (known === undefined) throw new Fault("UNAUTHENTICATED", "Log in again.", { retry: "never" });
        return known;
      },
    },
    listeners: { operator: anywhere, public: anywhere },
    routes: gatewayRoutes({
      ...parts,
      marketFeed: heldFeed(),
      log: ports.log,
      random: ports.random,
      timers: ports.timers,
      restarts: { restart: async () => ({ auditId: "", parts: [] }) },
      expectedServices: [],
      directory: { all: async () => ({}) },
      ownHealth: () => ({ status: "ok" }),
      isInsecure: false,
      clearText: [],
      collectMetrics: async () => ({}),
      ownMetrics: async () => "[]",
    }),
  });
  servers.push(server);
  const baseUrl = `http://127.0.0.1:${server.addresses.operator.port}`;
  const as = (token?: string) => createClient({ baseUrl, token });
  const raw = (path: string, body: string, type = "application/json") =>
    fetchOnNewConnection(`${baseUrl}${path}`, {
      method: "POST",
      headers: { authorization: "Bearer duty-token", "content-type": type },
      body,
    });
  return { baseUrl, as, raw, calls, lines };
}

const request = { name: "feed", operations: ["CheckOrder" as const], expiresInS: 3_600, stepUpProof: "the-proof" };

describe("the services' own procedures", () => {
  const held = { strategy_id: "alpha-momentum", fund_id: "alpha", tripped: false };

  it("are asked with the token that the caller showed, and under the request's id", async () => {
    const { as, calls, lines } = await fixture({ procedures: { "RiskEngine/ReleaseThrottle": held } });
    const answer = await as("duty-token").releaseThrottle({ strategyId: "alpha-momentum", reason: "fixed" });
    expect(answer).toEqual(held);
    expect(calls).toEqual([
      [
        "RiskEngine/ReleaseThrottle",
        { strategy_id: "alpha-momentum", reason: "fixed" },
        {
          bearer: "duty-token",
          requestId: expect.any(String),
          timeoutMs: 10_000,
          // The client makes a key of its own, so that it may try again.
          idempotency: {
            key: expect.stringMatching(/^.{16,}$/),
            path: "/v1/riskengine/throttles/:strategy_id/release strategy_id=alpha-momentum",
            replayed: expect.any(Function),
          },
        },
      ],
    ]);
    expect(JSON.stringify(lines)).not.toContain("duty-token");
  });

  it("that deny and that do not answer are reported by their code and status", async () => {
    const denied = await fixture({ denial: { code: "THROTTLE_NOT_TRIPPED", reason: "It has not tripped." } });
    const call = denied.as("duty-token").releaseThrottle({ strategyId: "s" });
    await expect(call).rejects.toMatchObject({
      status: 409,
      code: "THROTTLE_NOT_TRIPPED",
      detail: "It has not tripped.",
    });
    const down = (await fixture()).as("duty-token").listFunds();
    await expect(down).rejects.toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
  });

  it("are not asked for who may not, or for nobody", async () => {
    const { as, calls } = await fixture({ procedures: { "RiskEngine/ReleaseThrottle": held } });
    await expect(as("viewer-token").releaseThrottle({ strategyId: "s" })).rejects.toMatchObject({ status: 403 });
    await expect(as().listFunds()).rejects.toMatchObject({ status: 401 });
    expect(calls).toEqual([]);
  });
});

describe("documents that anyone may read", () => {
  it.each(["/v1/openapi.json", "/v1/asyncapi.json", "/docs/style.css"])("%s is not sent twice", async (path) => {
    const { baseUrl } = await fixture();
    const get = (headers: Record<string, string> = {}) => fetchOnNewConnection(`${baseUrl}${path}`, { headers });
    const first = await get({ "accept-encoding": "gzip" });
    expect([first.status, first.headers.get("content-encoding")]).toEqual([200, "gzip"]);
    const etag = first.headers.get("etag") ?? "";
    const again = await get({ "accept-encoding": "gzip", "if-none-match": etag });
    expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
    expect((await get({ "if-none-match": '"another"' })).status).toBe(200);
  });
});

describe("through the client", () => {
  it("every operation answers its caller", async () => {
    const { as, calls } = await fixture();
    const client = as("duty-token");
    expect(await as().getHealth()).toEqual({ status: "ok" });
    expect(await as().getLoginConfiguration()).toMatchObject({ client_id: "portcullis-cli", development_login: true });
    expect(await as().getOpenApi()).toMatchObject({ openapi: "3.1.0" });
    expect(await client.getMetrics()).toContain('portcullis_up{service="gateway"} 1');
    expect(await client.getIdentity()).toMatchObject({ actor: "operator:duty", second_factor: { enrolled_at: null } });
    expect(await as("machine-token").getIdentity()).toMatchObject({ kind: "service", second_factor: null });
    expect(await client.beginSecondFactor()).toEqual({ secret: "SECRET", uri: "otpauth://totp/x" });
    expect(await client.confirmSecondFactor({ code: "123456" })).toMatchObject({
      recovery_codes: ["aaaa-bbbb", "cccc-dddd"],
    });
    const parameters = { name: "feed" };
    expect(
      await client.stepUp({ action: "IssueServiceToken", parameters, recoveryCode: "7K2M 7k2m-7k2m" }),
    ).toMatchObject({ proof: "proof" });
    expect(await client.listServiceTokens()).toMatchObject([{ id: "k1" }]);
    expect(await client.issueServiceToken(request)).toMatchObject({ token: "pcs_k1_value" });
    expect(await client.rotateServiceToken({ tokenId: "k1", overlapS: 0, expiresInS: 60 })).toMatchObject({ id: "k1" });
    expect(await client.revokeServiceToken({ tokenId: "k1" })).toMatchObject({ id: "k1" });
    expect(await client.revokeSessions({ actor: "operator:relief" })).toEqual({
      effective_within_ms: 2_000,
      known: true,
    });
    expect(await client.rotateSigningKeys({ retire: "at_once", confirmation: "ROTATE" })).toEqual({ key_id: "key-2" });
    expect(await client.logOut()).toEqual({ effective_within_ms: 2_000, device_logins: [] });
    expect(calls.map(([name]) => name)).toEqual([
      ...["begin", "confirm", "stepUp", "issue", "rotate", "revoke", "revokeAll", "rotateKeys", "logOut"],
    ]);
  });

  it("a denial is an ApiError with its code, its reason and the time to wait", async () => {
    const denial = { code: "SECOND_FACTOR_LOCKED", reason: "Locked for 60 s." } as const;
    const { as } = await fixture({ denial, retryAfterS: 60 });
    await expect(as("duty-token").confirmSecondFactor({ code: "123456" })).rejects.toMatchObject({
      name: "ApiError",
      status: 429,
      code: "SECOND_FACTOR_LOCKED",
      detail: "Locked for 60 s.",
      retryAfterS: 60,
    });
  });

  it("22.11: nobody is logged out by a wrong word", async () => {
    const { as, calls } = await fixture();
    for (const confirmation of [undefined, "", "rotate"]) {
      const asked = { retire: "at_once" as const, ...(confirmation === undefined ? {} : { confirmation }) };
      await expect(as("duty-token").rotateSigningKeys(asked)).rejects.toMatchObject({ code: "CONFIRMATION_WRONG" });
    }
    expect(calls).toEqual([]);
    expect(await as("duty-token").rotateSigningKeys({ retire: "after_overlap" })).toEqual({ key_id: "key-2" });
  });

  it("with an external issuer nobody rotates keys here", async () => {
    const { as } = await fixture({ externalIssuer: true });
    await expect(as("duty-token").rotateSigningKeys({ retire: "at_once" })).rejects.toMatchObject({
      status: 409,
      code: "SIGNING_KEYS_EXTERNAL",
      detail: expect.stringContaining("https://login.example"),
    });
  });

  it("nobody without a good token or the role gets further, whatever they send", async () => {
    const { as, calls } = await fixture();
    for (const token of [undefined, "forged"]) {
      const call = as(token).issueServiceToken({ ...request, name: "NOT VALID" });
      await expect(call).rejects.toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    }
    for (const token of ["viewer-token", "machine-token"]) {
      const call = as(token).issueServiceToken({ ...request, name: "NOT VALID" });
      await expect(call).rejects.toMatchObject({ status: 403, code: "PERMISSION_DENIED" });
    }
    expect(calls).toEqual([]);
  });

  it("the table of authority guards second factors from machines", async () => {
    const { as } = await fixture();
    const client = as("machine-token");
    await expect(client.beginSecondFactor()).rejects.toMatchObject({ status: 403 });
    await expect(client.confirmSecondFactor({ code: "123456" })).rejects.toMatchObject({ status: 403 });
  });

  it("the thirty-first try of a minute is refused and says when to come back", async () => {
    const { as, calls } = await fixture();
    const client = as("duty-token");
    for (let attempt = 0; attempt < 30; attempt += 1) await client.confirmSecondFactor({ code: "123456" });
    const refused = await client.confirmSecondFactor({ code: "123456" }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ status: 429, code: "RESOURCE_EXHAUSTED", retryAfterS: expect.any(Number) });
    expect(calls).toHaveLength(30);
  });
});

describe("bodies of every kind", () => {
  const paths = [
    "/v1/auth/second-factor",
    "/v1/auth/second-factor/confirm",
    "/v1/auth/step-up",
    "/v1/service-tokens",
    "/v1/service-tokens/k1/rotate",
    "/v1/auth/sessions/revoke",
    "/v1/auth/signing-keys/rotate",
  ];
  const proto = '{"__proto__":{"totp":"123456"}}';
  const bodies: readonly (readonly [string, string, string, readonly number[]])[] = [
    ["nothing", "", "application/json", [400]],
    ["half of something", '{"code":', "application/json", [400]],
    ["null", "null", "application/json", [400]],
    ["a list", "[]", "application/json", [400]],
    ["a text", '"123456"', "application/json", [400]],
    ["an unknown key", '{"nonsense":1}', "application/json", [400]],
    ["a prototype", proto, "application/json", [400]],
    ["plain text", "code=123456", "text/plain", [415]],
    ["a form", "code=123456", "application/x-www-form-urlencoded", [415]],
    ["more than a megabyte", `{"code":"${"1".repeat(1_100_000)}"}`, "application/json", [413]],
  ];
  it.each(bodies)("%s is a problem and reaches no part", async (_name, body, type, statuses) => {
    const { raw, calls } = await fixture();
    for (const path of paths) {
      const response = await raw(path, body, type);
      const problem = (await response.json()) as Record<string, unknown>;
      expect(statuses, path).toContain(response.status);
      expect(response.headers.get("content-type")).toContain("application/problem+json");
      expect(problem["code"], path).toMatch(/^(INVALID_ARGUMENT|MESSAGE_TOO_LARGE)$/);
    }
    expect(calls).toEqual([]);
  });

  it("says what was expected where, without repeating what was sent", async () => {
    const { raw } = await fixture();
    const response = await raw("/v1/auth/step-up", '{"action":"StepUp","parameters":{},"totp":"98765"}');
    const text = await response.text();
    expect(text).toContain("body.totp: expected six digits");
    expect(text).not.toContain("98765");
  });

  it("nests no deeper than it can read", async () => {
    const { raw, calls } = await fixture();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const body = `{"action":"StepUp","parameters":{"a":${deep}},"totp":"123456"}`;
    expect((await raw("/v1/auth/step-up", body)).status).toBe(400);
    expect(calls).toEqual([]);
  });
});

it("no secret of a request or an answer is in the log", async () => {
  const { as, lines, baseUrl } = await fixture();
  const client = as("duty-token");
  await client.beginSecondFactor({ totp: "424242" });
  await client.beginSecondFactor({ recoveryCode: "dead-beef-dead-beef" });
  await client.confirmSecondFactor({ code: "434343" });
  await client.stepUp({ action: "IssueServiceToken", parameters: { hush: "parameter" }, totp: "444444" });
  await client.issueServiceToken(request);
  await client.issueServiceToken({ ...request, name: "NOT VALID" }).catch((thrown: unknown) => thrown);
  await fetchOnNewConnection(`${baseUrl}/v1/auth/identity`, { headers: { authorization: "Bearer forged-token" } });
  const log = JSON.stringify(lines);
  expect(lines.length).toBeGreaterThan(0);
  const secrets = ["424242", "dead-beef", "434343", "444444", "the-proof", "SECRET", "aaaa-bbbb", "pcs_k1_value"];
  for (const secret of [...secrets, "duty-token", "forged-token", "otpauth"]) expect(log).not.toContain(secret);
});

it("a tile of the audit log is served byte for byte under its C2SP path, slashes written either way", async () => {
  const content = new Uint8Array([0, 255, 10, 13, 128, 0]);
  const { baseUrl, calls } = await fixture({ procedures: { "AuditDesk/GetAuditTile": { content } } });
  const headers = { authorization: "Bearer viewer-token" };
  for (const path of ["tile/0/x001/067", "tile/0%2Fx001%2F067"]) {
    const answer = await fetchOnNewConnection(`${baseUrl}/v1/operations/audit/log/${path}`, { headers });
    expect(answer.status, path).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/octet-stream");
    expect(answer.headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(content);
  }
  expect(calls.map((call) => call[1])).toEqual([{ path: "tile/0/x001/067" }, { path: "tile/0/x001/067" }]);
  for (const path of ["tile/0/1", "tile/../checkpoint/x", "tile/"]) {
    expect(
      (await fetchOnNewConnection(`${baseUrl}/v1/operations/audit/log/${path}`, { headers })).status,
      path,
    ).not.toBe(200);
  }
  expect((await fetchOnNewConnection(`${baseUrl}/v1/operations/audit/log/tile/0/000`)).status).toBe(401);
});
