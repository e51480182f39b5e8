// The web desks in a real browser on the whole platform: a login that a reload keeps, what the desks show, and its end. What halts the firm is in web.ci.test.ts.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { operatorUrl } from "../testkit/login.ts";
import { sharedPlatform } from "../testkit/shared/shared-platform.ts";
import { axeViolations, type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";

const shared = sharedPlatform({ funds: 0, people: ["duty"] });
let browser: Browser;
let duty: DeskPerson;

beforeAll(async () => {
  browser = await launchChromium();
  duty = await openPerson(browser, shared.platform, shared.person("duty"), { path: "/risk?fund=alpha" });
}, 240_000);

afterAll(() => browser?.close(), 90_000);

const waitMs = 30_000;
/** Read at once: a panel of the desk before, asked for one by one, would be waited for until the browser gives up. */
const panelStates = ({ page }: DeskPerson): Promise<readonly (string | null)[]> =>
  page.evaluate(
    `[...document.querySelectorAll("[data-testid^=panel-]")].map((panel) => panel.getAttribute("data-state"))`,
  );

describe("the desks", () => {
  test("open after a login, live and whole, and a reload returns without a click", { timeout: 120_000 }, async () => {
    const { page, at } = duty;
    await expect.poll(() => at("link-state").getAttribute("data-state"), { timeout: waitMs }).toBe("live");
    expect(new URL(page.url()).search).toBe("?fund=alpha");
    await expect.poll(async () => (await panelStates(duty)).includes("loading"), { timeout: waitMs }).toBe(false);
    expect(await at("mode-badge").textContent()).toBe("PAPER");
    expect(await at("whoami").textContent()).toContain(duty.operator.name);
    expect(await at("as-of").textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/);
    await page.reload();
    await at("desk-risk").waitFor();
    expect(new URL(page.url()).search).toBe("?fund=alpha");
    const kept = String(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])"));
    expect(kept).toBe('[{"portcullis-desk":"/risk"},{}]');
  });

  test("answer on all three, without a violation of WCAG 2.2 AA", { timeout: 300_000 }, async () => {
    const { page, at } = duty;
    for (const [key, name] of [
      ["f", "funds"],
      ["o", "ops"],
      ["r", "risk"],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await at(`desk-${name}`).waitFor();
      await page.locator("[data-testid^=panel-]").first().waitFor();
      await expect.poll(async () => (await panelStates(duty)).includes("loading"), { timeout: waitMs }).toBe(false);
      expect(await panelStates(duty), name).not.toContain("error");
      expect(await axeViolations(page), name).toEqual([]);
    }
  });

  test("said nothing on the console and asked no other origin", () => {
    expect(duty.complaints).toEqual([]);
    expect([...duty.origins]).toEqual([operatorUrl(shared.platform)]);
  });

  test("are logged out in every tab at once", { timeout: 120_000 }, async () => {
    const other = await duty.page.context().newPage();
    await other.goto(`${operatorUrl(shared.platform)}/risk`);
    await other.getByTestId("whoami").waitFor();
    await duty.at("logout").click();
    // What the tabs show at once is not yet what the server did.
    const confirmed = '[data-testid="logged-out"][data-server="confirmed"]';
    for (const page of [duty.page, other]) await page.locator(confirmed).waitFor({ timeout: waitMs });
    await other.goto(`${operatorUrl(shared.platform)}/risk`);
    await other.locator("input[name=password]").waitFor({ timeout: waitMs });
  });
});
