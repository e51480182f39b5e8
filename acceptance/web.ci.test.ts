// The web desks in a real browser on a platform of its own: a halt of the firm and its end by two people.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { type Platform, startPlatform } from "../testkit/platform.ts";
import { confirmDanger, type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";

let platform: Platform;
let browser: Browser;
let duty: DeskPerson;

beforeAll(async () => {
  platform = startPlatform();
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
  duty = await openPerson(browser, platform, "duty", { path: "/risk?fund=alpha" });
}, 240_000);

afterAll(async () => {
  await browser?.close();
  await platform?.end();
}, 90_000);

const waitMs = 30_000;

describe("the desks", () => {
  test("halt the firm by a word, and two people lift it", { timeout: 300_000 }, async () => {
    const relief = await openPerson(browser, platform, "relief");
    await duty.at("halt-button").click();
    expect(await duty.at("danger-scope").textContent()).toBe("THE WHOLE FIRM");
    expect(await confirmDanger(duty, { word: "halt" })).toMatch(/REFUSED CONFIRMATION/);
    await duty.page.getByText("Back to the question").click();
    expect(await confirmDanger(duty, { word: "HALT", reason: "a test" })).toMatch(/HALTED .*Audit [^i]/s);
    await duty.page.keyboard.press("Escape");
    for (const person of [duty, relief]) {
      await person.at("halt-banner").waitFor({ timeout: waitMs });
      expect(await person.at("halt-banner").textContent()).toContain("HALTED firm");
      expect(await person.at("panel-limit-use").getAttribute("data-halted")).toBe("true");
    }
    await duty.at("resume-button").click();
    const asked = await confirmDanger(duty, { word: "RESUME", reason: "it was a test", code: await duty.code() });
    expect(asked).toContain("NOTHING IS LIFTED YET");
    await duty.page.keyboard.press("Escape");
    await relief.at("cosign-card").waitFor({ timeout: waitMs });
    expect(await relief.at("cosign-card").textContent()).toContain("it was a test");
    await relief.at("cosign-sign").click();
    expect(await confirmDanger(relief, { word: "RESUME", code: await relief.code() })).toContain("LIFTED 1 halt");
    await duty.at("halt-banner").waitFor({ state: "detached", timeout: waitMs });
    await relief.close();
  });

  test("said nothing on the console while the firm was halted", () => {
    expect(duty.complaints).toEqual([]);
  });
});
