// The code flow of the web desk from outside: PKCE, redirect addresses, approval, logging out, and codes that are used once.
import { createHash, randomBytes } from "node:crypto";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as instant from "../../../contracts/src/instant.ts";
import { fetchOnNewConnection } from "../../../testkit/http/fetch-on-new-connection.ts";
import { openProviderFixture, type ProviderFixture } from "../../../testkit/identity/embedded-provider.ts";
import type { Shown, TestBrowser } from "../../../testkit/identity/test-browser.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";

let database: TestDatabase;
let peer: PostgresPeer;
let fixture: ProviderFixture;
let callback: string;

beforeAll(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
  fixture = await openProviderFixture(peer.store);
  callback = new URL("/auth/callback", fixture.issuer).href;
});

afterAll(async () => {
  await fixture?.close();
  await peer?.close();
  await database?.drop();
});

beforeEach(() => {
  fixture.revocations.sessions.clear();
  fixture.revocations.subjects.clear();
});

const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");
const newVerifier = (): string => randomBytes(32).toString("base64url");

function authorizationUrl(verifier: string, changes: Readonly<Record<string, string | undefined>> = {}): string {
  const wanted: Record<string, string | undefined> = {
    client_id: "portcullis-web",
    response_type: "code",
    redirect_uri: callback,
    scope: "openid profile offline_access",
    state: "s",
    nonce: "n",
    code_challenge: challengeOf(verifier),
    code_challenge_method: "S256",
    ...changes,
  };
  const present = Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${fixture.issuer}/auth?${new URLSearchParams(present)}`;
}

const logIn = (browser: TestBrowser, page: Shown, name = "duty", password = "correct horse"): Promise<Shown> =>
  browser.submit(page, { name, password }, "decision=login");

async function codeFrom(browser: TestBrowser, verifier: string): Promise<string> {
  const login = await browser.open(authorizationUrl(verifier));
  // Our own desk is not asked for approval.
  const end = login.text.includes("<h1>Log in</h1>") ? await logIn(browser, login) : login;
  const url = new URL(end.url);
  expect(url.href.startsWith(`${callback}?`)).toBe(true);
  expect(url.searchParams.get("iss")).toBe(fixture.issuer);
  expect(url.searchParams.get("state")).toBe("s");
  return url.searchParams.get("code") ?? "";
}

const redeem = (code: string, verifier: string | undefined, changes: Readonly<Record<string, string>> = {}) =>
  fixture.post("/token", {
    client_id: "portcullis-web",
    grant_type: "authorization_code",
    redirect_uri: callback,
    code,
    ...(verifier === undefined ? {} : { code_verifier: verifier }),
    ...changes,
  });

/** Whether the browser's login still gives the desk a code, without a page. */
async function isLetIn(browser: TestBrowser): Promise<boolean> {
  return new URL((await browser.open(authorizationUrl(newVerifier(), { prompt: "none" }))).url).searchParams.has(
    "code",
  );
}

const refresh = (token = "") =>
  fixture.post("/token", { client_id: "portcullis-web", grant_type: "refresh_token", refresh_token: token });

describe("the code flow", () => {
  test("a person logs in, and the desk gets tokens without asking for approval", async () => {
    const verifier = newVerifier();
    const code = await codeFrom(fixture.browser(), verifier);
    const redeemed = await redeem(code, verifier);
    expect(redeemed.status).toBe(200);
    expect(decodeJwt(redeemed.body["id_token"] ?? "")).toMatchObject({ sub: "duty", nonce: "n", name: "duty" });
    expect(decodeJwt(redeemed.body["access_token"] ?? "")).toMatchObject({
      aud: "portcullis",
      client_id: "portcullis-web",
    });
    expect((await redeem(code, verifier)).body["error"]).toBe("invalid_grant");
  });

  test("without the right verifier a code is worth nothing, and PKCE cannot be left out or weakened", async () => {
    const verifier = newVerifier();
    const browser = fixture.browser();
    expect((await redeem(await codeFrom(browser, verifier), undefined)).body["error"]).toBe("invalid_grant");
    expect((await redeem(await codeFrom(browser, verifier), newVerifier())).body["error"]).toBe("invalid_grant");
    const without = await browser.open(
      authorizationUrl(verifier, { code_challenge: undefined, code_challenge_method: undefined }),
    );
    expect(new URL(without.url).searchParams.get("error")).toBe("invalid_request");
    const plain = await browser.open(authorizationUrl(verifier, { code_challenge_method: "plain" }));
    expect(new URL(plain.url).searchParams.get("error")).toBe("invalid_request");
  });

  test("a foreign redirect address, an unknown client and other response types are refused on the spot", async () => {
    const verifier = newVerifier();
    const browser = fixture.browser();
    for (const changes of [
      { redirect_uri: "https://evil.example/auth/callback" },
      { redirect_uri: `${callback}/x` },
      { client_id: "<b>somebody" },
      { client_id: "portcullis-cli" },
    ]) {
      const refused = await browser.open(authorizationUrl(verifier, changes));
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("This did not work");
      expect(refused.text).not.toContain("<b>");
    }
    const implicit = await browser.open(authorizationUrl(verifier, { response_type: "id_token" }));
    expect(implicit.url).toContain("#error=invalid_request");
    const code = await codeFrom(browser, verifier);
    expect((await redeem(code, verifier, { redirect_uri: `${callback}x` })).body["error"]).toBe("invalid_grant");
  });

  test("discovery names what there is and nothing more, and what there is not is not answered", async () => {
    const discovery = (await (
      await fetchOnNewConnection(`${fixture.issuer}/.well-known/openid-configuration`)
    ).json()) as object;
    expect(Object.keys(discovery).sort()).toEqual([
      "authorization_endpoint",
      "authorization_response_iss_parameter_supported",
      "claim_types_supported",
      "claims_parameter_supported",
      "claims_supported",
      "code_challenge_methods_supported",
      "device_authorization_endpoint",
      "end_session_endpoint",
      "grant_types_supported",
      "id_token_signing_alg_values_supported",
      "issuer",
      "jwks_uri",
      "request_uri_parameter_supported",
      "response_modes_supported",
      "response_types_supported",
      "revocation_endpoint",
      "scopes_supported",
      "subject_types_supported",
      "token_endpoint",
      "token_endpoint_auth_methods_supported",
    ]);
    expect(discovery).toMatchObject({ response_modes_supported: ["query"] });
    for (const path of ["/request", "/reg", "/me", "/token/introspection", "/backchannel"]) {
      expect((await fetchOnNewConnection(`${fixture.issuer}${path}`, { method: "POST" })).status, path).toBe(404);
    }
  });

  test("parameters that nobody needs that long are refused and not kept", async () => {
    const before = await peer.pool.query("select count(*)::int as n from oidc_state");
    const long = "x".repeat(2_049);
    for (const name of ["state", "nonce", "login_hint", "ui_locales"]) {
      const query = new URLSearchParams({
        client_id: "portcullis-web",
        response_type: "code",
        redirect_uri: new URL("/auth/callback", fixture.issuer).href,
        scope: "openid",
        code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        code_challenge_method: "S256",
        [name]: long,
      });
      const answer = await fetchOnNewConnection(`${fixture.issuer}/auth?${query}`, { redirect: "manual" });
      const reported = new URL(answer.headers.get("location") ?? "").searchParams;
      expect([reported.get("error"), reported.get("error_description")]).toEqual([
        "invalid_request",
        `${name} is too long`,
      ]);
    }
    const asked = await fixture.post("/device/auth", { client_id: "portcullis-cli", scope: "openid", nonce: long });
    expect(asked).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    const after = await peer.pool.query("select count(*)::int as n from oidc_state where model <> 'Session'");
    expect(after.rows[0].n).toBeLessThanOrEqual(before.rows[0].n);
  });

  test("denied, the desk hears so", async () => {
    const browser = fixture.browser();
    const login = await browser.open(authorizationUrl(newVerifier()));
    const end = await browser.submit(login, {}, "decision=deny");
    expect(new URL(end.url).searchParams.get("error")).toBe("access_denied");
  });

  test("of many who redeem one code at once, one gets tokens, and they do not live on", async () => {
    const verifier = newVerifier();
    const code = await codeFrom(fixture.browser(), verifier);
    const answers = await Promise.all(Array.from({ length: 6 }, () => redeem(code, verifier)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.body["error"] === "invalid_grant")).toHaveLength(5);
    const won = answers.find((answer) => answer.status === 200);
    expect((await refresh(won?.body["refresh_token"])).body["error"]).toBe("invalid_grant");
    expect(fixture.revocations.sessions.size).toBe(1);
  });

  test("logging out in the browser ends the desk's session, and a form without its secret does nothing", async () => {
    const verifier = newVerifier();
    const browser = fixture.browser();
    const redeemed = await redeem(await codeFrom(browser, verifier), verifier);
    const { sid } = decodeJwt(redeemed.body["access_token"] ?? "");
    const page = await browser.open(`${fixture.issuer}/session/end?id_token_hint=${redeemed.body["id_token"]}`);
    expect(page.text).toContain("Log out?");
    const forged = await browser.submit(page, { xsrf: "0" }, "logout=yes");
    expect(forged.status).toBe(400);
    expect(fixture.revocations.sessions.size).toBe(0);
    const kept = await browser.submit(await browser.open(`${fixture.issuer}/session/end`), {});
    expect(kept.text).toContain("You are still logged in");
    expect(fixture.revocations.sessions.size).toBe(0);
    const again = await browser.open(`${fixture.issuer}/session/end`);
    const end = await browser.submit(again, {}, "logout=yes");
    expect(end.text).toContain("You are logged out");
    expect([...fixture.revocations.sessions]).toEqual([[sid, "operator:duty"]]);
    expect((await refresh(redeemed.body["refresh_token"])).body["error"]).toBe("invalid_grant");
    expect((await browser.open(authorizationUrl(verifier))).text).toContain("<h1>Log in</h1>");
    const closed = await peer.pool.query("select payload from outbox where subject = 'svc.v1.identity.session.closed'");
    expect(closed.rows.some((row: { payload: Buffer }) => row.payload.toString().includes(String(sid)))).toBe(true);
  });

  test("the tabs of a browser are one session, and ending it asks for the password again", async () => {
    const browser = fixture.browser();
    const sessions = new Set<unknown>();
    for (let tab = 0; tab < 2; tab += 1) {
      const verifier = newVerifier();
      const redeemed = await redeem(await codeFrom(browser, verifier), verifier);
      sessions.add(decodeJwt(redeemed.body["access_token"] ?? "")["sid"]);
      // What one tab does with its token is nothing to the other.
      expect((await refresh(redeemed.body["refresh_token"])).status).toBe(200);
    }
    expect(sessions.size).toBe(1);
    expect(await isLetIn(browser)).toBe(true);
    for (const sid of sessions) fixture.revocations.sessions.set(String(sid), "operator:duty");
    expect(await isLetIn(browser)).toBe(false);
    expect((await browser.open(authorizationUrl(newVerifier()))).text).toContain("<h1>Log in</h1>");
  });

  test("a browser whose person was thrown out or is gone must log in again", async () => {
    const browser = fixture.browser();
    await codeFrom(browser, newVerifier());
    expect(await isLetIn(browser)).toBe(true);
    const later = instant.plusMilliseconds(fixture.clock.now(), 2_000);
    fixture.revocations.subjects.set(`${fixture.issuer}|duty`, later);
    expect((await browser.open(authorizationUrl(newVerifier()))).text).toContain("<h1>Log in</h1>");
    fixture.revocations.subjects.clear();
    expect(await isLetIn(browser)).toBe(true);
    const duty = fixture.people.byName.get("duty");
    fixture.people.byName.delete("duty");
    expect((await browser.open(authorizationUrl(newVerifier()))).text).toContain("<h1>Log in</h1>");
    if (duty !== undefined) fixture.people.byName.set("duty", duty);
  });

  test("another person can log in over an older login, which then ends", async () => {
    const browser = fixture.browser();
    await codeFrom(browser, newVerifier());
    const verifier = newVerifier();
    const login = await browser.open(authorizationUrl(verifier, { prompt: "login" }));
    const hop = await logIn(browser, login, "relief", "battery staple");
    expect(hop.headers.get("content-security-policy")).toMatch(/script-src 'sha256-/);
    const end = await browser.submit(hop, {});
    const redeemed = await redeem(new URL(end.url).searchParams.get("code") ?? "", verifier);
    expect(decodeJwt(redeemed.body["id_token"] ?? "")).toMatchObject({ sub: "relief" });
  });
});
