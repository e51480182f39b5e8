// The device flow from outside: a program asks, a person approves in a browser, the program gets its tokens; and every way in which that
// may end differently.
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { fetchOnNewConnection } from "../../../testkit/http/fetch-on-new-connection.ts";
import { type Answer, openProviderFixture, type ProviderFixture } from "../../../testkit/identity/embedded-provider.ts";
import type { Shown, TestBrowser } from "../../../testkit/identity/test-browser.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
const scope = "openid profile offline_access";

let database: TestDatabase;
let peer: PostgresPeer;
let fixture: ProviderFixture;

const terminal = (["log", "info", "warn", "error"] as const).map((name) => vi.spyOn(console, name));

beforeAll(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
  fixture = await openProviderFixture(peer.store);
});

afterAll(async () => {
  // Neither the library nor the framework below it writes to the terminal.
  for (const spy of terminal) expect(spy).not.toHaveBeenCalled();
  await fixture?.close();
  await peer?.close();
  await database?.drop();
});

beforeEach(() => {
  fixture.people.throttledS = undefined;
});

async function askForCode(): Promise<Answer> {
  const asked = await fixture.post("/device/auth", { client_id: "portcullis-cli", scope });
  expect(asked.status).toBe(200);
  return asked.body;
}

const redeem = (deviceCode = "") =>
  fixture.post("/token", { client_id: "portcullis-cli", grant_type: deviceGrant, device_code: deviceCode });

/** Up to the login form. */
async function confirmCode(browser: TestBrowser, userCode = ""): Promise<Shown> {
  const input = await browser.open(`${fixture.issuer}/device`);
  expect(input.status).toBe(200);
  const confirm = await browser.submit(input, { user_code: userCode });
  expect(confirm.text).toContain("Is this you?");
  return browser.submit(confirm, {}, "confirm=yes");
}

const logIn = (browser: TestBrowser, page: Shown, name = "duty", password = "correct horse"): Promise<Shown> =>
  browser.submit(page, { name, password }, "decision=login");

async function events(kind: string): Promise<Record<string, unknown>[]> {
  const found = await peer.pool.query("select payload from outbox where subject = $1 order by id", [
    `svc.v1.identity.${kind}`,
  ]);
  return found.rows.map((row: { payload: Buffer }) => JSON.parse(row.payload.toString()) as Record<string, unknown>);
}

describe("the device flow", () => {
  test("a person approves and the device gets tokens for the platform", async () => {
    const asked = await askForCode();
    expect(asked["user_code"]).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(asked.interval).toBe(5);
    expect(asked.expires_in).toBe(600);
    expect(asked["verification_uri"]).toBe(`${fixture.issuer}/device`);
    expect((await redeem(asked["device_code"])).body["error"]).toBe("authorization_pending");

    const browser = fixture.browser();
    const login = await confirmCode(browser, asked["user_code"]);
    expect(login.text).toContain("Portcullis command line");
    const consent = await logIn(browser, login);
    for (const shown of ["Let Portcullis command line in?", "duty", "127.0.0.1", "operator, admin", "12 hours"]) {
      expect(consent.text).toContain(shown);
    }
    expect(consent.text).toContain(asked["user_code"]);
    const done = await browser.submit(consent, {}, "decision=approve");
    expect(done.text).toContain("You are logged in");

    const redeemed = await redeem(asked["device_code"]);
    expect(redeemed.status).toBe(200);
    const keys = createLocalJWKSet(
      (await (await fetchOnNewConnection(`${fixture.issuer}/jwks`)).json()) as JSONWebKeySet,
    );
    const access = await jwtVerify(redeemed.body["access_token"] ?? "", keys, {
      issuer: fixture.issuer,
      audience: "portcullis",
      algorithms: ["ES256"],
      typ: "at+jwt",
    });
    expect(access.payload).toMatchObject({ sub: "duty", name: "duty", roles: ["operator", "admin"] });
    expect(Number(access.payload.exp) - Number(access.payload.iat)).toBe(300);
    expect(access.payload.jti).toBeDefined();
    const identity = await jwtVerify(redeemed.body["id_token"] ?? "", keys, { audience: "portcullis-cli" });
    expect(identity.payload).toMatchObject({ sub: "duty", name: "duty", roles: ["operator", "admin"] });
    const opened = await events("session.opened");
    expect(opened.at(-1)).toMatchObject({
      principal: "operator:duty",
      session_id: access.payload["sid"],
      method: "password",
      remote_address: "127.0.0.1",
    });

    const again = await redeem(asked["device_code"]);
    expect(again.body["error"]).toBe("invalid_grant");
    const closed = await events("session.closed");
    expect(closed.at(-1)).toMatchObject({ principal: "operator:duty", session_id: access.payload["sid"] });
    expect(fixture.revocations.sessions.get(String(access.payload["sid"]))).toBe("operator:duty");
    const refreshed = await fixture.post("/token", {
      client_id: "portcullis-cli",
      grant_type: "refresh_token",
      refresh_token: redeemed.body["refresh_token"] ?? "",
    });
    expect(refreshed.body["error"]).toBe("invalid_grant");
  });

  test("a link that carries the code leads to its confirmation", async () => {
    const asked = await askForCode();
    const browser = fixture.browser();
    const hop = await browser.open(asked["verification_uri_complete"] ?? "");
    expect(hop.headers.get("content-security-policy")).toMatch(/script-src 'sha256-/);
    const confirm = await browser.submit(hop, {});
    expect(confirm.text).toContain(asked["user_code"]);
    expect(confirm.text).toContain("Is this you?");
  });

  test("denied at the approval, the device hears so", async () => {
    const asked = await askForCode();
    const browser = fixture.browser();
    const consent = await logIn(browser, await confirmCode(browser, asked["user_code"]));
    const denied = await browser.submit(consent, {}, "decision=deny");
    expect(denied.text).toContain("Denied");
    expect((await redeem(asked["device_code"])).body["error"]).toBe("access_denied");
  });

  test("denied at the code or at the login, the device hears so", async () => {
    const first = await askForCode();
    const browser = fixture.browser();
    const input = await browser.open(`${fixture.issuer}/device`);
    const confirm = await browser.submit(input, { user_code: first["user_code"] ?? "" });
    expect((await browser.submit(confirm, {}, "abort=yes")).text).toContain("Denied");
    expect((await redeem(first["device_code"])).body["error"]).toBe("access_denied");

    const second = await askForCode();
    const other = fixture.browser();
    const login = await confirmCode(other, second["user_code"]);
    expect((await other.submit(login, {}, "decision=deny")).text).toContain("Denied");
    expect((await redeem(second["device_code"])).body["error"]).toBe("access_denied");
  });

  test("a wrong password gets one sentence and the form again, with the name kept and nothing said of whether it exists", async () => {
    const asked = await askForCode();
    const browser = fixture.browser();
    const login = await confirmCode(browser, asked["user_code"]);
    const wrong = await logIn(browser, login, 'duty"><i>', "no");
    const unknown = await logIn(browser, wrong, "nobody", "no");
    const sentence = "That name and password do not match";
    expect([wrong.status, unknown.status]).toEqual([400, 400]);
    expect(wrong.text).toContain(sentence);
    expect(unknown.text).toContain(sentence);
    expect(wrong.text).toContain('value="duty&quot;&gt;&lt;i&gt;"');
    expect(wrong.text).not.toContain("<i>");
    expect(wrong.text).toContain('role="alert"');

    fixture.people.throttledS = 90;
    const throttled = await logIn(browser, unknown);
    expect(throttled.status).toBe(429);
    expect(throttled.headers.get("retry-after")).toBe("90");
    expect(throttled.text).toContain("Try again in 90 seconds");
    fixture.people.throttledS = undefined;
    expect((await logIn(browser, throttled)).text).toContain("Approve");
  });

  test("a form from elsewhere is refused, and so is one without the interaction's cookie", async () => {
    const asked = await askForCode();
    const browser = fixture.browser();
    const login = await confirmCode(browser, asked["user_code"]);
    const body = new URLSearchParams({ decision: "login", name: "duty", password: "correct horse" });
    const cookie = browser.cookies.map((each) => `${each.name}=${each.value}`).join("; ");
    const send = async (headers: Record<string, string>): Promise<number> =>
      (await fetchOnNewConnection(login.url, { method: "POST", body, headers, redirect: "manual" })).status;
    const { origin } = new URL(fixture.issuer);
    expect(await send({ cookie, origin: "http://evil.example" })).toBe(403);
    expect(await send({ cookie, origin: "null" })).toBe(403);
    expect(await send({ cookie, origin, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await send({ cookie })).toBe(403);
    expect(await send({ origin })).toBe(400);
    expect(await send({ cookie: cookie.replace(/(portcullis_interaction)=[^;]+/, "$1=x"), origin })).toBe(400);
    const large = await fetchOnNewConnection(login.url, {
      method: "POST",
      body: `name=${"x".repeat(20_000)}`,
      redirect: "manual",
      headers: { cookie, origin, "content-type": "application/x-www-form-urlencoded" },
    });
    expect(large.status).toBe(400);
    expect(await send({ cookie, origin })).toBe(303);
  });

  test("a form that comes without its browser's session gets a page, and no line in the log", async () => {
    const linesBefore = fixture.lines.length;
    const cookie = "portcullis_session=gone; portcullis_session.sig=none";
    for (const path of ["/device", "/session/end/confirm"]) {
      for (const headers of [{}, { cookie }, { accept: "text/html" }, { accept: "text/html", cookie }]) {
        const answer = await fetchOnNewConnection(`${fixture.issuer}${path}`, {
          method: "POST",
          headers,
          body: new URLSearchParams({ xsrf: "x", user_code: "BCDF-GHJK", logout: "yes" }),
        });
        expect(answer.status, `${path} ${JSON.stringify(headers)}`).toBe(400);
        expect(answer.headers.get("content-type")).toContain("text/html");
        expect(await answer.text()).toContain("start again");
      }
    }
    expect(fixture.lines.slice(linesBefore)).toEqual([]);
  });

  test("codes that are wrong, used or expired are told apart, and two browsers cannot take over one code", async () => {
    const browser = fixture.browser();
    const input = await browser.open(`${fixture.issuer}/device`);
    const wrong = await browser.submit(input, { user_code: "BBBB-BBBB" });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain("There is no such code");

    const asked = await askForCode();
    const [one, two] = [fixture.browser(), fixture.browser()];
    const pages = await Promise.all(
      [one, two].map(async (each) =>
        each.submit(await each.open(`${fixture.issuer}/device`), { user_code: asked["user_code"] ?? "" }),
      ),
    );
    const ends = await Promise.all(
      [one, two].map((each, index) => each.submit(pages[index] ?? input, {}, "confirm=yes")),
    );
    expect(ends.filter((end) => end.text.includes("<h1>Log in</h1>"))).toHaveLength(1);
    expect(ends.filter((end) => end.text.includes("has been used"))).toHaveLength(1);

    const late = await askForCode();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 601_000 });
    try {
      expect((await redeem(late["device_code"])).body["error"]).toBe("expired_token");
      const expired = await browser.submit(await browser.open(`${fixture.issuer}/device`), {
        user_code: late["user_code"] ?? "",
      });
      expect(expired.text).toContain("has expired");
    } finally {
      vi.useRealTimers();
    }
  });

  test("pages carry their headers, cookies theirs, and headers of a proxy or another host change nothing", async () => {
    const browser = fixture.browser({
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      forwarded: "host=evil.example",
      "x-forwarded-for": "6.6.6.6",
    });
    const input = await browser.open(`${fixture.issuer}/device`);
    const policy = input.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(input.text).not.toMatch(/<script|onfocus|evil/);
    const line = browser.cookies.find((each) => each.name === "portcullis_session")?.line.toLowerCase() ?? "";
    expect(line).toContain("path=/oidc");
    expect(line).toContain("httponly");
    expect(line).toContain("samesite=lax");
    expect(line).not.toContain("secure");
    const found = await fetchOnNewConnection(`${fixture.issuer}/.well-known/openid-configuration`, {
      headers: { "x-forwarded-host": "evil.example" },
    });
    const discovery = (await found.json()) as Record<string, unknown>;
    expect(discovery).toMatchObject({
      issuer: fixture.issuer,
      device_authorization_endpoint: `${fixture.issuer}/device/auth`,
    });
    expect(JSON.stringify(discovery)).not.toContain("evil");
    expect(discovery["introspection_endpoint"]).toBeUndefined();
    expect(discovery["registration_endpoint"]).toBeUndefined();
    expect((await fetchOnNewConnection(`${fixture.issuer}/nothing`)).status).toBe(404);
  });

  test("an unknown client and a foreign resource are refused", async () => {
    const unknown = await fixture.post("/device/auth", { client_id: "somebody", scope });
    expect(unknown).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    const foreign = await fixture.post("/device/auth", {
      client_id: "portcullis-cli",
      scope,
      resource: "https://evil.example",
    });
    expect(foreign).toMatchObject({ status: 400, body: { error: "invalid_target" } });
    const web = await fixture.post("/device/auth", { client_id: "portcullis-web", scope });
    expect(web.status).toBe(400);
  });

  test("behind a proxy that speaks https, every address is the issuer's and cookies are for https only", async () => {
    const away = await openProviderFixture(peer.store, { issuer: "https://desk.example/oidc" });
    try {
      const found = await fetchOnNewConnection(`${away.origin}/oidc/.well-known/openid-configuration`);
      const discovery = (await found.json()) as Record<string, string>;
      expect(discovery["issuer"]).toBe("https://desk.example/oidc");
      expect(discovery["token_endpoint"]).toBe("https://desk.example/oidc/token");
      const page = await fetchOnNewConnection(`${away.origin}/oidc/device`, { headers: { accept: "text/html" } });
      for (const line of page.headers.getSetCookie()) expect(line.toLowerCase()).toContain("; secure");
      expect(page.headers.getSetCookie()).not.toHaveLength(0);
    } finally {
      await away.close();
      await fixture.restart();
    }
  });
});
