// What becomes of tokens afterwards: they rotate, they end, they survive a restart, and nobody finds one in the database.
import { decodeJwt } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as instant from "../../../contracts/src/instant.ts";
import { fetchOnNewConnection } from "../../../testkit/http/fetch-on-new-connection.ts";
import { type Answer, openProviderFixture, type ProviderFixture } from "../../../testkit/identity/embedded-provider.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";

const developmentGrant = "urn:portcullis:params:oauth:grant-type:development";
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

let database: TestDatabase;
let peer: PostgresPeer;
let fixture: ProviderFixture;

beforeAll(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
  fixture = await openProviderFixture(peer.store);
});

afterAll(async () => {
  await fixture?.close();
  await peer?.close();
  await database?.drop();
});

beforeEach(() => {
  fixture.people.throttledS = undefined;
  fixture.revocations.sessions.clear();
  fixture.revocations.subjects.clear();
});

const client = { client_id: "portcullis-cli" };
const logInAs = (name: string, password: string) =>
  fixture.post("/token", { ...client, grant_type: developmentGrant, name, password });

async function duty(): Promise<Answer> {
  const answer = await logInAs("duty", "correct horse");
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

const refresh = (token = "") =>
  fixture.post("/token", { ...client, grant_type: "refresh_token", refresh_token: token });
const sidOf = (answer: Answer): string => String(decodeJwt(answer["access_token"] ?? "")["sid"]);

describe("the development grant", () => {
  test("gives the same kind of session as a login in a browser", async () => {
    const answer = await duty();
    expect(answer.expires_in).toBe(300);
    expect(decodeJwt(answer["access_token"] ?? "")).toMatchObject({
      iss: fixture.issuer,
      aud: "portcullis",
      sub: "duty",
      name: "duty",
      roles: ["operator", "admin"],
    });
    expect(decodeJwt(answer["id_token"] ?? "")).toMatchObject({
      aud: "portcullis-cli",
      name: "duty",
      roles: ["operator", "admin"],
    });
    const opened = await peer.pool.query("select payload from outbox where subject = 'svc.v1.identity.session.opened'");
    expect(opened.rows.map((row: { payload: Buffer }) => JSON.parse(row.payload.toString()).session_id)).toContain(
      sidOf(answer),
    );
    expect((await refresh(answer["refresh_token"])).status).toBe(200);
  });

  test("refuses wrong names and passwords alike, and says when to come back", async () => {
    const wrong = await logInAs("duty", "no");
    expect(wrong).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await logInAs("nobody", "no")).body).toEqual(wrong.body);
    expect((await logInAs("duty", "")).body["error"]).toBe("invalid_request");
    fixture.people.throttledS = 7;
    expect((await logInAs("duty", "correct horse")).body["error_description"]).toContain("7 s");
    fixture.people.throttledS = undefined;
    const web = { client_id: "portcullis-web", grant_type: developmentGrant, name: "duty", password: "correct horse" };
    expect((await fixture.post("/token", web)).status).toBe(400);
  });

  test("does not exist outside development", async () => {
    await fixture.restart({ development: false });
    try {
      expect((await logInAs("duty", "correct horse")).body).toMatchObject({ error: "unsupported_grant_type" });
      const discovery = await (await fetchOnNewConnection(`${fixture.issuer}/.well-known/openid-configuration`)).text();
      expect(discovery).not.toContain("development");
    } finally {
      await fixture.restart();
    }
  });
});

describe("refresh tokens", () => {
  test("are used once; the second use ends the session, also for the one that was given in exchange", async () => {
    const first = await duty();
    const second = await refresh(first["refresh_token"]);
    expect(second.status).toBe(200);
    expect(second.body["refresh_token"]).not.toBe(first["refresh_token"]);
    expect(sidOf(second.body)).toBe(sidOf(first));
    const third = await refresh(second.body["refresh_token"]);
    expect(third.status).toBe(200);
    expect((await refresh(first["refresh_token"])).body["error"]).toBe("invalid_grant");
    expect((await refresh(third.body["refresh_token"])).body["error"]).toBe("invalid_grant");
    expect(fixture.revocations.sessions.has(sidOf(first))).toBe(true);
  });

  test("of many uses at once one wins, and the session ends", async () => {
    const { refresh_token: token } = await duty();
    const answers = await Promise.all(Array.from({ length: 6 }, () => refresh(token)));
    const won = answers.filter((answer) => answer.status === 200);
    expect(won).toHaveLength(1);
    expect((await refresh(won[0]?.body["refresh_token"])).body["error"]).toBe("invalid_grant");
  });

  test("give the roles of now, and nothing once the person is gone", async () => {
    const first = await duty();
    fixture.people.byName.set("duty", { password: "correct horse", roles: ["viewer"] });
    const second = await refresh(first["refresh_token"]);
    expect(decodeJwt(second.body["access_token"] ?? "")["roles"]).toEqual(["viewer"]);
    fixture.people.byName.delete("duty");
    expect((await refresh(second.body["refresh_token"])).body["error"]).toBe("invalid_grant");
    fixture.people.byName.set("duty", { password: "correct horse", roles: ["operator", "admin"] });
  });

  test("are refused once their session or their person was revoked", async () => {
    const first = await duty();
    fixture.revocations.sessions.set(sidOf(first), "operator:relief");
    expect((await refresh(first["refresh_token"])).body["error"]).toBe("invalid_grant");
    const second = await duty();
    fixture.revocations.subjects.set(`${fixture.issuer}|duty`, instant.plusMilliseconds(fixture.clock.now(), 1_000));
    expect((await refresh(second["refresh_token"])).body["error"]).toBe("invalid_grant");
  });

  test("can be revoked by their client, which ends the session", async () => {
    const first = await duty();
    const revoked = await fixture.post("/token/revocation", { ...client, token: first["refresh_token"] ?? "" });
    expect(revoked.status).toBe(200);
    expect((await refresh(first["refresh_token"])).body["error"]).toBe("invalid_grant");
    expect(fixture.revocations.sessions.get(sidOf(first))).toBe("operator:duty");
  });

  test("end with the login, however often they were rotated", async () => {
    let token = (await duty())["refresh_token"];
    const begin = Date.now();
    try {
      for (const hours of [5, 11]) {
        vi.useFakeTimers({ toFake: ["Date"], now: begin + hours * 3_600_000 });
        const next = await refresh(token);
        expect(next.status).toBe(200);
        token = next.body["refresh_token"];
      }
      vi.useFakeTimers({ toFake: ["Date"], now: begin + 12 * 3_600_000 + 2_000 });
      expect((await refresh(token)).body["error"]).toBe("invalid_grant");
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a restart", () => {
  test("in the middle of a login is not noticed: device code, interaction, session and refresh token survive", async () => {
    const before = await duty();
    const asked = (await fixture.post("/device/auth", { ...client, scope: "openid profile offline_access" })).body;
    const browser = fixture.browser();
    const input = await browser.open(`${fixture.issuer}/device`);
    await fixture.restart();
    const confirm = await browser.submit(input, { user_code: asked["user_code"] ?? "" });
    const login = await browser.submit(confirm, {}, "confirm=yes");
    await fixture.restart();
    const consent = await browser.submit(login, { name: "duty", password: "correct horse" }, "decision=login");
    await fixture.restart();
    const done = await browser.submit(consent, {}, "decision=approve");
    expect(done.text).toContain("You are logged in");
    await fixture.restart();
    const redeem = () =>
      fixture.post("/token", { ...client, grant_type: deviceGrant, device_code: asked["device_code"] ?? "" });
    const redeemed = await redeem();
    expect(redeemed.status).toBe(200);
    await fixture.restart();
    expect((await refresh(before["refresh_token"])).status).toBe(200);
    expect((await redeem()).body["error"]).toBe("invalid_grant");
  });
});

describe("the database", () => {
  test("holds nothing that opens anything", async () => {
    const browser = fixture.browser();
    const asked = (await fixture.post("/device/auth", { ...client, scope: "openid profile offline_access" })).body;
    const confirm = await browser.submit(await browser.open(`${fixture.issuer}/device`), {
      user_code: asked["user_code"] ?? "",
    });
    const login = await browser.submit(confirm, {}, "confirm=yes");
    const tokens = await duty();
    const found = await peer.pool.query("select tablename from pg_tables where schemaname = 'portcullis'");
    let dump = "";
    for (const { tablename } of found.rows as { tablename: string }[]) {
      // A bytea prints as hexadecimal, so its text is looked for as it would read.
      const rows = await peer.pool
        .query(`select t::text as line from portcullis.${tablename} t`)
        .catch(() => ({ rows: [] }));
      for (const { line } of rows.rows as { line: string }[]) {
        const texts = [...line.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex = ""]) =>
          Buffer.from(hex, "hex").toString("latin1"),
        );
        dump += `${line}\n${texts.join("\n")}\n`;
      }
    }
    expect(dump).toContain("session.opened");
    expect(dump).toContain("RefreshToken");
    // Proof that bytes were looked into: an event's payload reads in clear.
    expect(dump).toContain('"principal":"operator:duty"');
    const userCode = asked["user_code"] ?? "-";
    const secrets = {
      refresh: tokens["refresh_token"],
      access: tokens["access_token"],
      id: tokens["id_token"],
      deviceCode: asked["device_code"],
      userCode,
      plainUserCode: userCode.replace("-", ""),
      interaction: new URL(login.url).pathname.split("/").at(-1),
      password: "correct horse",
      ...Object.fromEntries(browser.cookies.map((each) => [each.name, each.value])),
    };
    expect(Object.keys(secrets)).toContain("portcullis_session");
    for (const [what, secret] of Object.entries(secrets)) {
      expect(secret, what).toBeTruthy();
      expect(dump.includes(String(secret)), `${what} stands in the database`).toBe(false);
      expect(fixture.lines.join("\n").includes(String(secret)), `${what} stands in the log`).toBe(false);
    }
  });
});
