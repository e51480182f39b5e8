// Logged out is logged out, from outside: what the desk's log-out ends at the issuer, whatever cookie or token of before is shown there, and what it leaves
// alone. The revocations are the real ones, on PostgreSQL.
import { createHash, randomBytes } from "node:crypto";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as instant from "../../../contracts/src/instant.ts";
import type { Identity } from "../../../ports/identity.ts";
import { fetchOnNewConnection } from "../../../testkit/http/fetch-on-new-connection.ts";
import { openProviderFixture, type ProviderFixture } from "../../../testkit/identity/embedded-provider.ts";
import type { Shown, TestBrowser } from "../../../testkit/identity/test-browser.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { systemClock } from "../../system/clock.ts";
import { createProviderRevocations } from "../logins/provider-revocations.ts";
import { createSessions } from "../logins/sessions.ts";

const sessionS = 43_200;
const scope = "openid profile offline_access";

let database: TestDatabase;
let peer: PostgresPeer;
let fixture: ProviderFixture;

beforeAll(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
  const revocations = createProviderRevocations({ store: peer.store, clock: systemClock(), sessionS });
  fixture = await openProviderFixture(peer.store, { revocations, sessionS });
});

afterAll(async () => {
  await fixture?.close();
  await peer?.close();
  await database?.drop();
});

interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

const passwords = { duty: "correct horse", relief: "battery staple" } as const;

function authorization(verifier: string, changes: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    client_id: "portcullis-web",
    response_type: "code",
    redirect_uri: new URL("/auth/callback", fixture.issuer).href,
    scope,
    state: "s",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...changes,
  });
  return `${fixture.issuer}/auth?${query}`;
}

async function deskTokens(end: Shown, verifier: string): Promise<Tokens> {
  const redeemed = await fixture.post("/token", {
    client_id: "portcullis-web",
    grant_type: "authorization_code",
    redirect_uri: new URL("/auth/callback", fixture.issuer).href,
    code: new URL(end.url).searchParams.get("code") ?? "",
    code_verifier: verifier,
  });
  expect(redeemed.status, JSON.stringify(redeemed.body)).toBe(200);
  return { access: redeemed.body["access_token"] ?? "", refresh: redeemed.body["refresh_token"] ?? "" };
}

async function logIntoWeb(browser: TestBrowser, changes: Readonly<Record<string, string>> = {}): Promise<Tokens> {
  const verifier = randomBytes(32).toString("base64url");
  const first = await browser.open(authorization(verifier, changes));
  const end = first.text.includes("<h1>Log in</h1>")
    ? await browser.submit(first, { name: "duty", password: passwords.duty }, "decision=login")
    : first;
  return deskTokens(end, verifier);
}

async function askForCode() {
  const asked = await fixture.post("/device/auth", { client_id: "portcullis-cli", scope });
  expect(asked.status).toBe(200);
  return asked.body;
}

/** Up to the page that follows "yes, this is me". */
async function atDevice(browser: TestBrowser, userCode = ""): Promise<Shown> {
  const input = await browser.open(`${fixture.issuer}/device`);
  const confirm = await browser.submit(input, { user_code: userCode });
  return browser.submit(confirm, {}, "confirm=yes");
}

const redeem = (deviceCode = "") =>
  fixture.post("/token", {
    client_id: "portcullis-cli",
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: deviceCode,
  });

const refresh = (clientId: string, token: string) =>
  fixture.post("/token", { client_id: clientId, grant_type: "refresh_token", refresh_token: token });

/** What the gateway's POST /v1/auth/logout does with the token of its caller. */
function logOut(token: string) {
  const { sid, jti, iat, exp } = decodeJwt(token);
  const sessions = createSessions({
    store: peer.store,
    clock: fixture.clock,
    sealing: fixture.sealing,
    issuer: () => fixture.issuer,
    sessionS,
    everybodyIsKnown: true,
  });
  const identity: Identity = {
    kind: "operator",
    actor: "operator:duty",
    name: "duty",
    subject: `${fixture.issuer}|duty`,
    issuer: fixture.issuer,
    roles: ["operator", "admin"],
    tokenId: String(jti),
    sessionId: String(sid),
    issuedAt: instant.fromUnixMs(Number(iat) * 1_000),
    expiresAt: instant.fromUnixMs(Number(exp) * 1_000),
  };
  return sessions.logOut(identity);
}

/** With the library's clock set ahead; it counts in whole seconds. */
async function later<Value>(ms: number, work: () => Promise<Value>): Promise<Value> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

const letsDeskIn = async (browser: TestBrowser): Promise<boolean> => {
  const verifier = randomBytes(32).toString("base64url");
  return new URL((await browser.open(authorization(verifier, { prompt: "none" }))).url).searchParams.has("code");
};

const asksForPassword = async (browser: TestBrowser): Promise<boolean> =>
  (await atDevice(browser, (await askForCode())["user_code"])).text.includes("<h1>Log in</h1>");

async function isEnded(token: string): Promise<boolean> {
  const { sid } = decodeJwt(token);
  const found = await peer.pool.query("select 1 from identity_revocation where kind = 'session' and id = $1", [sid]);
  return found.rowCount === 1;
}

/** A device that is approved in a browser which is logged in. */
async function approveDevice(browser: TestBrowser): Promise<Tokens> {
  const asked = await askForCode();
  const page = await atDevice(browser, asked["user_code"]);
  const consent = page.text.includes("<h1>Log in</h1>")
    ? await browser.submit(page, { name: "duty", password: passwords.duty }, "decision=login")
    : page;
  const done = await browser.submit(consent, { password: passwords.duty }, "decision=approve");
  expect(done.text).toContain("You are logged in");
  const { status, body } = await redeem(asked["device_code"]);
  expect(status).toBe(200);
  return { access: body["access_token"] ?? "", refresh: body["refresh_token"] ?? "" };
}

describe("the desk's log-out", () => {
  test("the browser of before approves no device without a password", async () => {
    const browser = fixture.browser();
    const out = await logOut((await logIntoWeb(browser)).access);
    expect(out.endedCookie).toEqual({ name: "portcullis_session", path: "/oidc" });
    const asked = await askForCode();
    const page = await atDevice(browser, asked["user_code"]);
    expect(page.text).toContain("<h1>Log in</h1>");
    expect((await redeem(asked["device_code"])).body["error"]).toBe("authorization_pending");
  });

  test("ends every desk of the browser's session, whichever tab logs out, and no other browser", async () => {
    const [browser, other] = [fixture.browser(), fixture.browser()];
    const elsewhere = await logIntoWeb(other);
    const first = await logIntoWeb(browser);
    // The password once more in the same browser: another grant.
    const second = await later(2_000, () => logIntoWeb(browser, { prompt: "login" }));
    expect(decodeJwt(second.access)["sid"]).not.toBe(decodeJwt(first.access)["sid"]);
    await logOut(first.access);
    for (const { access, refresh: token } of [first, second]) {
      expect(await isEnded(access)).toBe(true);
      expect((await refresh("portcullis-web", token)).body["error"]).toBe("invalid_grant");
    }
    expect(await letsDeskIn(browser)).toBe(false);
    expect(await asksForPassword(browser)).toBe(true);
    expect(await isEnded(elsewhere.access)).toBe(false);
    expect(await letsDeskIn(other)).toBe(true);
    expect((await refresh("portcullis-web", elsewhere.refresh)).status).toBe(200);
    const left = await peer.pool.query(
      "select model from oidc_state where grant_hash = any($1) or (model = 'Grant' and id_hash = any($1))",
      [[first, second].map(({ access }) => decodeJwt(access)["sid"])],
    );
    expect(left.rows).toEqual([]);
  });

  test("every endpoint of the issuer takes every cookie and token of before for nothing", async () => {
    const browser = fixture.browser();
    const tokens = await logIntoWeb(browser);
    const verifier = randomBytes(32).toString("base64url");
    const unused = new URL((await browser.open(authorization(verifier))).url).searchParams.get("code") ?? "";
    // An approval that was on the screen.
    const asked = await askForCode();
    const consent = await atDevice(browser, asked["user_code"]);
    const confirmation = await browser.open(`${fixture.issuer}/session/end`);
    const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    await logOut(tokens.access);

    const discovery = (await (
      await fetchOnNewConnection(`${fixture.issuer}/.well-known/openid-configuration`)
    ).json()) as Record<string, unknown>;
    const named = Object.values(discovery).filter((value) => String(value).startsWith(`${fixture.issuer}/`));
    const addresses = new Set([
      ...named.map(String),
      authorization(verifier, { prompt: "none" }),
      authorization(verifier, { id_token_hint: tokens.access }),
      consent.url,
      ...["/device", "/session/end", "/session/end/confirm", "/session/end/success"].map(
        (path) => fixture.issuer + path,
      ),
    ]);
    const { origin } = new URL(fixture.issuer);
    for (const address of addresses) {
      for (const method of ["GET", "POST"]) {
        for (const headers of [{ cookie }, { authorization: `Bearer ${tokens.access}` }, { cookie, origin }]) {
          const answer = await fetchOnNewConnection(address, {
            method,
            headers: { accept: "text/html", ...headers },
            redirect: "manual",
            ...(method === "POST" ? { body: new URLSearchParams({ decision: "approve", logout: "yes" }) } : {}),
          });
          const said = `${method} ${address} ${Object.keys(headers)} ${answer.status}`;
          expect(answer.headers.get("location") ?? "", said).not.toMatch(/[?&]code=/);
          const text = await answer.text();
          expect(text, said).not.toContain("You are logged in");
          expect(text, said).not.toContain('access_token"');
        }
      }
    }
    const redeemed = await fixture.post("/token", {
      client_id: "portcullis-web",
      grant_type: "authorization_code",
      redirect_uri: new URL("/auth/callback", fixture.issuer).href,
      code: unused,
      code_verifier: verifier,
    });
    expect(redeemed.body["error"]).toBe("invalid_grant");
    for (const client of ["portcullis-web", "portcullis-cli"]) {
      expect((await refresh(client, tokens.refresh)).body["error"]).toBe("invalid_grant");
    }
    const late = await browser.submit(consent, { password: passwords.duty }, "decision=approve");
    expect(late.text).toContain("expired or belongs to another browser");
    expect((await browser.submit(confirmation, {}, "logout=yes")).text).not.toContain("duty");
    expect((await redeem(asked["device_code"])).status).toBe(400);
    expect(await asksForPassword(browser)).toBe(true);
  });

  test("a session that a request of before saves once more opens nothing", async () => {
    const browser = fixture.browser();
    const tokens = await logIntoWeb(browser);
    const rows = await peer.pool.query("select * from oidc_state where model = 'Session'");
    await logOut(tokens.access);
    for (const row of rows.rows as Record<string, unknown>[]) {
      const names = Object.keys(row);
      await peer.pool.query(
        `insert into oidc_state (${names}) values (${names.map((_name, index) => `$${index + 1}`)}) on conflict do nothing`,
        Object.values(row),
      );
    }
    expect(await letsDeskIn(browser)).toBe(false);
    expect(await asksForPassword(browser)).toBe(true);
    // With the password the browser is somebody again.
    await logIntoWeb(browser);
    expect(await letsDeskIn(browser)).toBe(true);
  });

  test("a device that was approved there stays and is named, and its own log-out leaves the desk alone", async () => {
    const browser = fixture.browser();
    const desk = await logIntoWeb(browser);
    const [kept, left] = [await approveDevice(browser), await approveDevice(browser)];
    const ended = await logOut(left.access);
    expect(ended).toEqual({ deviceLogins: [] });
    expect(await letsDeskIn(browser)).toBe(true);
    const { deviceLogins } = await logOut(desk.access);
    expect(deviceLogins).toMatchObject([{ sessionId: decodeJwt(kept.access)["sid"], address: "127.0.0.1" }]);
    expect((await refresh("portcullis-cli", kept.refresh)).status).toBe(200);
    expect((await refresh("portcullis-cli", left.refresh)).body["error"]).toBe("invalid_grant");
    expect(await asksForPassword(browser)).toBe(true);
  });

  test("a browser that approved a device and opened no desk is logged out with the device", async () => {
    const browser = fixture.browser();
    const device = await approveDevice(browser);
    expect(await letsDeskIn(browser)).toBe(true);
    const other = fixture.browser();
    const second = await approveDevice(other);
    await logOut(second.access);
    expect(await letsDeskIn(other)).toBe(false);
    expect(await asksForPassword(other)).toBe(true);
    expect((await refresh("portcullis-cli", device.refresh)).status).toBe(200);
  });

  test("the issuer's own page ends the same", async () => {
    const browser = fixture.browser();
    const first = await logIntoWeb(browser);
    const second = await later(2_000, () => logIntoWeb(browser, { prompt: "login" }));
    const device = await approveDevice(browser);
    await browser.submit(await browser.open(`${fixture.issuer}/session/end`), {}, "logout=yes");
    for (const { access } of [first, second]) expect(await isEnded(access)).toBe(true);
    expect(await isEnded(device.access)).toBe(false);
    expect(await letsDeskIn(browser)).toBe(false);
  });
});
