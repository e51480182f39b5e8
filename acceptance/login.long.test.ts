// A login of the real command line in a real browser, photographed, and kill -9 at random moments of a login and of its renewal: whatever
// the moment, the login is there or it is gone, and what is gone leaves nothing that anybody could use.
// PORTCULLIS_SCREENSHOTS names a folder that keeps the pictures; PORTCULLIS_SEED repeats the moments of a run.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { type Ctl, ctlIn, personAt } from "../testkit/ctl/ctl.ts";
import { codeAt, currentStep } from "../testkit/ctl/login-checks.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { askToken, developmentOperator, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const redemptionRounds = 12;
const renewalRounds = 40;
/** Longer than a renewal takes from its lock to its end, also on a busy machine. */
const renewalMsMax = 600;
const clientId = "portcullis-cli";

let folder: string;
let platform: Platform;
let url: string;
let issuer: string;
let ctl: Ctl;
let database: pg.Client;
let browser: Browser | undefined;

beforeAll(async () => {
  process.stderr.write(`seed ${seed}\n`);
  folder = temporaryFolder("login-long");
  platform = startPlatform({ dataFolder: join(folder, "data") });
  await platform.ready();
  url = operatorUrl(platform);
  issuer = `${url}/oidc`;
  ctl = ctlIn(join(folder, "home"), { PORTCULLIS_URL: url, PORTCULLIS_DATA_DIR: platform.dataFolder });
  const { host, port, name } = platform.runFile().database;
  const options = "-c search_path=portcullis";
  database = new pg.Client({ host, port, database: name, user: "portcullis_app", options });
  await database.connect();
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await database?.end();
  await ctl?.end();
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Mulberry32: small, and the same everywhere. */
function prng(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function openLogins(): Promise<number> {
  const found = await database.query("select count(*)::int as count from oidc_state where model = 'Grant'");
  return (found.rows as { count: number }[])[0]?.count ?? -1;
}

async function gatewayIsBackAfter(killed: number): Promise<void> {
  await eventually("the gateway is back", async () => {
    return platform.runFile().processes["gateway"] !== killed && (await platform.health()) === 200;
  });
}

function killGateway(): number {
  const { gateway = 0 } = platform.runFile().processes;
  process.kill(gateway, "SIGKILL");
  return gateway;
}

/** Somebody without a second factor, so that every round can log in at once. */
async function addRobin(): Promise<string> {
  const asDuty = ["--profile", "duty-adds"];
  await ctl.json(0, "auth", "login", "--dev", "duty", ...asDuty);
  const code = codeAt(developmentOperator(platform.dataFolder, "duty").totp_secret, currentStep());
  const words = ["auth", "operators", "add", "robin", "--role", "viewer", "--reason", "rounds", "--totp", code];
  return String((await ctl.json(0, ...words, ...asDuty))["password"]);
}

describe("in a real browser", () => {
  test("a person approves what ctl shows, and ctl is logged in", async () => {
    browser = await launchChromium();
    const pictures = process.env["PORTCULLIS_SCREENSHOTS"] ?? join(folder, "pictures");
    mkdirSync(pictures, { recursive: true });
    const page = await (await browser.newContext({ locale: "en-US" })).newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    const seen = (name: string) => page.screenshot({ path: join(pictures, `ctl-${name}.png`), fullPage: true });

    const login = await ctl.logIn("--json");
    await page.goto(login.url);
    await page.getByRole("heading", { name: "Is this you?" }).waitFor();
    await page.getByText(login.userCode).waitFor();
    // Who asks, so that a person can tell their own request from somebody else's.
    await page.getByText(`ctl on ${hostname()}`).waitFor();
    await seen("1-confirm");
    await page.getByRole("button", { name: "Yes" }).click();
    await page.getByLabel("Name").fill("duty");
    await page.getByLabel("Password").fill(developmentOperator(platform.dataFolder, "duty").password);
    await seen("2-login");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Let Portcullis command line in?" }).waitFor();
    await page.getByText("operator, risk_officer, admin").waitFor();
    await page.getByText(login.userCode).waitFor();
    const { totp_secret } = developmentOperator(platform.dataFolder, "duty");
    await page.getByLabel("Code of your authenticator").fill(codeAt(totp_secret, currentStep() - 1));
    await seen("3-approve");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "You are logged in" }).waitFor();
    await seen("4-done");

    const { exit, stderr } = await login.ended;
    expect(exit, stderr).toBe(0);
    expect(await ctl.json(0, "auth", "whoami")).toMatchObject({
      actor: "operator:duty",
      roles: ["operator", "risk_officer", "admin"],
      issuer,
      token_from: ctl.profilePath(),
    });
    expect(complaints).toEqual([]);
    const { token = "" } = ctl.profile();
    expect((await ctl.run("auth", "logout")).exit).toBe(0);
    expect(existsSync(ctl.profilePath())).toBe(false);
    // tidy: sleeps because a logout is promised to count within two seconds
    await pause(2_000);
    const refused = await fetchOnNewConnection(`${url}/v1/auth/identity`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(refused.status).toBe(401);
    await page.context().close();
  });
});

describe("kill -9 at random moments", () => {
  test(`of the gateway, while a code is redeemed: ${redemptionRounds} rounds`, async () => {
    const roll = prng(seed);
    const password = await addRobin();
    const before = await openLogins();
    const outcomes: string[] = [];
    for (let round = 0; round < redemptionRounds; round += 1) {
      const form = { client_id: clientId, scope: "openid profile offline_access" };
      const answer = await fetchOnNewConnection(`${issuer}/device/auth`, {
        method: "POST",
        body: new URLSearchParams(form),
      });
      const asked = (await answer.json()) as Record<string, string>;
      const person = personAt(issuer);
      await person.confirm({ url: asked["verification_uri_complete"] ?? "", userCode: asked["user_code"] ?? "" });
      await person.logIn("robin", password);
      await person.approve();
      const redeem = () =>
        askToken(url, {
          client_id: clientId,
          grant_type: "urn:ietf:params:oauth:grant-type:device_code",
          device_code: asked["device_code"] ?? "",
        }).catch(() => undefined);
      const first = redeem();
      await pause(roll() * 40);
      await gatewayIsBackAfter(killGateway());
      const answers = [await first, await redeem(), await redeem()];
      const given = answers.filter((each) => each?.status === 200);
      outcomes.push(answers.map((each) => each?.status ?? "lost").join(" "));
      // Redeemed at most once, and never again afterwards; the attempt to do so has ended the login.
      expect(given.length, outcomes.at(-1)).toBeLessThanOrEqual(1);
      expect(answers[2]?.status).toBe(400);
      for (const each of given) {
        const refreshToken = String(each?.body["refresh_token"]);
        const renewed = await askToken(url, {
          client_id: clientId,
          grant_type: "refresh_token",
          refresh_token: refreshToken,
        });
        expect(renewed.status).toBe(400);
      }
      expect(await openLogins()).toBe(before);
    }
    process.stderr.write(`first, second and third redemption: ${outcomes.join(", ")}\n`);
  });

  test(`of ctl, while it renews: ${renewalRounds} rounds`, async () => {
    const roll = prng(seed + 1);
    const logIn = () => ctl.json(0, "auth", "login", "--dev", "relief");
    const lock = ctl.profilePath().replace(/json$/, "lock");
    let lost = 0;
    await logIn();
    for (let round = 0; round < renewalRounds; round += 1) {
      const kept = JSON.parse(readFileSync(ctl.profilePath(), "utf8")) as Record<string, string>;
      const past = new Date(Date.now() - 1_000).toISOString();
      writeFileSync(ctl.profilePath(), JSON.stringify({ ...kept, expires_at: past }));
      const renewing = ctl.start("auth", "whoami");
      await Promise.race([eventually("it renews", () => existsSync(lock)), renewing.ended]);
      await pause(roll() * renewalMsMax);
      renewing.kill("SIGKILL");
      await renewing.ended;
      const next = await ctl.run("auth", "whoami");
      expect(existsSync(lock)).toBe(false);
      if (next.exit === 0) continue;
      // The issuer had used up the refresh token, and nobody has what it gave: the login is over, and that is said.
      expect(next).toMatchObject({ exit: 4, stderr: expect.stringContaining("ctl auth login") });
      lost += 1;
      await logIn();
      expect((await ctl.run("auth", "whoami")).exit).toBe(0);
    }
    process.stderr.write(`${lost} of ${renewalRounds} logins were lost with the answer\n`);
    expect((await ctl.run("auth", "logout")).exit).toBe(0);
  });
});
