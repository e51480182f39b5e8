// The web desks with an issuer that is not ours: the code flow with PKCE there and back, a policy that names that origin and no other, and a reload without a click.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type Platform, startPlatform } from "../testkit/platform.ts";
import { type SecondIssuer, startSecondIssuer } from "../testkit/second-issuer.ts";

let platform: Platform;
let browser: Browser;
let issuer: SecondIssuer;

beforeAll(async () => {
  issuer = await startSecondIssuer({
    accounts: [{ name: "erika", roles: ["operator", "risk_officer", "admin"] }],
    tokenS: 40,
  });
  platform = startPlatform({
    environment: {
      PORTCULLIS_OIDC_ISSUER: issuer.issuer,
      PORTCULLIS_OIDC_CLIENT_ID: issuer.clientId,
      PORTCULLIS_OIDC_WEB_CLIENT_ID: issuer.clientId,
    },
  });
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await platform?.end();
  await issuer?.stop();
}, 90_000);

test("logs in there, returns to the same address, and again after a reload without a click", {
  timeout: 300_000,
}, async () => {
  const base = operatorUrl(platform);
  const context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const origins = new Set<string>();
  const complaints: string[] = [];
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  page.on("console", (message) => {
    if (!/Failed to load resource/.test(message.text())) complaints.push(message.text());
  });
  const answer = await page.goto(`${base}/funds?fund=beta`);
  expect(answer?.headers()["content-security-policy"]).toContain(`connect-src 'self' ${issuer.issuer}`);
  await page.fill("input[name=name]", "erika");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByTestId("desk-funds").waitFor();
  expect(page.url()).toBe(`${base}/funds?fund=beta`);
  expect(await page.getByTestId("whoami").textContent()).toContain("erika");
  await expect.poll(() => page.getByTestId("link-state").getAttribute("data-state"), { timeout: 60_000 }).toBe("live");
  await page.reload();
  await page.getByTestId("desk-funds").waitFor();
  expect(page.url()).toBe(`${base}/funds?fund=beta`);
  expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).toBe(
    '[{"portcullis-desk":"/funds"},{}]',
  );
  // tidy: sleeps because it lasts longer than a token is good for, which is renewed meanwhile
  await page.waitForTimeout(45_000);
  expect(await page.getByTestId("link-state").getAttribute("data-state")).toBe("live");
  expect([...origins].sort()).toEqual([base, issuer.issuer].sort());
  expect(complaints).toEqual([]);
  await context.close();
});
