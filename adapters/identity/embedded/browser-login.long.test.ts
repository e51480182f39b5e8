// The device flow as a person sees it, in a real browser: by keyboard, on a small screen, in light and in dark, without a violation of the
// pages' own policy. Each page is photographed; PORTCULLIS_SCREENSHOTS names a folder that keeps the pictures.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../../../testkit/chromium.ts";
import { fetchOnNewConnection } from "../../../testkit/http/fetch-on-new-connection.ts";
import { type Answer, openProviderFixture, type ProviderFixture } from "../../../testkit/identity/embedded-provider.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";

let database: TestDatabase;
let peer: PostgresPeer;
let fixture: ProviderFixture;
let browser: Browser;
let pictures: string;
const kept = process.env["PORTCULLIS_SCREENSHOTS"];

beforeAll(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
  fixture = await openProviderFixture(peer.store);
  browser = await launchChromium();
  pictures = kept ?? (await mkdtemp(join(tmpdir(), "portcullis-pages-")));
  await mkdir(pictures, { recursive: true });
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await fixture?.close();
  await peer?.close();
  await database?.drop();
  if (kept === undefined && pictures !== undefined) await rm(pictures, { recursive: true, force: true });
});

const looks = [
  { name: "light", colorScheme: "light", viewport: { width: 1_000, height: 800 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1_000, height: 800 } },
  { name: "small", colorScheme: "light", viewport: { width: 320, height: 640 } },
] as const;

async function openPage(
  look: (typeof looks)[number],
): Promise<{ page: Page; complaints: string[]; seen(name: string): Promise<void> }> {
  const context = await browser.newContext({ locale: "en-US", colorScheme: look.colorScheme, viewport: look.viewport });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  const seen = async (name: string): Promise<void> => {
    await page.screenshot({ path: join(pictures, `${look.name}-${name}.png`), fullPage: true });
    // Nothing sticks out to the side, however narrow the screen.
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth"), name).toBeLessThanOrEqual(
      0,
    );
  };
  return { page, complaints, seen };
}

async function askForCode(): Promise<Answer> {
  const fields = { client_id: "portcullis-cli", scope: "openid profile offline_access" };
  const response = await fetchOnNewConnection(`${fixture.issuer}/device/auth`, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { "user-agent": "portcullis-ctl/0.1.0 (linux; arm64)" },
  });
  return (await response.json()) as Answer;
}

const redeem = (deviceCode = "") =>
  fixture.post("/token", {
    client_id: "portcullis-cli",
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: deviceCode,
  });

/** Waits, because a browser gives the focus a moment after the page is there. */
async function hasFocus(page: Page, idOrRole: string): Promise<void> {
  const focused = "document.activeElement.id || document.activeElement.getAttribute('role')";
  await page.waitForFunction(`(${focused}) === ${JSON.stringify(idOrRole)}`, undefined, { timeout: 5_000 });
}

/** Chromium tells of every answer from 400 on; those are pages here. */
const unexpected = (complaints: readonly string[]): readonly string[] =>
  complaints.filter((text) => !/status of (400|429)/.test(text));

describe.each(looks)("the device flow, $name", (look) => {
  test("typed by hand, with mistakes on the way", async () => {
    const asked = await askForCode();
    const { page, complaints, seen } = await openPage(look);
    await page.goto(asked["verification_uri"] ?? "");
    await hasFocus(page, "user_code");
    await seen("1-code");
    await page.keyboard.type("bbbb-bbbb");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await hasFocus(page, "alert");
    await seen("2-code-wrong");
    await page.getByLabel("Code").fill((asked["user_code"] ?? "").toLowerCase());
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText(asked["user_code"] ?? "").waitFor();
    await seen("3-confirm");
    await page.getByRole("button", { name: "Yes" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await hasFocus(page, "name");
    await seen("4-login");
    await page.keyboard.type("duty");
    await page.keyboard.press("Tab");
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await hasFocus(page, "alert");
    expect(await page.getByLabel("Name").inputValue()).toBe("duty");
    expect(await page.getByLabel("Password").inputValue()).toBe("");
    await seen("5-login-wrong");
    fixture.people.throttledS = 42;
    await page.getByLabel("Password").fill("correct horse");
    await page.keyboard.press("Enter");
    await page.getByText("42 seconds").waitFor();
    await seen("6-login-throttled");
    fixture.people.throttledS = undefined;
    await page.getByLabel("Password").fill("correct horse");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Let Portcullis command line in?" }).waitFor();
    await page.keyboard.press("Tab");
    await seen("7-consent");
    expect((await redeem(asked["device_code"])).body["error"]).toBe("authorization_pending");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "You are logged in" }).waitFor();
    await seen("8-done");
    const redeemed = await redeem(asked["device_code"]);
    expect(decodeJwt(redeemed.body["access_token"] ?? "")).toMatchObject({ sub: "duty", aud: "portcullis" });
    expect(unexpected(complaints)).toEqual([]);
    await page.context().close();
  });

  test("by the link that carries the code, denied, and logged out", async () => {
    const asked = await askForCode();
    const { page, complaints, seen } = await openPage(look);
    await page.goto(asked["verification_uri_complete"] ?? "");
    await page.getByRole("heading", { name: "Is this you?" }).waitFor();
    await page.getByRole("button", { name: "Yes" }).click();
    await page.getByLabel("Name").fill("relief");
    await page.getByLabel("Password").fill("battery staple");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByRole("heading", { name: "Denied" }).waitFor();
    await seen("9-denied");
    expect((await redeem(asked["device_code"])).body["error"]).toBe("access_denied");
    await page.goto(`${fixture.issuer}/session/end`);
    await seen("10-log-out");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "You are logged out" }).waitFor();
    await seen("11-logged-out");
    // Without a login there is nothing to confirm: the page sends itself on.
    await page.goto(`${fixture.issuer}/session/end`);
    await page.getByRole("heading", { name: "You are logged out" }).waitFor();
    await page.goto(`${fixture.issuer}/auth?client_id=nobody`);
    await page.getByRole("alert").waitFor();
    await seen("12-error");
    expect(unexpected(complaints)).toEqual([]);
    await page.context().close();
  });
});
