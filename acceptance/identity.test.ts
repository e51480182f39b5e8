// Who may call, from outside: the running platform's every route and procedure against every kind of caller, revocations, and a search through everything
// it wrote for what it must never write. Its restarts are in identity.ci.test.ts.

import { createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, importJWK, SignJWT } from "jose";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { describedServices } from "../adapters/grpc/definitions.ts";
import { ringOf } from "../adapters/identity/embedded/key-ring.ts";
import { openFileSecrets } from "../adapters/secrets-file/file-secrets.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { mayCall, type Operation, operations, type Role, roles } from "../contracts/src/authority.ts";
import { allOr, byFloor } from "../testkit/full-count.ts";
import { type TestClient, testClient } from "../testkit/grpc/test-client.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import {
  askToken,
  developmentCredentials,
  developmentOperator,
  type LoginTokens,
  logInAs,
  operatorUrl,
} from "../testkit/login.ts";
import { giveMadeDatabase } from "../testkit/made-cluster.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder, within } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";

interface ApiOperation {
  readonly operationId: string;
  readonly "x-operation": Operation;
  readonly servers?: unknown;
}

interface Caller {
  readonly name: string;
  readonly token: string | undefined;
  /** What the table shall take it for; undefined is a caller that proved nothing. */
  readonly as: { readonly roles: readonly Role[]; readonly operations?: readonly Operation[] } | undefined;
}

let folder: string;
let platform: Platform;
let early: LoginTokens;
const environment = {
  PORTCULLIS_ACCESS_TOKEN_S: "120",
  PORTCULLIS_LOG_LEVEL: "debug",
  // Every public route is asked by many callers at once, from one address.
  PORTCULLIS_PUBLIC_RATE_PER_S: "200",
  PORTCULLIS_PUBLIC_BURST: "400",
};
/** Everything that must not be found in anything that was written. */
const secrets = new Set<string>();

beforeAll(async () => {
  folder = temporaryFolder("identity");
  giveMadeDatabase(join(folder, "data"));
  platform = startPlatform({ dataFolder: join(folder, "data"), environment });
  await platform.ready();
  early = await logIn("viewer");
}, 120_000);

afterAll(async () => {
  for (const client of clients.values()) client.close();
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function logIn(name: string): Promise<LoginTokens> {
  const tokens = await logInAs(platform, name);
  for (const token of [tokens.access_token, tokens.refresh_token, tokens.id_token]) secrets.add(token);
  return tokens;
}

/** Whoever logs in within the second of a revocation is taken for an older login. */
async function newerLogin(name: string): Promise<LoginTokens> {
  let tokens = await logIn(name);
  await eventually(`a new login of ${name} counts`, async () => {
    if ((await http("/v1/auth/identity", tokens.access_token)).status === 200) return true;
    tokens = await logIn(name);
    return false;
  });
  return tokens;
}

function http(path: string, token?: string, init: RequestInit = {}): Promise<Response> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
    ...init,
    headers: { ...headers, ...(init.body === undefined ? {} : { "content-type": "application/json" }) },
  });
}

/** Reads an answer to its end; one that has none, because it goes on telling, is left. */
async function end(answer: Response): Promise<void> {
  if (answer.headers.get("content-type")?.startsWith("text/event-stream")) await answer.body?.cancel();
  else await answer.arrayBuffer();
}

async function post(
  path: string,
  token: string,
  body: object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await http(path, token, { method: "POST", body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** One for each service of each start: opening a connection takes longer than a call. */
const clients = new Map<string, TestClient>();

async function rpc(service: string, path: string, token?: string): Promise<string> {
  return (await outcomeOf(service, path, token)).status;
}

/** With the code of the registry; empty when all is well. */
async function outcomeOf(
  service: string,
  path: string,
  token?: string,
): Promise<{ readonly status: string; readonly code: string }> {
  const address = platform.runFile().addresses[service] ?? "";
  const [host = "", port = ""] = address.split(":");
  const key = `${platform.pid} ${address}`;
  const client = clients.get(key) ?? testClient(host === "unix" ? { path: port } : { host, port: Number(port) });
  clients.set(key, client);
  const metadata: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const called = await client.rawCall(path, Buffer.alloc(0), undefined, { metadata });
  return { status: called.status, code: String(called.metadata.get("portcullis-code")[0] ?? "") };
}

/** A code of the next step that was not used yet; waits for it when it must. */
const usedSteps = new Map<string, number>();
async function totpOf(name: string): Promise<string> {
  const { totp_secret } = developmentOperator(platform.dataFolder, name);
  const last = usedSteps.get(name) ?? 0;
  // One step ahead is within the accepted difference of clocks.
  const step = Math.max(Math.floor(Date.now() / 30_000), last + 1);
  while (step > Math.floor(Date.now() / 30_000) + 1) await pause(200);
  usedSteps.set(name, step);
  return new TOTP({ secret: totp_secret }).generate({ timestamp: step * 30_000 });
}

function decoded(part: string | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from(part ?? "", "base64url").toString()) as Record<string, unknown>;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Signs as the platform itself, with the key from its secrets: so each of these is refused for its one fault and for nothing else. */
async function signedByThePlatform(good: string): Promise<(claims: object, typ?: string) => Promise<string>> {
  const claims = decoded(good.split(".")[1]);
  const timers = systemTimers();
  const secrets = await openFileSecrets({
    file: join(platform.dataFolder, "secrets"),
    key: { kind: "key file", path: join(platform.dataFolder, "secrets.key") },
    clock: systemClock(),
    timers,
    random: systemRandom(),
    log: quietLog,
  });
  const [signing] = ringOf((await secrets.get("secret/portcullis/identity/signing-keys"))?.value);
  await secrets.close();
  timers.release();
  if (signing === undefined) throw new Error("the platform has no signing key");
  const key = await importJWK({ ...signing.jwk }, "ES256");
  return (changed, typ = "at+jwt") =>
    new SignJWT({ ...claims, jti: randomBytes(8).toString("hex"), ...changed })
      .setProtectedHeader({ alg: "ES256", typ, kid: signing.kid })
      .sign(key);
}

/** Each role by itself, none, and what the platform's own key signed and must be refused all the same. */
async function signedCallers(good: string): Promise<readonly Caller[]> {
  const sign = await signedByThePlatform(good);
  const nowS = Math.floor(Date.now() / 1_000);
  const people = [...roles.map((role) => [role]), []].map(async (held): Promise<Caller> => {
    return { name: `the roles [${held}]`, token: await sign({ roles: held }), as: { roles: held } };
  });
  const refused = {
    "another audience": sign({ aud: "somebody-else" }),
    "another issuer": sign({ iss: "http://127.0.0.1:1/oidc" }),
    "an end that has passed": sign({ iat: nowS - 900, exp: nowS - 600 }),
    "no end": sign({ exp: undefined }),
    "a beginning that has not come": sign({ iat: nowS + 600, exp: nowS + 900 }),
    "the type of an ID token": sign({}, "JWT"),
  };
  const forged = Object.entries(refused).map(async ([name, token]): Promise<Caller> => {
    return { name: `signed by us with ${name}`, token: await token, as: undefined };
  });
  return Promise.all([...people, ...forged]);
}

/** Every forgery that a stranger can make from one good token and the published keys. */
async function forgeries(good: string): Promise<readonly Caller[]> {
  const [header, payload, signature = ""] = good.split(".");
  const claims = decoded(payload);
  const { kid } = decoded(header);
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const withOwnKey = new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: String(kid) })
    .sign(own);
  const { keys } = (await (await http("/oidc/jwks")).json()) as { keys: Record<string, string>[] };
  const publicKey = JSON.stringify(keys[0]);
  const withPublicKey = await new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid: String(kid) })
    .sign(new TextEncoder().encode(publicKey));
  const admin = { ...claims, roles: ["admin", "operator", "risk_officer"] };
  const ownPublic = await exportJWK(createPublicKey(own));
  const { service_token } = developmentCredentials(platform.dataFolder);
  const tokens: Readonly<Record<string, string | undefined>> = {
    nobody: undefined,
    "alg none": `${encoded({ alg: "none", typ: "at+jwt" })}.${payload}.`,
    "alg none with a signature": `${encoded({ alg: "none", typ: "at+jwt", kid })}.${payload}.${signature}`,
    "tampered payload": `${header}.${encoded(admin)}.${signature}`,
    "tampered signature": `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
    "own key under the known id": await withOwnKey,
    "the public key as a shared secret": withPublicKey,
    "a key in its own header": await new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", jwk: ownPublic })
      .sign(own),
    "an ID token": early.id_token,
    "a refresh token": early.refresh_token,
    "a service token with another secret": service_token.slice(0, -43) + randomBytes(32).toString("base64url"),
    "a service token that nobody issued": `pcs_${"a".repeat(24)}_${randomBytes(32).toString("base64url")}`,
    "an internal token that was guessed": `pci_gateway_${randomBytes(32).toString("hex")}`,
    garbage: "not.a.token",
  };
  return Object.entries(tokens).map(([name, token]) => ({ name, token, as: undefined }));
}

/** As the platform lists them; adapters/identity/development-operators.test.ts says which they are. */
async function operationsOfTheServiceToken(): Promise<readonly Operation[]> {
  const listed = await http("/v1/service-tokens", (await logIn("duty")).access_token);
  const tokens = (await listed.json()) as readonly { readonly name: string; readonly operations: Operation[] }[];
  const found = tokens.find(({ name }) => name === "order-management");
  if (found === undefined) throw new Error("the platform lists no token of the order management");
  return found.operations;
}

async function honestCallers(): Promise<readonly Caller[]> {
  const people = ["duty", "relief", "viewer"].map(async (name): Promise<Caller> => {
    const { access_token } = await logIn(name);
    const { roles } = developmentOperator(platform.dataFolder, name);
    return { name, token: access_token, as: { roles: roles as readonly Role[] } };
  });
  const { service_token } = developmentCredentials(platform.dataFolder);
  const service: Caller = {
    name: "service_token",
    token: service_token,
    as: {
      roles: ["service"],
      operations: await operationsOfTheServiceToken(),
    },
  };
  return [...(await Promise.all(people)), service];
}

async function routes(): Promise<readonly { method: string; path: string; operation: Operation }[]> {
  const document = (await (await http("/v1/openapi.json")).json()) as {
    paths: Record<string, Record<string, ApiOperation>>;
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    // What only the public listener serves says where that is.
    Object.entries(methods)
      .filter(([, { servers }]) => servers === undefined)
      .map(([method, it]) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{[^}]+\}/g, "unknown"),
        operation: it["x-operation"],
      })),
  );
}

describe("from outside", { timeout: 120_000 }, () => {
  test("every route answers each caller as the table says, and a stranger learns nothing else", async () => {
    const all = await routes();
    expect(all.length).toBeGreaterThan(12);
    const good = (await logIn("duty")).access_token;
    const callers = [...(await honestCallers()), ...(await forgeries(good))];
    const more = await signedCallers(good);
    for (const [place, { method, path, operation }] of all.entries()) {
      // These would end the sessions and keys of the callers that are still to come; they are tested by themselves.
      const ends = ["LogOut", "RevokeSessions", "RotateSigningKeys"].includes(operation);
      // Where codes can be tried, an address may come only so often, and other tests want to come as well.
      const isBounded = ["EnrolSecondFactor", "StepUp"].includes(operation);
      const everybody = isBounded ? callers : [...callers, ...more];
      const asked = callersAt(place, everybody).map(async (caller) => {
        const allowed = mayCall(operation, caller.as);
        if (ends && allowed) return;
        const answer = await http(path, caller.token, { method });
        await end(answer);
        const said = `${method} ${path} as ${caller.name}: ${answer.status}`;
        const known = caller.as !== undefined;
        if (allowed) expect([401, 403], said).not.toContain(answer.status);
        else expect(answer.status, said).toBe(known ? 403 : 401);
      });
      await Promise.all(asked);
    }
  });

  test("what does not exist is hidden from strangers and not found for others", async () => {
    const { access_token } = await logIn("viewer");
    for (const [path, method] of [
      ["/v1/nothing", "GET"],
      ["/v1/auth/identity", "PUT"],
      ["/nothing", "GET"],
    ] as const) {
      expect((await http(path, undefined, { method })).status).toBe(401);
      expect([404, 405]).toContain((await http(path, access_token, { method })).status);
    }
    for (const service of ["riskengine", "operations"] as const) {
      expect(await rpc(service, "/svc.v1.Nothing/AtAll")).toBe("UNAUTHENTICATED");
      expect(await rpc(service, "/svc.v1.Nothing/AtAll", access_token)).toBe("UNIMPLEMENTED");
    }
  });

  test("nobody can make the provider write row after row", async () => {
    const asked = new URLSearchParams({
      client_id: "portcullis-web",
      response_type: "code",
      redirect_uri: `${operatorUrl(platform)}/auth/callback`,
      scope: "openid",
      code_challenge_method: "S256",
      code_challenge: randomBytes(32).toString("base64url"),
    });
    for (const [path, most] of [
      [`/oidc/auth?${asked}`, 120],
      ["/oidc/session/end", 60],
    ] as const) {
      const statuses: number[] = [];
      for (let count = 0; count <= most; count += 1) {
        const answer = await http(path, undefined, { redirect: "manual" });
        await answer.arrayBuffer();
        statuses.push(answer.status);
      }
      expect(
        statuses.filter((status) => status === 429),
        path,
      ).toHaveLength(1);
      expect(statuses.at(-1), path).toBe(429);
    }
  });

  test("every procedure answers each caller as the table says", async () => {
    const good = (await logIn("duty")).access_token;
    const callers = [...(await honestCallers()), ...(await forgeries(good)), ...(await signedCallers(good))];
    const served: Readonly<Record<string, readonly string[]>> = {
      riskengine: ["RiskEngine"],
      operations: describedServices.map(({ name }) => name).filter((name) => !elsewhere.includes(name)),
      oms: ["Oms"],
      treasury: ["Treasury"],
      research: ["Research"],
    };
    expect(served["operations"]).toEqual(expect.arrayContaining(["Operations", "Events", "Watchdogs", "HaltDesk"]));
    let place = 0;
    for (const [service, names] of Object.entries(served)) {
      for (const described of describedServices.filter(({ name }) => [...names, "Instance"].includes(name))) {
        for (const method of described.methods) {
          place += 1;
          await expectGuarded(service, method, described.name === "Instance", callers, place);
        }
      }
    }
    // Every procedure of every proto, and the process's own five times.
    expect(place).toBe(describedServices.flatMap(({ methods }) => methods).length + 4 * instanceMethods);
  });

  test("the public port asks nobody for a token, whatever they show, and the stream is there alone", async () => {
    const callers = await forgeries((await logIn("duty")).access_token);
    const open = `http://${platform.runFile().addresses["gateway.public"]}`;
    const document = (await (await fetchOnNewConnection(`${open}/v1/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    expect(Object.keys(document.paths)).toContain("/v1/quotes/{symbol}");
    for (const path of Object.keys(document.paths)) {
      for (const { name, token } of callers.slice(0, 3)) {
        const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const answer = await fetchOnNewConnection(open + path.replaceAll(/\{[^}]+\}/g, "TEST"), { headers });
        await answer.arrayBuffer();
        expect([401, 403], `${path} as ${name}: ${answer.status}`).not.toContain(answer.status);
      }
    }
    for (const { name, token } of callers) {
      expect([name, await streamed(open, token)]).toEqual([name, "welcome"]);
      expect([name, await streamed(operatorUrl(platform), token)]).toEqual([name, 401]);
    }
    expect(await streamed(operatorUrl(platform), (await logIn("duty")).access_token)).toBe(404);
  });

  test("a revoked login's events end within five seconds, and with a word why", async () => {
    const { access_token: admin } = await logIn("duty");
    const { access_token } = await logIn("viewer");
    const answer = await http("/v1/events?heartbeat_s=1", access_token);
    expect(answer.status).toBe(200);
    const reading = answer.text();
    expect((await post("/v1/auth/sessions/revoke", admin, { actor: "operator:viewer" })).status).toBe(200);
    let text: string | undefined;
    void reading.then((read) => {
      text = read;
    });
    await within(5_000, "the events end", async () => text !== undefined);
    expect(text).toMatch(/event: problem\ndata: \{"code":"UNAUTHENTICATED"/);
  });

  test("a logout, a revoked person and a revoked machine are refused everywhere within two seconds", async () => {
    const { access_token: admin } = await logIn("duty");
    const first = await newerLogin("viewer");
    expect((await post("/v1/auth/logout", first.access_token, {})).status).toBe(200);
    await refusedEverywhere(first.access_token);
    expect((await refresh(first.refresh_token)).status).toBe(400);

    const second = await logIn("viewer");
    expect((await http("/v1/auth/identity", second.access_token)).status).toBe(200);
    expect((await post("/v1/auth/sessions/revoke", admin, { actor: "operator:viewer" })).status).toBe(200);
    await refusedEverywhere(second.access_token);
    expect((await refresh(second.refresh_token)).status).toBe(400);
    await newerLogin("viewer");

    const request = { name: "acme-oms", operations: ["GetEnvelope"], expires_in_s: 600 };
    const proof = await stepUp(admin, "duty", "IssueServiceToken", request);
    const issued = await post("/v1/service-tokens", admin, { ...request, step_up_proof: proof });
    expect(issued.status).toBe(201);
    const token = String(issued.body["token"]);
    secrets.add(token);
    expect(await rpc("riskengine", "/svc.v1.RiskEngine/GetEnvelope", token)).toBe("NOT_FOUND");
    expect(await rpc("riskengine", "/svc.v1.RiskEngine/CheckOrder", token)).toBe("PERMISSION_DENIED");
    const gone = await http(`/v1/service-tokens/${issued.body["id"]}`, admin, { method: "DELETE" });
    expect(gone.status).toBe(200);
    await refusedEverywhere(token);
  });

  test("a proof opens its own action with its own parameters, once", async () => {
    const { access_token: admin } = await logIn("duty");
    const request = { name: "acme-feed", operations: ["GetEnvelope"], expires_in_s: 600 };
    const without = await post("/v1/service-tokens", admin, request);
    expect(without).toMatchObject({ status: 403, body: { code: "STEP_UP_REQUIRED" } });
    const proof = await stepUp(admin, "duty", "IssueServiceToken", request);
    const wider = { ...request, operations: ["GetEnvelope", "CheckOrder"], step_up_proof: proof };
    expect(await post("/v1/service-tokens", admin, wider)).toMatchObject({
      status: 403,
      body: { code: "STEP_UP_WRONG" },
    });
    const other = await post("/v1/service-tokens/unknown/rotate", admin, {
      overlap_s: 0,
      expires_in_s: 600,
      step_up_proof: proof,
    });
    expect([403, 404]).toContain(other.status);
    const issued = await post("/v1/service-tokens", admin, { ...request, step_up_proof: proof });
    expect(issued.status).toBe(201);
    secrets.add(String(issued.body["token"]));
    const again = await post("/v1/service-tokens", admin, { ...request, step_up_proof: proof });
    expect(again).toMatchObject({ status: 403, body: { code: "STEP_UP_WRONG" } });
  });

  test("a code counts once, and the sixth try after five wrong ones is locked out", async () => {
    const { access_token } = await logIn("relief");
    const named = { action: "StepUp", parameters: {} };
    const code = await totpOf("relief");
    expect((await post("/v1/auth/step-up", access_token, { ...named, totp: code })).status).toBe(201);
    const replayed = await post("/v1/auth/step-up", access_token, { ...named, totp: code });
    expect(replayed).toMatchObject({ status: 403, body: { code: "SECOND_FACTOR_WRONG" } });
    for (let tries = 0; tries < 5; tries += 1) {
      const wrong = await post("/v1/auth/step-up", access_token, { ...named, totp: "000000" });
      expect(wrong).toMatchObject({ status: 403, body: { code: "SECOND_FACTOR_WRONG" } });
    }
    const right = await totpOf("relief");
    const locked = await post("/v1/auth/step-up", access_token, { ...named, totp: right });
    expect(locked).toMatchObject({ status: 429, body: { code: "SECOND_FACTOR_LOCKED" } });
  });

  test("a new signing key: tokens of the old one run on, unless they are withdrawn at once", async () => {
    const { access_token: admin } = await logIn("duty");
    expect((await post("/v1/auth/signing-keys/rotate", admin, { retire: "after_overlap" })).status).toBe(200);
    expect((await http("/v1/auth/identity", admin)).status).toBe(200);
    const { access_token: fresh } = await logIn("duty");
    expect(decoded(fresh.split(".")[0])["kid"]).not.toBe(decoded(admin.split(".")[0])["kid"]);
    for (const token of [admin, fresh]) {
      expect(await rpc("riskengine", "/svc.v1.RiskEngine/GetEnvelope", token)).toBe("NOT_FOUND");
    }
    expect(
      (await post("/v1/auth/signing-keys/rotate", fresh, { retire: "at_once", confirmation: "ROTATE" })).status,
    ).toBe(200);
    await refusedEverywhere(fresh);
    const { access_token: newest } = await logIn("duty");
    expect((await http("/v1/auth/identity", newest)).status).toBe(200);
  });

  test("nothing that was written has a password, a code's secret, a token or a proof in clear", async () => {
    const credentials = developmentCredentials(platform.dataFolder);
    for (const { password, totp_secret } of credentials.operators) secrets.add(password).add(totp_secret);
    secrets.add(credentials.service_token);
    expect(secrets.size).toBeGreaterThan(20);
    platform.signal("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
    const written = new Map<string, Buffer>([["the output", Buffer.from(platform.stdout() + platform.stderr())]]);
    for (const path of filesUnder(platform.dataFolder)) {
      if (!path.endsWith("dev-credentials.json")) written.set(path, readFileSync(path));
    }
    expect(written.size).toBeGreaterThan(100);
    const inClear = [...written].flatMap(([where, bytes]) =>
      [...secrets].filter((secret) => bytes.includes(secret)).map((secret) => `${secret.slice(0, 6)}… in ${where}`),
    );
    expect(inClear).toEqual([]);
    expect(statSync(join(platform.dataFolder, "dev-credentials.json")).mode & 0o777).toBe(0o600);
  });
});

/** What other processes than operations serve. */
const elsewhere: readonly string[] = ["RiskEngine", "Oms", "Treasury", "Research", "Instance"];
const instanceMethods = describedServices.find(({ name }) => name === "Instance")?.methods.length ?? 0;

/** Every place is tried: in the first run by one who is known, later by all of them; the forgeries take turns but in the long run. */
function callersAt(place: number, callers: readonly Caller[]): readonly Caller[] {
  const [known, forged] = byFloor<readonly [number, number]>({ first: [4, 12], later: [1, 6] });
  return allOr(
    callers,
    callers.filter(({ as }, index) => (index + place) % (as === undefined ? forged : known) === 0),
  );
}

async function expectGuarded(
  service: string,
  method: { readonly name: string; readonly path: string },
  isInstance: boolean,
  callers: readonly Caller[],
  place: number,
): Promise<void> {
  const operation = isInstance ? "InspectInstance" : (method.name as Operation);
  expect(Object.hasOwn(operations, operation), method.path).toBe(true);
  const asked = callersAt(place, callers).map(async (caller) => {
    const isAllowed = mayCall(operation, caller.as);
    // What it does when it may is tested by itself; here it would take long, several times over.
    if (isAllowed && slow.has(operation)) return;
    const { status, code } = await outcomeOf(service, method.path, caller.token);
    const said = `${method.path} as ${caller.name}: ${status} ${code}`;
    // A denial of the business, such as a secret's path that is not allowed, has a code of its own.
    if (isAllowed) expect(["UNAUTHENTICATED", "PERMISSION_DENIED", "IDENTITY_UNAVAILABLE"], said).not.toContain(code);
    else expect(status, said).toBe(caller.as === undefined ? "UNAUTHENTICATED" : "PERMISSION_DENIED");
  });
  await Promise.all(asked);
}

const slow: ReadonlySet<string> = new Set([
  "RunDrill",
  "InspectAudit",
  "BeginAuditInspection",
  "BeginAuditVerification",
]);

/** The type of the stream's first message, or the status that a handshake gets instead. */
function streamed(origin: string, token: string | undefined): Promise<string | number> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${origin.replace(/^http/, "ws")}/v1/stream`, { headers });
    socket.on("unexpected-response", (request, response) => {
      resolve(response.statusCode ?? 0);
      request.destroy();
    });
    socket.on("message", (data) => {
      resolve((JSON.parse(String(data)) as { readonly type: string }).type);
      socket.close();
    });
    socket.on("error", reject);
  });
}

function filesUnder(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Within two seconds: whoever is refused sooner is not waited for. */
async function refusedEverywhere(token: string): Promise<void> {
  const isRefused = async () =>
    (await http("/v1/auth/identity", token)).status === 401 &&
    (await rpc("riskengine", "/svc.v1.RiskEngine/GetEnvelope", token)) === "UNAUTHENTICATED" &&
    (await rpc("operations", "/svc.v1.Operations/ListActiveHalts", token)) === "UNAUTHENTICATED";
  await within(2_000, "the token is refused everywhere", isRefused);
  expect((await http("/v1/auth/identity", token)).status).toBe(401);
  for (const service of ["riskengine", "operations"] as const) {
    const path = service === "riskengine" ? "/svc.v1.RiskEngine/GetEnvelope" : "/svc.v1.Operations/ListActiveHalts";
    expect(await rpc(service, path, token)).toBe("UNAUTHENTICATED");
  }
}

function refresh(token: string): ReturnType<typeof askToken> {
  const form = { grant_type: "refresh_token", client_id: "portcullis-cli", refresh_token: token };
  return askToken(operatorUrl(platform), form);
}

async function stepUp(token: string, name: string, action: string, parameters: object): Promise<string> {
  const answer = await post("/v1/auth/step-up", token, { action, parameters, totp: await totpOf(name) });
  expect(answer).toMatchObject({ status: 201 });
  const proof = String(answer.body["proof"]);
  secrets.add(proof);
  return proof;
}
