// What strangers with a browser, a link, a reading login or nothing at all found, once more from outside: each finding is carried out on a running platform, in a
// real browser, in a terminal or over the wire, and is refused or says what it is. And what somebody's first day here is like.
import { TOTP } from "otpauth";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { ctlIn, personAt } from "../testkit/ctl/ctl.ts";
import {
  codeAt,
  currentStep,
  httpStatus,
  refusedInTime,
  revokedWithinMs,
  rpcStatuses,
} from "../testkit/ctl/login-checks.ts";
import { testClient } from "../testkit/grpc/test-client.ts";
import { goodOrder } from "../testkit/hostile/messages.ts";
import { documents, viewersBodies, widestBodies } from "../testkit/hostile/siege-doors.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, developmentCredentials, developmentOperator, logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, within } from "../testkit/platform.ts";
import { addressOf } from "../testkit/risk/client.ts";
import { withAsking } from "../testkit/shared/asking.ts";
import { openTui, startTerminalPlatform, type TerminalPlatform } from "../testkit/tui/terminal-platform.ts";
import { openPerson } from "../testkit/web/desk-browser.ts";

const timeout = 480_000;
const waitMs = 60_000;
/** Turns what stands behind it, and is seen by nobody. */
const turning = "\u202e";
const turned = `${turning}detfil eb lliw gnihton`;

let terminal: TerminalPlatform;
let browser: Browser;
let url = "";

beforeAll(async () => {
  [terminal, browser] = await Promise.all([startTerminalPlatform({}), launchChromium()]);
  url = operatorUrl(terminal.platform);
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await terminal?.end();
}, 90_000);

async function post(path: string, body: string, headers: Readonly<Record<string, string>>) {
  const sent = { method: "POST", body, headers: { ...headers, "content-type": "application/json" } };
  const answer = await fetchOnNewConnection(`${url}${path}`, sent);
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
}

async function askForDevice(): Promise<{ readonly verification_uri_complete: string }> {
  const asked = { client_id: "portcullis-cli", scope: "openid profile offline_access" };
  const answer = await fetchOnNewConnection(`${url}/oidc/device/auth`, {
    method: "POST",
    body: new URLSearchParams(asked),
  });
  return (await answer.json()) as { readonly verification_uri_complete: string };
}

/** Of a program that may do this and nothing else. */
async function machineToken(name: string, operation: string): Promise<string> {
  return withAsking(terminal.platform, async ({ askProven }) => {
    const named = { name, operations: [operation], expires_in_s: 3_600 };
    const action = { action: "IssueServiceToken", parameters: named } as const;
    return ((await askProven("POST", "/v1/service-tokens", action, named)) as { readonly token: string }).token;
  });
}

const allEntries = async (): Promise<string> => {
  const client = await terminal.clientOf("viewer");
  const texts: string[] = [];
  for (;;) {
    const page = await client.readAudit({ fromSequence: texts.length, countMax: 500 });
    texts.push(...page.texts);
    if (page.texts.length === 0) return texts.join("\n");
  }
};

test("46.1: after a desk's log-out no cookie and no token of before opens anything, on any port", {
  timeout,
}, async () => {
  const { platform } = terminal;
  const person = await openPerson(browser, platform, "relief");
  const tokens = new Set<string>();
  person.page.on("request", (request) => {
    const token = /^Bearer (.+)$/.exec(request.headers()["authorization"] ?? "")?.[1];
    if (token !== undefined) tokens.add(token);
  });
  await person.page.reload();
  await person.at("whoami").waitFor();
  await expect.poll(() => tokens.size, { timeout: waitMs }).toBeGreaterThan(0);
  const cookies = await person.page.context().cookies();
  expect(cookies.map(({ name }) => name)).toContain("portcullis_session");
  await person.at("logout").click();
  await person.at("logged-out").waitFor();

  const statuses = rpcStatuses();
  try {
    for (const token of tokens) {
      await refusedInTime(url, token);
      expect(await httpStatus(`${url}/v1/events`, token)).toBe(401);
      for (const path of ["/svc.v1.RiskEngine/GetEnvelope", "/svc.v1.Operations/ListActiveHalts"]) {
        const isRefused = async () => (await statuses.of(platform.runFile(), path, token)) === "UNAUTHENTICATED";
        await within(revokedWithinMs, `${path} is refused`, isRefused);
      }
    }
  } finally {
    statuses.close();
  }

  // Whoever kept the cookies is nobody: neither a device nor a desk is let in without the password.
  const { page } = person;
  await page.context().addCookies(cookies);
  await page.goto((await askForDevice()).verification_uri_complete);
  await page.getByRole("button", { name: "Yes" }).click();
  await page.locator("input[name=name]").waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  await page.context().addCookies(cookies);
  await page.goto(`${url}/risk`);
  await page.locator("input[name=password]").waitFor();
  await person.close();
});

describe("46.2 to 46.4: much is asked", { timeout }, () => {
  test("a hundred connections on a document and a viewer's widest bodies keep neither a halt nor a log-in out", async () => {
    const { platform } = terminal;
    const viewer = (await logInAs(platform, "viewer")).access_token;
    const sieges = [documents(url, 100), widestBodies(url, 4, viewer, viewersBodies())];
    try {
      await eventually("both are under way", () => sieges.every((siege) => siege.count() > 0), waitMs);
      const headers = await bearerOf(platform, "duty");
      const halt = { id: "gamma-income", reason: "much is asked", confirmation: "HALT" };
      expect(await post("/v1/halts", JSON.stringify(halt), headers)).toMatchObject({
        status: 201,
        body: { acknowledged: true },
      });
    } finally {
      for (const siege of sieges) siege.end();
    }
  });

  test("whoever has a document is sent it no second time", async () => {
    const first = await fetchOnNewConnection(`${url}/v1/openapi.json`, { headers: { "accept-encoding": "gzip" } });
    const etag = first.headers.get("etag") ?? "";
    expect([first.status, first.headers.get("content-encoding")]).toEqual([200, "gzip"]);
    await first.arrayBuffer();
    const headers = { "accept-encoding": "gzip", "if-none-match": etag };
    const again = await fetchOnNewConnection(`${url}/v1/openapi.json`, { headers });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  const many = (count: number, value: unknown): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));
  test.each([
    [
      "40,000 sectors",
      "/v1/riskengine/envelopes/alpha/diff",
      { proposed: { max_notional: "1", sector_limits_pct: many(40_000, 0.1) } },
    ],
    ["60,000 members that nobody knows", "/v1/riskengine/envelopes/alpha/diff", { proposed: {}, ...many(60_000, 1) }],
    [
      "50,000 members of audit data",
      "/v1/operations/audit",
      { action: "note.made", subject_id: "alpha", data: many(50_000, 1) },
    ],
  ])("%s are refused before anything is made of them", async (_name, path, body) => {
    const headers =
      path === "/v1/operations/audit"
        ? { authorization: `Bearer ${await machineToken("scribe", "AppendAudit")}` }
        : await bearerOf(terminal.platform, "viewer");
    const { status, body: said } = await post(path, JSON.stringify(body), headers);
    expect([400, 413], JSON.stringify(said).slice(0, 400)).toContain(status);
    expect(JSON.stringify(said).length).toBeLessThan(4_000);
  });
});

const shellWords = "touch /tmp/portcullis-third-round";

test("46.5: a command in an address that somebody else made is on no command and in no question", {
  timeout,
}, async () => {
  const asked: string[] = [];
  const person = await openPerson(browser, terminal.platform, "viewer", { path: "/risk?fund=alpha" });
  const { page, at } = person;
  page.on("request", (request) => asked.push(request.url()));
  for (const fund of [`alpha; ${shellWords} #`, `alpha\n${shellWords}\n`]) {
    await page.goto(`${url}/risk?fund=${encodeURIComponent(fund)}`);
    await at("refused-address").waitFor();
    await at("panel-limit-use").getByTestId("explain").click();
    await page.keyboard.press("y");
    await expect.poll(() => at("said").textContent(), { timeout: waitMs }).toContain("ctl ");
    expect(await page.locator("body").innerText()).not.toContain("touch");
  }
  expect(asked.filter((one) => /\/v1\/.*touch/.test(one))).toEqual([]);
  // Whoever has such a link can halt all the same.
  await at("halt-button").click();
  await at("danger-word").waitFor();
  await person.close();
});

test("46.7: whoever is claimed to have sent an order stands behind who sent it, and is called claimed", {
  timeout,
}, async () => {
  const { platform } = terminal;
  const { service_token: token } = developmentCredentials(platform.dataFolder);
  const client = testClient(addressOf(platform, "riskengine"), { token });
  const order = goodOrder("third-round-claimed", { actor: "operator:relief" });
  expect(await client.call("RiskEngine", "CheckOrder", order, { deadlineMs: 20_000 })).toMatchObject({ status: "OK" });
  client.close();
  const { exit, output } = await terminal.ctl(["why", order.order_id]);
  expect(exit, output).toBe(0);
  expect(output).toMatch(/Submitted by .*\n(.*\n)*?Actor, claimed +operator:relief/);
  expect(output).not.toMatch(/Submitted by .*operator:relief/);
});

test("46.8: a password that is typed as a name stands nowhere", { timeout }, async () => {
  const { platform } = terminal;
  const { password } = developmentOperator(platform.dataFolder, "viewer");
  const page = await (await browser.newContext({ locale: "en-US" })).newPage();
  await page.goto(`${url}/risk`);
  await logInWith(page, password, "x");
  await page.getByRole("alert").waitFor();
  expect((await terminal.ctl(["auth", "login", "--dev", password])).exit).not.toBe(0);
  await expect.poll(allEntries, { timeout: waitMs }).toMatch(/operator:unknown-[0-9a-f]{12}/);
  for (const kept of [await allEntries(), platform.stdout(), platform.stderr()]) expect(kept).not.toContain(password);
  await page.context().close();
});

async function logInWith(page: Page, name: string, password: string): Promise<void> {
  await page.fill("input[name=name]", name);
  await page.fill("input[name=password]", password);
  await page.click("button[value=login]");
}

test("a first day: let in by device without a second factor, kept from what takes one, set up with one, and heard in any script", {
  timeout,
}, async () => {
  const { platform, folder } = terminal;
  const roles = ["operator", "risk_officer"];
  const { password } = await withAsking(platform, async ({ askProven }) => {
    const named = { action: "AddOperator", parameters: { name: "shirin", roles } } as const;
    const body = { name: "shirin", roles, reason: "a first day" };
    return (await askProven("POST", "/v1/auth/operators", named, body)) as { readonly password: string };
  });
  const ctl = ctlIn(`${folder}/first-day`, { PORTCULLIS_URL: url });
  try {
    const login = await ctl.logIn("--json");
    const person = personAt(`${url}/oidc`);
    await person.confirm(login);
    await person.logIn("shirin", password);
    await person.approve();
    expect((await login.ended).exit).toBe(0);
    expect(await ctl.json(0, "auth", "whoami")).toMatchObject({
      actor: "operator:shirin",
      second_factor: { enrolled_at: null },
    });

    const reason = "🛑 بازار می‌ایستد 👩‍💻";
    const scope = "alpha-meanrev";
    const halted = await ctl.json(0, "cmd", "halt", scope, "--reason", reason, "--confirm", "HALT");
    expect(halted["acknowledged"]).toBe(true);
    const { stdout } = await ctl.run("riskengine", "halts", "list", "--json");
    expect((JSON.parse(stdout) as { reason: string }[]).map((halt) => halt.reason)).toContain(reason);
    expect((await ctl.run("riskengine", "halts", "list", "--format", "csv")).stdout).toContain(reason);

    const lift = ["cmd", "resume", scope, "--reason", "آرام شد", "--confirm", "RESUME", "--rebase"];
    expect(await ctl.json(5, ...lift, "--totp", "123456")).toMatchObject({ code: "SECOND_FACTOR_MISSING" });
    const { secret } = (await ctl.json(8, "auth", "enrol-totp")) as { secret: string };
    const step = currentStep();
    const confirmed = await ctl.json(0, "auth", "enrol-totp", "--code", codeAt(secret, step));
    expect(confirmed["recovery_codes"]).toHaveLength(10);
    // Each code is good once: the next one, or that of now where ctl took long.
    const next = codeAt(secret, Math.max(step + 1, currentStep()));
    expect(await ctl.json(0, ...lift, "--totp", next)).toMatchObject({ baseline: "rebased" });
  } finally {
    await ctl.end();
  }
});

test("46.6: a machine's reason turns nothing that the second person reads, on the desk, at a terminal or in ctl", {
  timeout,
}, async () => {
  const { platform } = terminal;
  const token = await machineToken("feed", "RequestHalt");
  const machine = testClient(addressOf(platform, "operations"), { token });
  const halt = { severity: "FIRM_HALT", fund_id: "", requested_by: "", reason: turned, confirmation: "HALT" };
  expect(await machine.call("Operations", "RequestHalt", halt, { deadlineMs: 20_000 })).toMatchObject({ status: "OK" });
  machine.close();

  const { totp_secret: secret } = developmentOperator(platform.dataFolder, "relief");
  const lift = { reason: "it was a test", confirmation: "RESUME", one_time_code: new TOTP({ secret }).generate() };
  const asked = await post("/v1/halts/resume", JSON.stringify(lift), await bearerOf(platform, "relief"));
  expect(asked.body, JSON.stringify(asked.body)).toHaveProperty("request_id");
  const duty = await openPerson(browser, platform, "duty");
  await duty.at("cosign-sign").click();
  const dialog = duty.at("danger-dialog");
  await dialog.locator(".fields dd").first().waitFor();
  const isolated = await dialog.locator(".fields dd bdi").allInnerTexts();
  expect(isolated.filter((text) => text.includes("⟨U+202E⟩detfil eb lliw gnihton")).length).toBeGreaterThan(0);
  expect(await duty.page.content()).not.toContain(turning);

  const pane = await terminal.pane(80, 24);
  await openTui(pane);
  await pane.press("h");
  await pane.until("the halt is there", (lines) => lines.some((line) => line.includes("⟨U+202E⟩")));
  expect(pane.output()).not.toContain(turning);
  await pane.press("q");

  for (const words of [[], ["--format", "csv"]]) {
    const { exit, output } = await terminal.ctl(["riskengine", "halts", "list", ...words]);
    expect([exit, output.includes(turning)]).toEqual([0, false]);
    expect(output).toContain("U+202E");
  }
  await duty.close();
});
