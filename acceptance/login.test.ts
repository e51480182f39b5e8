// The command line and its logins on the running platform: by device flow and as a development operator, through kill -9 on either side, and the second
// factor from its enrolment on. With an issuer that is not ours they are in login.ci.test.ts.

import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ctl, type CtlAnswer, ctlIn, type DeviceLogin, type Person, personAt } from "../testkit/ctl/ctl.ts";
import { codeAt, currentStep, httpStatus, refusedInTime, stepMs, unusedCodes } from "../testkit/ctl/login-checks.ts";
import { openBrowser } from "../testkit/form-browser.ts";
import { allOr } from "../testkit/full-count.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { hasUnreadRequest } from "../testkit/http/waiting-request.ts";
import { askToken, developmentOperator } from "../testkit/login.ts";
import { giveMadeDatabase } from "../testkit/made-cluster.ts";
import {
  eventually,
  freePorts,
  pause,
  processesMentioning,
  quietFunds,
  runFileIn,
  temporaryFolder,
} from "../testkit/platform.ts";
import { countPlatform } from "../testkit/times/counts.ts";
import { workerVariable } from "../testkit/times/processor-time.ts";

const clientId = "portcullis-cli";
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

let folder: string;

beforeAll(() => {
  folder = temporaryFolder("login");
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

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

describe("with the embedded provider", { timeout: 90_000 }, () => {
  let ctl: Ctl;
  let dataFolder: string;
  let url: string;
  let issuer: string;
  let database: pg.Client;
  let viewersRecoveryCode = "";

  beforeAll(async () => {
    dataFolder = join(folder, "embedded");
    giveMadeDatabase(dataFolder);
    // The marks are how processes that were left behind would be found, and their time counted.
    const bare = {
      ...freePorts,
      ...quietFunds,
      PORTCULLIS_DATA_DIR: dataFolder,
      PLATFORM_UNDER_TEST: dataFolder,
      [workerVariable]: String(process.pid),
      PORTCULLIS_DISK_RESERVE_MB: "0",
    };
    ctl = ctlIn(join(folder, "home"), bare);
    const started = await ctl.json(0, "up", "--detach");
    expect(started).toMatchObject({ status: "started", healthy: true, data_dir: dataFolder });
    countPlatform();
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
  }, 120_000);

  afterAll(async () => {
    await database?.end();
    await ctl?.end();
    await ctl?.run("down");
    for (const pid of processesMentioning(dataFolder)) process.kill(pid, "SIGKILL");
  }, 60_000);

  const codes = new Map<string, () => Promise<string>>();
  /** Of the factor that a development operator starts with. */
  function codeOf(name: string): Promise<string> {
    const next = codes.get(name) ?? unusedCodes(developmentOperator(dataFolder, name).totp_secret);
    codes.set(name, next);
    return next();
  }

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
    await person.approve(await codeOf("relief"));
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
      const answer = await fetchOnNewConnection(`${url}/v1/auth/step-up`, {
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

    const [recovery = "", other = "", third = ""] = recoveryCodes;
    viewersRecoveryCode = third;
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
    await Promise.all([atApproved.approve(viewersRecoveryCode), atRaw.approve(await codeOf("duty"))]);
    const { gateway = 0 } = runFileIn(dataFolder).processes;
    process.kill(gateway, "SIGKILL");
    const isHealthy = async () => (await httpStatus(`${url}/v1/healthz`, undefined).catch(() => 0)) === 200;
    await eventually("the gateway is back", async () => {
      return runFileIn(dataFolder).processes["gateway"] !== gateway && (await isHealthy());
    });
    await atEntered.approve(await codeOf("relief"));
    await (await atApproval(shown, "duty")).approve(await codeOf("duty"));

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
      await eventually("it waits for the issuer's answer", () => hasUnreadRequest(Number(new URL(url).port)));
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
    const answer = await fetchOnNewConnection(`${issuer}/device/auth`, {
      method: "POST",
      body: new URLSearchParams(form),
    });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  }

  function redeem(deviceCode: string): ReturnType<typeof askToken> {
    return askToken(url, { client_id: clientId, grant_type: deviceGrant, device_code: deviceCode });
  }
});
