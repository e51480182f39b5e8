// The web desks over https: the login and its reload, the stream and a halt, with nothing in clear text and cookies that never leave the encrypted line.
import { expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { operatorUrl } from "../testkit/login.ts";
import { startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { newAuthority, writePair } from "../testkit/test-certificate.ts";
import { confirmDanger, openPerson } from "../testkit/web/desk-browser.ts";

test("log in, return after a reload, follow the stream and halt", { timeout: 600_000 }, async () => {
  const authority = newAuthority();
  const { certFile, keyFile } = writePair(temporaryFolder("web-https"), "people", authority.issue(["127.0.0.1"]));
  const platform = startPlatform({
    environment: { PORTCULLIS_TLS_CERT_FILE: certFile, PORTCULLIS_TLS_KEY_FILE: keyFile },
  });
  const browser = await launchChromium();
  try {
    await platform.ready();
    const base = operatorUrl(platform).replace(/^http:/, "https:");
    const look = { path: "/funds?fund=beta", base, ignoreHTTPSErrors: true };
    const duty = await openPerson(browser, platform, "duty", look);
    const { page } = duty;
    const link = () => duty.at("link-state").getAttribute("data-state");
    await expect.poll(link, { timeout: 60_000 }).toBe("live");
    expect(page.url()).toBe(`${base}/funds?fund=beta`);
    await page.reload();
    await duty.at("desk-funds").waitFor();
    expect(page.url()).toBe(`${base}/funds?fund=beta`);
    await expect.poll(link, { timeout: 60_000 }).toBe("live");
    const cookies = await page.context().cookies();
    expect(cookies.length).toBeGreaterThan(0);
    for (const { name, secure, httpOnly } of cookies) expect([name, secure, httpOnly]).toEqual([name, true, true]);
    await duty.at("halt-button").click();
    expect(await confirmDanger(duty, { word: "HALT", reason: "over https" })).toContain("HALTED");
    await duty.at("halt-banner").waitFor();
    expect([...duty.origins]).toEqual([base]);
    expect(duty.complaints).toEqual([]);
  } finally {
    await browser.close();
    await platform.end();
  }
});
