// The command line and its logins on the running platform: by device flow and as a development operator, with the embedded provider and
// with an issuer that is not ours, through kill -9 on either side, and the second factor from its enrolment on.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { TOTP } from "otpauth";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describedServices } from "../adapters/grpc/definitions.ts";
import type { RunFile } from "../adapters/system/run-file.ts";
import { mayCall, type Operation, type Role } from "../contracts/src/authority.ts";
import { type Ctl, type CtlAnswer, ctlIn, type DeviceLogin, type Person, personAt } from "../testkit/ctl/ctl.ts";
import { openBrowser } from "../testkit/form-browser.ts";
import { allOr } from "../testkit/full-count.ts";
import { type TestClient, testClient } from "../testkit/grpc/test-client.ts";
import { askToken, developmentOperator } from "../testkit/login.ts";
import { giveMadeDatabase } from "../testkit/made-cluster.ts";
import {
  eventually,
  type Platform,
  pause,
  processesMentioning,
  startPlatform,
  temporaryFolder,
  within,
} from "../testkit/platform.ts";

const freePorts = {
  PORTCULLIS_HTTP_PORT: "0",
  PORTCULLIS_PUBLIC_PORT: "0",
  PORTCULLIS_GRPC_PORT: "0",
  PORTCULLIS_OPERATIONS_GRPC_PORT: "0",
};
const clientId = "portcullis-cli";
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
/** What the documentation promises for logouts and revocations. */
const revokedWithinMs = 2_000;
const stepMs = 30_000;

let folder: string;

beforeAll(() => {
  folder = temporaryFolder("login");
});

afterAll(async () => {
  for (const client of clients.values()) client.close();
  await Promise.all([...elsewhere.values()].map(endElsewhere));
  rmSync(folder, { recursive: true, force: true });
}, 90_000);

const runFileIn = (dataFolder: string): RunFile =>
  JSON.parse(readFileSync(join(dataFolder, "run.json"), "utf8")) as RunFile;

/** The HTTP status that a token gets. */
async function http(url: string, token: string | undefined, method = "GET"): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { method, headers });
  // An answer that goes on telling has no end to read to.
  if (answer.headers.get("content-type")?.startsWith("text/event-stream")) await answer.body?.cancel();
  else await answer.arrayBuffer();
  return answer.status;
}

/** One for each service of each start: opening a connection takes longer than a call. */
const clients = new Map<string, TestClient>();

async function rpc(run: RunFile, path: string, token: string): Promise<string> {
  const service = path.includes(".Operations/") ? "operations" : "riskengine";
  const [host = "", port = ""] = (run.addresses[service] ?? "").split(":");
  const key = `${run.pid} ${host}:${port}`;
  const client = clients.get(key) ?? testClient({ host, port: Number(port) });
  clients.set(key, client);
  const metadata = { authorization: `Bearer ${token}` };
  return (await client.rawCall(path, Buffer.alloc(0), undefined, { metadata })).status;
}

async function refusedInTime(url: string, token: string): Promise<void> {
  const refused = async (): Promise<boolean> => (await http(`${url}/v1/auth/identity`, token)) === 401;
  await within(revokedWithinMs, "the token is refused", refused);
}

const currentStep = (): number => Math.floor(Date.now() / stepMs);

const codeAt = (secret: string, step: number): string => new TOTP({ secret }).generate({ timestamp: step * stepMs });

/** A code that is none of those that could be accepted about now. */
function wrongCode(secret: string): string {
  const near = [-3, -2, -1, 0, 1, 2, 3].map((distance) => codeAt(secret, currentStep() + distance));
  return ["000000", "111111", "222222", "333333", "444444", "555555", "666666", "777777"].find(
    (code) => !near.includes(code),
  ) as string;
}

/** The number of this step, when it lasts long enough for what follows. */
async function freshStep(leftMsMin: number): Promise<number> {
  const leftMs = stepMs - (Date.now() % stepMs);
  if (leftMs < leftMsMin) await pause(leftMs + 20);
  return currentStep();
}

interface IssuerProcess {
  readonly child: ChildProcess;
  readonly issuer: string;
  readonly clientId: string;
}

/** An issuer in a process and on a port of its own; it knows erika, who may do everything, and max, who may look. */
async function startIssuer(more: readonly string[]): Promise<IssuerProcess> {
  const main = join(import.meta.dirname, "..", "testkit", "second-issuer-main.ts");
  const words = ["--import", "tsx", main, "--roles-claim", "realm_access.roles", ...more];
  const child = spawn(process.execPath, words, {
    cwd: join(import.meta.dirname, ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) continue;
    const { issuer, client_id } = JSON.parse(line) as { issuer: string; client_id: string };
    return { child, issuer, clientId: client_id };
  }
  throw new Error("the second issuer did not start");
}

const variants = [
  { name: "ID tokens as proof", kind: "id_token", issuerWords: [], settings: {} },
  {
    name: "JWT access tokens for an audience",
    kind: "access_token",
    issuerWords: ["--audience", "portcullis-api"],
    settings: { PORTCULLIS_OIDC_AUDIENCE: "portcullis-api" },
  },
] as const;

/** The short suite takes the first: the second repeats it with the issuer's other kind of token. */
const tried = allOr<(typeof variants)[number]>(variants, variants.slice(0, 1));

const people: Readonly<Record<string, readonly Role[]>> = {
  erika: ["operator", "risk_officer", "admin"],
  max: ["viewer"],
};

interface Elsewhere {
  readonly issuer: IssuerProcess;
  readonly platform: Platform;
  readonly url: string;
  readonly ctl: Ctl;
}

/** Each is started once and ended with the file. */
const elsewhere = new Map<string, Promise<Elsewhere>>();

function startedElsewhere(variant: (typeof variants)[number]): Promise<Elsewhere> {
  const started = elsewhere.get(variant.kind) ?? startElsewhere(variant);
  elsewhere.set(variant.kind, started);
  // Whoever needs it hears of a failure; until then nobody has to.
  started.catch(() => undefined);
  return started;
}

async function startElsewhere(variant: (typeof variants)[number]): Promise<Elsewhere> {
  const issuer = await startIssuer(variant.issuerWords);
  giveMadeDatabase(join(folder, variant.kind));
  const platform = startPlatform({
    dataFolder: join(folder, variant.kind),
    environment: {
      PORTCULLIS_OIDC_ISSUER: issuer.issuer,
      PORTCULLIS_OIDC_CLIENT_ID: issuer.clientId,
      PORTCULLIS_OIDC_ROLES_CLAIM: "realm_access.roles",
      ...variant.settings,
    },
  });
  try {
    await platform.ready();
  } catch (thrown) {
    issuer.child.kill("SIGKILL");
    await platform.end();
    throw thrown;
  }
  const url = `http://${platform.runFile().addresses["gateway"]}`;
  const environment = { PORTCULLIS_URL: url, PORTCULLIS_DATA_DIR: platform.dataFolder };
  return { issuer, platform, url, ctl: ctlIn(join(folder, `home-${variant.kind}`), environment) };
}

async function endElsewhere(started: Promise<Elsewhere>): Promise<void> {
  const found = await started.catch(() => undefined);
  await found?.ctl.end();
  found?.issuer.child.kill("SIGKILL");
  await found?.platform.end();
}

describe("with the embedded provider", { timeout: 90_000 }, () => {
  let ctl: Ctl;
  let dataFolder: string;
  let url: string;
  let issuer: string;
  let database: pg.Client;

  beforeAll(async () => {
    dataFolder = join(folder, "embedded");
    // The mark is how processes that were left behind would be found.
    const bare = {
      ...freePorts,
      PORTCULLIS_DATA_DIR: dataFolder,
      PLATFORM_UNDER_TEST: dataFolder,
      PORTCULLIS_DISK_RESERVE_MB: "0",
    };
    ctl = ctlIn(join(folder, "home"), bare);
    const started = await ctl.json(0, "up", "--detach");
    expect(started).toMatchObject({ status: "started", healthy: true, data_dir: dataFolder });
    url = `http://${runFileIn(dataFolder).addresses["gateway"]}`;
    issuer = `${url}/oidc`;
    ctl = ctl.with({ PORTCULLIS_URL: url });
    const { host, port, name } = runFileIn(dataFolder).database;
    database = new pg.Client({
      host,
      port,
      database: name,
      user: "portcullis_app",
      options: "-c search_path=portcullis",
    });
    await database.connect();
    // These come up one after the other while the tests here wait for polls.
    void tried.reduce<Promise<unknown>>(
      (earlier, variant) => earlier.then(() => startedElsewhere(variant).catch(() => undefined)),
      Promise.resolve(),
    );
  }, 120_000);

  afterAll(async () => {
    await database?.end();
    await ctl?.end();
    await ctl?.run("down");
    for (const pid of processesMentioning(dataFolder)) process.kill(pid, "SIGKILL");
  }, 60_000);

  const passwordOf = (name: string): string => developmentOperator(dataFolder, name).password;

  /** Through the pages up to the approval, which is the caller's. */
  async function atApproval(login: Pick<DeviceLogin, "url" | "userCode">, name: string): Promise<Person> {
    const person = personAt(issuer);
    await person.confirm(login);
    await person.logIn(name, passwordOf(name));
    return person;
  }

  async function count(where: string): Promise<number> {
    const found = await database.query(`select count(*)::int as count from oidc_state where ${where}`);
    return (found.rows as { count: number }[])[0]?.count ?? -1;
  }

  const openLogins = (): Promise<number> => count("model = 'Grant'");

  /** Makes ctl take its token for one that is about to run out. */
  function age(profile: string, leftMs: number): void {
    const path = ctl.profilePath(profile);
    const kept = ctl.profile(profile);
    writeFileSync(path, JSON.stringify({ ...kept, expires_at: new Date(Date.now() + leftMs).toISOString() }));
  }

  test("ctl up leaves a platform alone that runs already", async () => {
    const before = runFileIn(dataFolder);
    expect(await ctl.json(0, "up", "--detach")).toMatchObject({ status: "already running", pid: before.pid });
    expect(runFileIn(dataFolder)).toEqual(before);
  });

  test("development operators log in side by side, and out one by one", async () => {
    for (const [name, roles] of [
      ["duty", ["operator", "risk_officer", "admin"]],
      ["relief", ["operator", "risk_officer"]],
      ["viewer", ["viewer"]],
    ] as const) {
      const said = await ctl.json(0, "auth", "login", "--dev", name, "--profile", name);
      expect(said).toMatchObject({ actor: `operator:${name}`, roles, profile: name });
      expect(statSync(ctl.profilePath(name)).mode & 0o777).toBe(0o600);
      expect(statSync(dirname(ctl.profilePath(name))).mode & 0o777).toBe(0o700);
    }
    expect(await ctl.json(4, "auth", "whoami")).toMatchObject({ code: "UNAUTHENTICATED", exit_code: 4 });
    const doctor = await ctl.json(0, "doctor", "--profile", "duty");
    expect(JSON.stringify(doctor)).not.toContain('"fail"');
    const out = await ctl.json(0, "auth", "logout", "--profile", "relief");
    expect(out).toMatchObject({ logged_out: true, ended_on_server: true, ended_at_issuer: true });
    const [gone, stays] = await Promise.all([
      ctl.run("auth", "whoami", "--profile", "relief"),
      ctl.run("auth", "whoami", "--profile", "duty"),
    ]);
    expect(gone).toMatchObject({ exit: 4, stdout: "" });
    expect(stays).toMatchObject({ exit: 0, stdout: expect.stringContaining("operator:duty") });
    expect(await ctl.run("auth", "login", "--dev", "nobody")).toMatchObject({ exit: 2, stdout: "" });
  });

  test("the device flow: shown, approved in a browser, kept; after the logout the token is refused and the file is gone", async () => {
    const before = await openLogins();
    const login = await ctl.logIn("--json");
    expect(login.plainUrl).toBe(`${issuer}/device`);
    const person = await atApproval(login, "relief");
    expect(existsSync(ctl.profilePath())).toBe(false);
    await person.approve();
    const { exit, stdout, stderr } = await login.ended;
    expect(exit, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ actor: "operator:relief", roles: ["operator", "risk_officer"] });
    const who = await ctl.json(0, "auth", "whoami");
    expect(who).toMatchObject({ actor: "operator:relief", issuer, token_from: ctl.profilePath() });
    expect(who["expires_in_s"]).toBeGreaterThan(200);
    const { token = "", refresh_token = "" } = ctl.profile();
    for (const secret of [token, refresh_token, passwordOf("relief")]) expect(stdout + stderr).not.toContain(secret);
    expect(await openLogins()).toBe(before + 1);
    expect((await ctl.run("auth", "logout")).exit).toBe(0);
    await refusedInTime(url, token);
    const refused = await ctl.with({ PORTCULLIS_TOKEN: token }).json(4, "auth", "whoami");
    expect(refused).toMatchObject({ code: "UNAUTHENTICATED", exit_code: 4 });
    expect(existsSync(ctl.profilePath())).toBe(false);
    const again = await askToken(url, { grant_type: "refresh_token", client_id: clientId, refresh_token });
    expect(again).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await openLogins()).toBe(before);
  });

  test("a login that is denied, or given up with Ctrl-C, leaves nothing", async () => {
    const before = await openLogins();
    const [denied, given] = await Promise.all([ctl.logIn(), ctl.logIn("--profile", "given")]);
    const browser = openBrowser();
    await browser.open(denied.plainUrl);
    await browser.submit({ user_code: denied.userCode });
    expect(await browser.submit({ abort: "yes" })).toContain("Denied");
    await atApproval(given, "relief");
    given.kill("SIGINT");
    expect(await given.ended).toMatchObject({ exit: 130, stdout: "" });
    expect(await denied.ended).toMatchObject({ exit: 4, stderr: expect.stringContaining("refused in the browser") });
    for (const profile of ["default", "given"]) expect(existsSync(ctl.profilePath(profile))).toBe(false);
    expect(await openLogins()).toBe(before);
  });

  test("the second factor: set up without a terminal, one step either way, no code twice, a recovery code once", async () => {
    const asViewer = ["--profile", "viewer"];
    const old = developmentOperator(dataFolder, "viewer").totp_secret;
    const asked = await ctl.json(2, "auth", "enrol-totp", ...asViewer);
    expect(asked["detail"]).toContain("--totp");
    const oldCode = codeAt(old, currentStep());
    const begun = await ctl.json(8, "auth", "enrol-totp", "--totp", oldCode, ...asViewer);
    expect(begun).toMatchObject({ status: "pending", uri: expect.stringContaining("otpauth://totp/") });
    const secret = String(begun["secret"]);
    const wrong = await ctl.json(5, "auth", "enrol-totp", "--code", wrongCode(secret), ...asViewer);
    expect(wrong).toMatchObject({ code: "SECOND_FACTOR_WRONG" });

    const step = await freshStep(8_000);
    // A clock that is one step behind.
    const confirmed = await ctl.json(0, "auth", "enrol-totp", "--code", codeAt(secret, step - 1), ...asViewer);
    const recoveryCodes = confirmed["recovery_codes"] as string[];
    expect(new Set(recoveryCodes).size).toBe(10);
    const { token = "" } = ctl.profile("viewer");
    const stepUp = async (code: string): Promise<string | number> => {
      const answer = await fetch(`${url}/v1/auth/step-up`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ action: "StepUp", parameters: {}, totp: code }),
      });
      const said = (await answer.json()) as { code?: string };
      return answer.status === 201 ? 201 : (said.code ?? answer.status);
    };
    const tries = [
      ["the confirming code again", step - 1, "SECOND_FACTOR_WRONG"],
      ["this step's", step, 201],
      ["this step's again", step, "SECOND_FACTOR_WRONG"],
      ["two steps behind", step - 2, "SECOND_FACTOR_WRONG"],
      ["two steps ahead", step + 2, "SECOND_FACTOR_WRONG"],
      ["one step ahead", step + 1, 201],
      ["one step ahead again", step + 1, "SECOND_FACTOR_WRONG"],
    ] as const;
    for (const [name, at, expected] of tries) expect(await stepUp(codeAt(secret, at)), name).toBe(expected);
    expect(await stepUp(codeAt(old, step)), "a code of the old secret").toBe("SECOND_FACTOR_WRONG");

    const [recovery = "", other = ""] = recoveryCodes;
    expect(await ctl.json(8, "auth", "enrol-totp", "--recovery-code", recovery, ...asViewer)).toHaveProperty("secret");
    const used = await ctl.json(5, "auth", "enrol-totp", "--recovery-code", recovery, ...asViewer);
    expect(used).toMatchObject({ code: "SECOND_FACTOR_WRONG" });
    expect(await ctl.json(8, "auth", "enrol-totp", "--recovery-code", other, ...asViewer)).toHaveProperty("secret");
    expect(await ctl.json(0, "auth", "whoami", ...asViewer)).toMatchObject({
      second_factor: { recovery_codes_left: 8, locked_until: null },
    });
  });

  const atAnyPoint =
    "kill -9 of the gateway at any point of a login: it goes on where it was, and nothing is left half-open";
  test.each(allOr([atAnyPoint], []))("%s", async () => {
    const before = await openLogins();
    const asked = await askForCode();
    const profiles = ["code-shown", "password-entered", "approved"];
    const [shown, entered, approved] = (await Promise.all(
      profiles.map((profile) => ctl.logIn("--profile", profile)),
    )) as [DeviceLogin, DeviceLogin, DeviceLogin];
    const [atEntered, atApproved, atRaw] = await Promise.all([
      atApproval(entered, "relief"),
      atApproval(approved, "viewer"),
      atApproval({ url: String(asked["verification_uri_complete"]), userCode: String(asked["user_code"]) }, "duty"),
    ]);
    await Promise.all([atApproved.approve(), atRaw.approve()]);
    const { gateway = 0 } = runFileIn(dataFolder).processes;
    process.kill(gateway, "SIGKILL");
    const isHealthy = async () => (await http(`${url}/v1/healthz`, undefined).catch(() => 0)) === 200;
    await eventually("the gateway is back", async () => {
      return runFileIn(dataFolder).processes["gateway"] !== gateway && (await isHealthy());
    });
    await atEntered.approve();
    await (await atApproval(shown, "duty")).approve();

    const ends: CtlAnswer[] = await Promise.all([shown.ended, entered.ended, approved.ended]);
    for (const { exit, stderr } of ends) expect(exit, stderr).toBe(0);
    const names = await Promise.all(profiles.map((profile) => ctl.json(0, "auth", "whoami", "--profile", profile)));
    expect(names.map(({ actor }) => actor)).toEqual(["operator:duty", "operator:relief", "operator:viewer"]);

    // A code that was approved and not yet redeemed works once, and trying again ends what it gave.
    const first = await redeem(String(asked["device_code"]));
    expect(first.status).toBe(200);
    expect(await openLogins()).toBe(before + 4);
    const second = await redeem(String(asked["device_code"]));
    expect(second).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    await refusedInTime(url, String(first.body["access_token"]));

    // What was kept before the kill can be renewed after it.
    const { token } = ctl.profile("approved");
    age("approved", -1);
    expect(await ctl.json(0, "auth", "whoami", "--profile", "approved")).toMatchObject({ actor: "operator:viewer" });
    expect(ctl.profile("approved")["token"]).not.toBe(token);

    const outs = await Promise.all(profiles.map((profile) => ctl.run("auth", "logout", "--profile", profile)));
    expect(outs.map(({ exit }) => exit)).toEqual([0, 0, 0]);
    expect(await openLogins()).toBe(before);
    expect(
      await count(
        "model in ('RefreshToken', 'AccessToken') and consumed_us is null and grant_hash not in (select id_hash from oidc_state where model = 'Grant')",
      ),
    ).toBe(0);
  });

  test("kill -9 of ctl while it renews: the next one takes over its lock and the login is kept", async () => {
    const { token, refresh_token } = ctl.profile("duty");
    age("duty", -1);
    const { gateway = 0 } = runFileIn(dataFolder).processes;
    process.kill(gateway, "SIGSTOP");
    const lock = ctl.profilePath("duty").replace(/json$/, "lock");
    try {
      const renewing = ctl.start("auth", "whoami", "--profile", "duty");
      await eventually("it holds the lock", () => existsSync(lock));
      // It waits for the issuer's answer now.
      await pause(300);
      renewing.kill("SIGKILL");
      expect(await renewing.ended).toMatchObject({ signal: "SIGKILL", stdout: "" });
    } finally {
      process.kill(gateway, "SIGCONT");
    }
    expect(existsSync(lock)).toBe(true);
    expect(ctl.profile("duty")).toMatchObject({ token, refresh_token });
    // Two at once: one renews, the other waits for it and uses what it got.
    const both = await Promise.all([1, 2].map(() => ctl.run("auth", "whoami", "--profile", "duty")));
    for (const { exit, stderr } of both) expect(exit, stderr).toBe(0);
    expect(existsSync(lock)).toBe(false);
    expect(ctl.profile("duty")["refresh_token"]).not.toBe(refresh_token);
    age("duty", -1);
    expect((await ctl.run("auth", "whoami", "--profile", "duty")).exit).toBe(0);
  });

  test("ctl down ends it, and says so when there is nothing to end", async () => {
    await database.end();
    const { pid } = runFileIn(dataFolder);
    expect(await ctl.json(0, "down")).toEqual({ status: "stopped", pid });
    await eventually("nothing is left", () => processesMentioning(dataFolder).length === 0);
    expect(existsSync(join(dataFolder, "run.json"))).toBe(false);
    expect(await ctl.json(0, "down")).toEqual({ status: "not running" });
    expect(await ctl.json(9, "auth", "whoami", "--profile", "duty")).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect((await ctl.run("doctor")).exit).toBe(1);
  });

  async function askForCode(): Promise<Record<string, unknown>> {
    const form = { client_id: clientId, scope: "openid profile offline_access" };
    const answer = await fetch(`${issuer}/device/auth`, { method: "POST", body: new URLSearchParams(form) });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  }

  function redeem(deviceCode: string): ReturnType<typeof askToken> {
    return askToken(url, { client_id: clientId, grant_type: deviceGrant, device_code: deviceCode });
  }
});

describe.each(tried)("with an issuer that is not ours, $name", { timeout: 90_000 }, (variant) => {
  let ctl: Ctl;
  let issuer: IssuerProcess;
  let platform: Platform;
  let url: string;

  beforeAll(async () => {
    ({ ctl, issuer, platform, url } = await startedElsewhere(variant));
  }, 180_000);

  const tokenOf = (name: string): string => ctl.profile(name)["token"] ?? "";

  test("development operators do not exist", async () => {
    const refused = await ctl.json(5, "auth", "login", "--dev", "duty");
    expect(refused).toMatchObject({ code: "DEVELOPMENT_LOGIN_OFF", exit_code: 5 });
    expect(existsSync(join(platform.dataFolder, "dev-credentials.json"))).toBe(false);
    expect(await http(`${url}/oidc/token`, undefined, "POST")).toBe(401);
  });

  test("the same device flow logs in there", async () => {
    await Promise.all(
      Object.entries(people).map(async ([name, roles]) => {
        const login = await ctl.logIn("--profile", name, "--json");
        expect(new URL(login.url).origin).toBe(issuer.issuer);
        const browser = openBrowser();
        await browser.open(login.plainUrl);
        await browser.submit({ user_code: login.userCode });
        await browser.submit({});
        expect(await browser.submit({ name })).toContain("You are logged in");
        const { exit, stderr } = await login.ended;
        expect(exit, stderr).toBe(0);
        expect(await ctl.json(0, "auth", "whoami", "--profile", name)).toMatchObject({
          actor: `operator:${name}`,
          roles,
          issuer: issuer.issuer,
        });
        expect(ctl.profile(name)).toMatchObject({ token_kind: variant.kind, issuer: issuer.issuer });
      }),
    );
  });

  test("a role may do what the table says and no more", async () => {
    const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { readonly "x-operation": Operation; readonly servers?: unknown }>>;
    };
    // These would end the logins that are still needed.
    const ends: readonly Operation[] = ["LogOut", "RevokeSessions", "RotateSigningKeys"];
    let asked = 0;
    for (const [name, roles] of Object.entries(people)) {
      for (const [path, methods] of Object.entries(document.paths)) {
        for (const [method, { "x-operation": operation, servers }] of Object.entries(methods)) {
          // What only the public listener serves says where that is.
          if (servers !== undefined) continue;
          const isAllowed = mayCall(operation, { roles });
          if (isAllowed && ends.includes(operation)) continue;
          const status = await http(
            url + path.replaceAll(/\{[^}]+\}/g, "unknown"),
            tokenOf(name),
            method.toUpperCase(),
          );
          const said = `${method} ${path} as ${name}`;
          if (isAllowed) expect([401, 403], said).not.toContain(status);
          else expect(status, said).toBe(403);
          asked += 1;
        }
      }
      const procedures = describedServices.filter((each) => ["RiskEngine", "Operations"].includes(each.name));
      for (const method of procedures.flatMap(({ methods }) => methods)) {
        const status = await rpc(platform.runFile(), method.path, tokenOf(name));
        const said = `${method.path} as ${name}`;
        if (mayCall(method.name as Operation, { roles }))
          expect(["UNAUTHENTICATED", "PERMISSION_DENIED"], said).not.toContain(status);
        else expect(status, said).toBe("PERMISSION_DENIED");
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(50);
  });

  test("second factor, step-up and tokens of machines work there too", async () => {
    const asErika = ["--profile", "erika"];
    const { secret } = (await ctl.json(8, "auth", "enrol-totp", ...asErika)) as { secret: string };
    const step = currentStep();
    const confirmed = await ctl.json(0, "auth", "enrol-totp", "--code", codeAt(secret, step), ...asErika);
    expect(confirmed["recovery_codes"]).toHaveLength(10);
    const issue = ["auth", "tokens", "issue", "acme-oms", "--operation", "GetEnvelope", "--expires-in", "1h"];
    const replayed = await ctl.json(5, ...issue, "--totp", codeAt(secret, step), ...asErika);
    expect(replayed).toMatchObject({ code: "SECOND_FACTOR_WRONG" });
    const issued = await ctl.json(0, ...issue, "--totp", codeAt(secret, step + 1), ...asErika);
    const run = platform.runFile();
    expect(await rpc(run, "/svc.v1.RiskEngine/GetEnvelope", String(issued["token"]))).toBe("NOT_FOUND");
    expect(await rpc(run, "/svc.v1.RiskEngine/CheckOrder", String(issued["token"]))).toBe("PERMISSION_DENIED");
    const refused = await ctl.json(5, ...issue, "--totp", "123456", "--profile", "max");
    expect(["PERMISSION_DENIED", "SECOND_FACTOR_MISSING"]).toContain(refused["code"]);
  });

  test("a person whose logins were ended is refused in time, everywhere", async () => {
    const token = tokenOf("max");
    expect(await rpc(platform.runFile(), "/svc.v1.RiskEngine/GetEnvelope", token)).toBe("NOT_FOUND");
    expect((await ctl.run("auth", "revoke-sessions", "max", "--profile", "erika")).exit).toBe(0);
    const paths = ["/svc.v1.RiskEngine/GetEnvelope", "/svc.v1.Operations/ListActiveHalts"];
    const refused = async (path: string) => (await rpc(platform.runFile(), path, token)) === "UNAUTHENTICATED";
    await Promise.all([
      refusedInTime(url, token),
      ...paths.map((path) => within(revokedWithinMs, `${path} is refused`, () => refused(path))),
    ]);
    expect(await ctl.json(4, "auth", "whoami", "--profile", "max")).toMatchObject({ code: "UNAUTHENTICATED" });
    expect((await ctl.run("auth", "whoami", "--profile", "erika")).exit).toBe(0);
  });

  test("while the issuer is away, who has logged in goes on", async () => {
    const ended = new Promise((resolve) => issuer.child.once("exit", resolve));
    issuer.child.kill("SIGTERM");
    await ended;
    await expect(fetch(issuer.issuer)).rejects.toThrow();
    expect((await ctl.run("auth", "whoami", "--profile", "erika")).exit).toBe(0);
    expect(await rpc(platform.runFile(), "/svc.v1.Operations/ListActiveHalts", tokenOf("erika"))).toBe("OK");
    const login = await ctl.json(9, "auth", "login", "--profile", "other");
    expect(login).toMatchObject({ code: "IDENTITY_UNAVAILABLE", exit_code: 9 });
    // The renewal fails, and what is left of the token is used.
    const token = tokenOf("erika");
    const kept = { ...ctl.profile("erika"), expires_at: new Date(Date.now() + 20_000).toISOString() };
    writeFileSync(ctl.profilePath("erika"), JSON.stringify(kept));
    expect((await ctl.run("auth", "whoami", "--profile", "erika")).exit).toBe(0);
    const out = await ctl.json(9, "auth", "logout", "--profile", "erika");
    expect(out).toMatchObject({ logged_out: true, ended_on_server: true, ended_at_issuer: false });
    await refusedInTime(url, token);
  });
});
