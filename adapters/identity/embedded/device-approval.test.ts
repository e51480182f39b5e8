// Approving a device in a browser that is logged in, from outside: the password and the second factor are asked for again, and the page says what is granted.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as instant from "../../../contracts/src/instant.ts";
import type { Identity } from "../../../ports/identity.ts";
import { codeAt, currentStep } from "../../../testkit/ctl/login-checks.ts";
import { openProviderFixture, type ProviderFixture } from "../../../testkit/identity/embedded-provider.ts";
import type { Shown, TestBrowser } from "../../../testkit/identity/test-browser.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { systemRandom } from "../../system/random.ts";
import { createSecondFactors } from "../second-factors.ts";

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

beforeEach(async () => {
  fixture.people.throttledS = undefined;
  await peer.pool.query("delete from second_factor");
});

interface Device {
  readonly code: string;
  answer(): Promise<string>;
}

async function newDevice(): Promise<Device> {
  const scope = "openid profile offline_access";
  const { body } = await fixture.post("/device/auth", { client_id: "portcullis-cli", scope });
  return {
    code: body["user_code"] ?? "",
    async answer() {
      const answered = await fixture.post("/token", {
        client_id: "portcullis-cli",
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: body["device_code"] ?? "",
      });
      return answered.status === 200 ? "tokens" : (answered.body["error"] ?? "");
    },
  };
}

async function atApproval(browser: TestBrowser, { code }: Device): Promise<Shown> {
  const input = await browser.open(`${fixture.issuer}/device`);
  const confirm = await browser.submit(input, { user_code: code });
  const next = await browser.submit(confirm, {}, "confirm=yes");
  const isAsked = next.text.includes("<h1>Log in</h1>");
  const page = isAsked
    ? await browser.submit(next, { name: "duty", password: "correct horse" }, "decision=login")
    : next;
  expect(page.text).toContain("<h1>Let Portcullis command line in?</h1>");
  return page;
}

const approve = (browser: TestBrowser, page: Shown, fields: Readonly<Record<string, string>> = {}) =>
  browser.submit(page, fields, "decision=approve");

/** A browser that is logged in. */
async function loggedIn(): Promise<TestBrowser> {
  const browser = fixture.browser();
  const done = await approve(browser, await atApproval(browser, await newDevice()));
  expect(done.text).toContain("You are logged in");
  return browser;
}

async function enrol() {
  const identity: Identity = {
    kind: "operator",
    actor: "operator:duty",
    name: "duty",
    subject: `${fixture.issuer}|duty`,
    issuer: fixture.issuer,
    roles: ["operator"],
    tokenId: "t",
    sessionId: "s",
    issuedAt: instant.fromMicroseconds(0),
    expiresAt: fixture.clock.now(),
  };
  const factors = createSecondFactors({ ...fixture, store: peer.store, random: systemRandom() });
  const begun = await factors.begin(identity, undefined);
  if (!begun.ok) throw new Error(begun.denial.reason);
  const { secret } = begun.value;
  const confirmed = await factors.confirm(identity, codeAt(secret, currentStep() - 1));
  if (!confirmed.ok) throw new Error(confirmed.denial.reason);
  return { secret, recoveryCodes: confirmed.value.recoveryCodes };
}

const attempts = async (): Promise<readonly string[]> => {
  const found = await peer.pool.query("select subject, payload from outbox where subject like '%stepup%' order by id");
  return (found.rows as { subject: string; payload: Buffer }[]).map(({ subject, payload }) =>
    [subject.split(".").at(-1), JSON.parse(payload.toString()).action].join(" "),
  );
};

describe("approving a device in a browser that is logged in", () => {
  test("asks for the password and says what is granted, to whom and from where", async () => {
    const browser = await loggedIn();
    const device = await newDevice();
    const page = await atApproval(browser, device);
    for (const said of [
      'name="password"',
      "Portcullis command line",
      device.code,
      "127.0.0.1",
      "operator, admin",
      "also after this browser logs out",
      "You have no second factor yet",
    ]) {
      expect(page.text).toContain(said);
    }
    for (const fields of [{}, { password: "" }, { password: "wrong" }, { password: "x".repeat(1_025) }]) {
      const refused = await approve(browser, page, fields as Record<string, string>);
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("That password is not right");
      expect(await device.answer()).toBe("authorization_pending");
    }
    fixture.people.throttledS = 90;
    const throttled = await approve(browser, page, { password: "correct horse" });
    expect([throttled.status, throttled.headers.get("retry-after")]).toEqual([429, "90"]);
    expect(throttled.text).toContain("Try again in 90 seconds");
    fixture.people.throttledS = undefined;
    expect((await approve(browser, throttled, { password: "correct horse" })).text).toContain("You are logged in");
    expect(await device.answer()).toBe("tokens");
  });

  test("a password that was typed a moment ago counts for that one approval", async () => {
    const browser = fixture.browser();
    const device = await newDevice();
    const page = await atApproval(browser, device);
    expect(page.text).not.toContain('name="password"');
    expect((await approve(browser, page)).text).toContain("You are logged in");
    expect((await atApproval(browser, await newDevice())).text).toContain('name="password"');
  });

  test("a person who has a second factor shows a code of it, each once, after the password", async () => {
    const { secret, recoveryCodes } = await enrol();
    const before = (await attempts()).length;
    const browser = fixture.browser();
    const device = await newDevice();
    const page = await atApproval(browser, device);
    expect(page.text).toContain('name="code"');
    expect(page.text).not.toContain("You have no second factor yet");
    const none = await approve(browser, page);
    expect([none.status, none.text.includes("Type a code of your authenticator")]).toEqual([400, true]);
    const code = codeAt(secret, currentStep());
    const wrong = await approve(browser, page, { code: code === "000000" ? "111111" : "000000" });
    expect([wrong.status, wrong.text.includes("This code is wrong")]).toEqual([400, true]);
    expect(await device.answer()).toBe("authorization_pending");
    expect((await approve(browser, page, { code: ` ${code.slice(0, 3)} ${code.slice(3)}` })).text).toContain(
      "You are logged in",
    );
    expect(await device.answer()).toBe("tokens");

    const second = await newDevice();
    const again = await atApproval(browser, second);
    const [recovery = ""] = recoveryCodes;
    const stolen = await approve(browser, again, { password: "guess", code: recovery });
    expect(stolen.text).toContain("That password is not right");
    const replayed = await approve(browser, again, { password: "correct horse", code });
    expect(replayed.text).toContain("This code was used already");
    const done = await approve(browser, again, { password: "correct horse", code: recovery });
    expect(done.text).toContain("You are logged in");
    expect(await second.answer()).toBe("tokens");
    // A code that came with a wrong password was not looked at.
    expect((await attempts()).slice(before)).toEqual([
      "refused LogIn",
      "granted LogIn",
      "refused LogIn",
      "granted LogIn",
    ]);
  });

  test("after five wrong codes it waits, with the right one too", async () => {
    const { secret } = await enrol();
    const browser = fixture.browser();
    const device = await newDevice();
    const page = await atApproval(browser, device);
    for (let count = 0; count < 5; count += 1) await approve(browser, page, { code: "no-such-code" });
    const locked = await approve(browser, page, { code: codeAt(secret, currentStep()) });
    expect(locked.status).toBe(429);
    expect(Number(locked.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await device.answer()).toBe("authorization_pending");
  });

  test("sent twice, an approval opens one login", async () => {
    const browser = await loggedIn();
    const device = await newDevice();
    const page = await atApproval(browser, device);
    const before = await peer.pool.query("select count(*)::int as n from oidc_state where model = 'Grant'");
    await approve(browser, page, { password: "correct horse" });
    await approve(browser, page, { password: "correct horse" });
    const after = await peer.pool.query("select count(*)::int as n from oidc_state where model = 'Grant'");
    expect(after.rows[0].n - before.rows[0].n).toBe(1);
  });
});
