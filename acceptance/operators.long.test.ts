// Creating power takes two, on the platform as its users start it: in production the first two admins are made on the data folder, a third person takes
// both of them, and whoever is disabled is out everywhere; in development one admin with a second factor is enough.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testClient } from "../testkit/grpc/test-client.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { createTestBrowser } from "../testkit/identity/test-browser.ts";
import { developmentOperator, logInAs, operatorUrl } from "../testkit/login.ts";
import { giveMadeDatabase } from "../testkit/made-cluster.ts";
import { type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const folder = temporaryFolder("operators");
const open: Platform[] = [];

afterAll(async () => {
  await Promise.all(open.map((platform) => platform.end()));
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function start(name: string, environment: Record<string, string>, ...more: string[]): Platform {
  const platform = startPlatform({ dataFolder: join(folder, name), environment, arguments: more });
  open.push(platform);
  return platform;
}

interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function send(platform: Platform, path: string, token: string, body?: object): Promise<Answered> {
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** As `ctl auth login` and a browser do it; undefined when the password is refused. */
async function logIn(platform: Platform, name: string, password: string): Promise<string | undefined> {
  const issuer = `${operatorUrl(platform)}/oidc`;
  const post = async (path: string, form: Record<string, string>): Promise<Record<string, string>> => {
    const answer = await fetchOnNewConnection(`${issuer}${path}`, { method: "POST", body: new URLSearchParams(form) });
    return (await answer.json()) as Record<string, string>;
  };
  const client = { client_id: "portcullis-cli" };
  const asked = await post("/device/auth", { ...client, scope: "openid profile offline_access" });
  const browser = createTestBrowser(issuer);
  const confirm = await browser.submit(await browser.open(`${issuer}/device`), { user_code: asked["user_code"] ?? "" });
  const login = await browser.submit(confirm, {}, "confirm=yes");
  const consent = await browser.submit(login, { name, password }, "decision=login");
  if (consent.status >= 400 || !consent.text.includes("Let ")) return undefined;
  await browser.submit(consent, {}, "decision=approve");
  const grant = "urn:ietf:params:oauth:grant-type:device_code";
  return (await post("/token", { ...client, grant_type: grant, device_code: asked["device_code"] ?? "" }))[
    "access_token"
  ];
}

/** Somebody who is logged in and has a second factor; a code is good once, so each proof takes the next one. */
class Person {
  readonly platform: Platform;
  readonly token: string;
  #secret = "";
  #step = 0;

  constructor(platform: Platform, token: string) {
    this.platform = platform;
    this.token = token;
  }

  async enrol(): Promise<this> {
    this.#secret = String((await send(this.platform, "/v1/auth/second-factor", this.token, {})).body["secret"]);
    const answer = await send(this.platform, "/v1/auth/second-factor/confirm", this.token, { code: await this.code() });
    expect(answer.status).toBe(200);
    return this;
  }

  withSecret(secret: string): this {
    this.#secret = secret;
    return this;
  }

  async code(): Promise<string> {
    // One step ahead is accepted, so that two codes come without waiting and a third within half a minute.
    const now = () => Math.floor(Date.now() / 30_000);
    this.#step = Math.max(this.#step + 1, now());
    while (this.#step > now() + 1) await new Promise((resolve) => setTimeout(resolve, 500));
    return new TOTP({ secret: this.#secret }).generate({ timestamp: this.#step * 30_000 });
  }

  async proof(action: string, parameters: object): Promise<string> {
    const totp = await this.code();
    const answer = await send(this.platform, "/v1/auth/step-up", this.token, { action, parameters, totp });
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
    return String(answer.body["proof"]);
  }

  async post(path: string, action: string, parameters: object, body: object): Promise<Answered> {
    const proof = await this.proof(action, parameters);
    return send(this.platform, path, this.token, { ...body, step_up_proof: proof });
  }

  sign(id: unknown): Promise<Answered> {
    const parameters = { request_id: id };
    return this.post(`/v1/auth/requests/${id}/cosign`, "CosignIdentityRequest", parameters, {});
  }
}

/** Codes of an authenticator come every half minute; a login outlasts them all. */
const production = { PORTCULLIS_MODE: "production", PORTCULLIS_ACCESS_TOKEN_S: "3600" };

async function makeAdmin(name: string): Promise<{ readonly code: number | null; readonly said: string }> {
  const command = startPlatform({
    dataFolder: join(folder, "production"),
    environment: production,
    arguments: ["--make-admin", name],
  });
  const { code } = await command.exited;
  return { code, said: code === 0 ? command.stdout() : command.stderr() };
}

const passwordIn = (said: string): string => /^[0-9a-z]{4}(-[0-9a-z]{4}){7}$/m.exec(said)?.[0] ?? "";

describe("in production", { timeout: 300_000 }, () => {
  let platform: Platform;
  let [annas, berts] = ["", ""];
  let anna: Person;
  let bert: Person;

  beforeAll(async () => {
    giveMadeDatabase(join(folder, "production"));
    annas = passwordIn((await makeAdmin("anna")).said);
    berts = passwordIn((await makeAdmin("bert")).said);
    expect(await makeAdmin("carl")).toMatchObject({ code: 1, said: expect.stringContaining("anna, bert") });
    platform = start("production", production);
    await platform.ready();
    anna = await new Person(platform, (await logIn(platform, "anna", annas)) ?? "").enrol();
    bert = await new Person(platform, (await logIn(platform, "bert", berts)) ?? "").enrol();
  }, 240_000);

  const rpc = async (token: string): Promise<string> => {
    const [host = "", port] = (platform.runFile().addresses["riskengine"] ?? "").split(":");
    const client = testClient({ host, port: Number(port) }, { token });
    try {
      return (await client.call("RiskEngine", "GetEnvelope", { fund_id: "nobody" }, { deadlineMs: 10_000 })).status;
    } finally {
      client.close();
    }
  };

  test("a person takes two admins, and neither half of the password is enough", async () => {
    const person = { name: "erika", roles: ["operator", "admin"] };
    const asked = await anna.post("/v1/auth/operators", "AddOperator", person, { ...person, reason: "joins" });
    expect(asked).toMatchObject({ status: 202, body: { target: "operator:erika" } });
    const id = asked.body["request_id"];
    const alone = await send(platform, `/v1/auth/requests/${id}/cosign`, anna.token, {});
    expect(alone).toMatchObject({ status: 403, body: { code: "IDENTITY_SAME_PERSON" } });
    const signed = await bert.sign(id);
    expect(signed).toMatchObject({ status: 200, body: { cosigned_by: "operator:bert" } });
    const [first, second] = [String(asked.body["password_half"]), String(signed.body["password_half"])];
    expect(await logIn(platform, "erika", first)).toBeUndefined();
    const erika = (await logIn(platform, "erika", `${first}-${second}`)) ?? "";
    expect((await send(platform, "/v1/auth/identity", erika)).status).toBe(200);
    expect(await rpc(erika)).toBe("NOT_FOUND");
    const trail = await send(platform, "/v1/operations/audit?subject_id=operator:erika", anna.token);
    expect(JSON.stringify(trail.body)).toContain("operator:bert");

    // Locked out by one admin, everywhere, and for good.
    const out = { name: "erika", keep_tokens: false };
    const disabled = await anna.post("/v1/auth/operators/erika/disable", "DisableOperator", out, { reason: "left" });
    expect(disabled).toMatchObject({ status: 200, body: { state: "disabled" } });
    expect((await send(platform, "/v1/auth/identity", erika)).status).toBe(401);
    await expect.poll(() => rpc(erika), { timeout: 10_000 }).toBe("UNAUTHENTICATED");
    expect(await logIn(platform, "erika", `${first}-${second}`)).toBeUndefined();
  });

  test("a machine's token that may trade takes two; one that reads takes one", async () => {
    const trading = { name: "acme-oms", operations: ["CheckOrder"], expires_in_s: 86_400 };
    const asked = await anna.post("/v1/service-tokens", "IssueServiceToken", trading, { ...trading, reason: "desk" });
    expect(asked).toMatchObject({ status: 202 });
    expect(asked.body["token"]).toBeUndefined();
    const signed = await bert.sign(asked.body["request_id"]);
    const token = (signed.body["token"] as { token?: string } | undefined)?.token ?? "";
    expect(token).toMatch(/^pcs_/);
    expect(await rpc(token)).toBe("PERMISSION_DENIED");
    const reading = { name: "probe", operations: ["GetEnvelope"], expires_in_s: 86_400 };
    const given = await anna.post("/v1/service-tokens", "IssueServiceToken", reading, reading);
    expect(given).toMatchObject({ status: 201 });
    const long = { ...reading, expires_in_s: 91 * 86_400 };
    expect(await send(platform, "/v1/service-tokens", anna.token, long)).toMatchObject({
      status: 400,
      body: { code: "SERVICE_TOKEN_LIFE" },
    });
  });

  test("of two admins who disable each other one stays, also over a restart; the folder makes the second one again", async () => {
    const put = async (by: Person, name: string) => {
      const proof = await by.proof("DisableOperator", { name, keep_tokens: false });
      return () =>
        send(platform, `/v1/auth/operators/${name}/disable`, by.token, { reason: "quarrel", step_up_proof: proof });
    };
    const both = [await put(anna, "bert"), await put(bert, "anna")];
    const answers = await Promise.all(both.map((disable) => disable()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const [winner, loser] = answers[0]?.status === 200 ? (["anna", "bert"] as const) : (["bert", "anna"] as const);
    await platform.signal("SIGTERM");
    await platform.exited;
    const again = await makeAdmin(loser);
    expect(again).toMatchObject({ code: 0, said: expect.stringContaining(winner) });
    platform = start("production", production);
    await platform.ready();
    const old = winner === "anna" ? berts : annas;
    expect(await logIn(platform, loser, old)).toBeUndefined();
    const token = (await logIn(platform, loser, passwordIn(again.said))) ?? "";
    const listed = await send(platform, "/v1/auth/operators", token);
    expect(JSON.stringify(listed.body)).toMatch(/"erika".*"disabled"/);
  });
});

describe("in development", { timeout: 120_000 }, () => {
  test("one admin with a second factor is enough, and the last one stays", async () => {
    giveMadeDatabase(join(folder, "development"));
    const platform = start("development", {});
    await platform.ready();
    const { access_token: token } = await logInAs(platform, "duty");
    const duty = new Person(platform, token).withSecret(developmentOperator(platform.dataFolder, "duty").totp_secret);
    const person = { name: "erika", roles: ["viewer"] };
    const added = await duty.post("/v1/auth/operators", "AddOperator", person, { ...person, reason: "tries" });
    expect(added).toMatchObject({ status: 201, body: { name: "erika" } });
    const erika = (await logIn(platform, "erika", String(added.body["password"]))) ?? "";
    expect((await send(platform, "/v1/auth/identity", erika)).status).toBe(200);
    const last = await duty.post(
      "/v1/auth/operators/duty/disable",
      "DisableOperator",
      { name: "duty", keep_tokens: false },
      { reason: "tries" },
    );
    expect(last).toMatchObject({ status: 409, body: { code: "OPERATOR_LAST_ADMIN" } });
  });
});
