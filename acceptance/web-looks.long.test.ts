// The web desks for everybody: widths, themes, zoom, colour blindness, reduced motion, print, and every key without a mouse.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../edges/client/src/client.ts";
import { launchChromium } from "../testkit/chromium.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { type Platform, startPlatform } from "../testkit/platform.ts";
import { desks } from "../testkit/web/built-desks.ts";
import { axeViolations, type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";
import { confirmByKeyboard, isFocused, leaveDialog, press, tabTo } from "../testkit/web/keyboard.ts";

let platform: Platform;
let browser: Browser;
let duty: DeskPerson;
let base: string;

beforeAll(async () => {
  platform = startPlatform({ funds: "as configured" });
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
  base = operatorUrl(platform);
  duty = await openPerson(browser, platform, "duty");
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await platform?.end();
}, 90_000);

const timeout = 300_000;

async function openPath(page: Page, path: string): Promise<void> {
  await page.goto(`${base}${path}`);
  await expect.poll(() => page.getByTestId("link-state").getAttribute("data-state"), { timeout: 60_000 }).toBe("live");
  await expect
    .poll(() => page.locator("[data-testid^=panel-][data-state=loading]").count(), { timeout: 60_000 })
    .toBe(0);
}

/** An order that no envelope lets through. */
async function denied(): Promise<void> {
  const { access_token } = await logInAs(platform, "duty");
  const order = {
    idempotencyKey: "key-too-large",
    orderId: "too-large",
    fundId: "alpha",
    strategyId: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "1000000",
    orderType: "MARKET",
    tif: "DAY",
    broker: "paper",
    assetClass: "EQUITY",
    actor: "test",
  } as const;
  const client = createClient({ baseUrl: base, token: async () => access_token });
  expect((await client.submitOrder(order)).state).toBe("REJECTED");
}

const sticksOut = (page: Page) => page.evaluate("document.documentElement.scrollWidth - window.innerWidth");

describe.each([
  ["dark", 1_280, 1],
  ["light", 1_920, 1],
  ["dark", 390, 1],
  ["light", 390, 1],
  ["light", 320, 1],
  // What a browser at 1,280 px shows when it is zoomed to 200 %.
  ["dark", 640, 2],
] as const)("%s at %i px, %i to one", (colorScheme, width, deviceScaleFactor) => {
  test("nothing sticks out to the side, and axe finds nothing", { timeout }, async () => {
    const person = await openPerson(browser, platform, "duty", {
      colorScheme,
      viewport: { width, height: 800 },
      deviceScaleFactor,
    });
    for (const desk of desks) {
      await openPath(person.page, `/${desk}`);
      expect(await sticksOut(person.page), desk).toBeLessThanOrEqual(0);
      expect(await axeViolations(person.page), desk).toEqual([]);
      // The dialog as well, to its last button.
      await person.at("halt-button").click();
      await person.at("danger-confirm").scrollIntoViewIfNeeded();
      expect(await sticksOut(person.page), desk).toBeLessThanOrEqual(0);
      expect(await axeViolations(person.page), `${desk}, dialog`).toEqual([]);
      await person.page.keyboard.press("Escape");
    }
    if (width >= 1_280) {
      const heights = await person.page.evaluate("document.querySelector('.top').getBoundingClientRect().height");
      expect(heights, "the header is one line").toBeLessThanOrEqual(48);
    }
    await person.close();
  });
});

describe("without colour", () => {
  test.each(["protanopia", "deuteranopia", "tritanopia", "achromatopsia"] as const)(
    "%s: every state still has its word, sign or shape",
    { timeout },
    async (type) => {
      const { page } = duty;
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setEmulatedVisionDeficiency", { type });
      for (const desk of desks) {
        await openPath(page, `/${desk}`);
        const states = await page.evaluate(`({
          gains: [...document.querySelectorAll(".gain")].map((one) => one.textContent),
          losses: [...document.querySelectorAll(".loss")].map((one) => one.textContent),
          words: [...document.querySelectorAll(".state")].map((one) => one.textContent),
          link: document.querySelector("[data-testid=link-state]").textContent,
          mode: document.querySelector("[data-testid=mode-badge]").textContent,
        })`);
        const { gains, losses, words, link, mode } = states as Record<string, string[]> & {
          link: string;
          mode: string;
        };
        for (const text of gains ?? []) expect(text).toMatch(/^▲ \+/);
        for (const text of losses ?? []) expect(text).toMatch(/^▼ -/);
        for (const text of words ?? []) expect(text).toMatch(/^[○△■] \S/);
        expect([link.trim(), mode]).toEqual(["live", "PAPER"]);
      }
      await session.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });
      await session.detach();
    },
  );
});

describe("on paper", () => {
  test.each(["dark", "light"] as const)(
    "%s prints black on white, whole, with as-of and address",
    { timeout },
    async (colorScheme) => {
      const { page } = duty;
      for (const desk of desks) {
        await openPath(page, `/${desk}?fund=alpha`);
        await page.emulateMedia({ media: "print", colorScheme });
        const coloured = await page.evaluate(`[...document.querySelectorAll("main *, footer *")].filter((one) => {
        if (one.closest(".chart") !== null || one.checkVisibility?.() === false) return false;
        const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
        return own && getComputedStyle(one).color !== "rgb(0, 0, 0)" && getComputedStyle(one).visibility !== "hidden" && one.closest("button, .mode.live, .unseen") === null;
      }).map((one) => one.className + " " + one.textContent.slice(0, 30))`);
        expect(coloured, desk).toEqual([]);
        expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
        const footer = (await page.locator("footer.print-only").textContent()) ?? "";
        expect(footer).toMatch(/As of \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/);
        expect(footer).toContain(`${base}/${desk}?fund=alpha`);
        expect(await page.locator("footer.print-only").isVisible()).toBe(true);
        // No row is left out that a screen would have scrolled to.
        expect(await page.locator("tr[aria-hidden=true]").count()).toBe(0);
        await page.emulateMedia({ media: null, colorScheme: null });
      }
    },
  );
});

test("cells that changed are underlined for a second, and not where motion is reduced", { timeout }, async () => {
  const { page } = duty;
  await openPath(page, "/funds");
  await page.locator("td.changed").first().waitFor({ timeout: 60_000 });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.locator("td.changed").first().waitFor({ timeout: 60_000 });
  const line = await page.evaluate(
    "getComputedStyle(document.querySelector('td.changed') ?? document.querySelector('td')).textDecorationLine",
  );
  expect(line).toBe("none");
  await page.emulateMedia({ reducedMotion: null });
});

describe("by keyboard alone", () => {
  test("desks, filter, help, palette, table, freeze and the copied command", { timeout }, async () => {
    const { page } = duty;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: base });
    await openPath(page, "/risk");
    for (const [key, path] of [
      ["f", "/funds"],
      ["o", "/ops"],
      ["s", "/signals"],
      ["p", "/replay"],
      ["l", "/lab"],
      ["m", "/matrix"],
      ["z", "/zilla"],
      ["r", "/risk"],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await expect.poll(() => new URL(page.url()).pathname).toBe(path);
    }
    await page.keyboard.press("/");
    await page.keyboard.type("alpha MSFT");
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe("alpha MSFT");
    await expect.poll(() => page.locator("[data-testid=panel-limit-use] tbody tr").count()).toBeLessThan(4);
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    await page.keyboard.press("Tab");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    expect(await page.getByRole("dialog").textContent()).toContain("Ctrl K");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("fund gamma");
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.get("fund")).toBe("gamma");
    await tabTo(page, page.locator("[data-testid=panel-stops] [data-testid=explain]"));
    await page.keyboard.press("y");
    await expect
      .poll(() => page.evaluate("navigator.clipboard.readText()"))
      .toBe("ctl riskengine stops list --fund-id gamma");
    await press(page, duty.at("freeze-toggle"));
    expect(await duty.at("freeze-toggle").getAttribute("aria-pressed")).toBe("true");
    await expect.poll(() => duty.at("panel-limit-use").getAttribute("data-state"), { timeout: 60_000 }).toBe("stale");
    expect(await duty.at("panel-limit-use").locator(".chip.stale").textContent()).toContain("frozen");
    await page.keyboard.press("Enter");
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await duty.at("desk-funds").waitFor();
    await page.locator(".chart").first().waitFor();
    await page.keyboard.press("t");
    await page.locator("[data-testid=panel-nav] table").waitFor();
    expect(await page.locator(".chart").count()).toBe(0);
    await page.keyboard.press("t");
    await page.locator(".chart").first().waitFor();
    // What was open last is what the bare address opens.
    await page.goto(`${base}/`);
    await duty.at("desk-funds").waitFor();
    expect(duty.complaints).toEqual([]);
  });

  test("a sorted column, a longer range and all seven gates of a rejection", { timeout }, async () => {
    const { page } = duty;
    await openPath(page, "/risk?fund=alpha");
    await press(page, page.locator("[data-testid=panel-limit-use] th button", { hasText: "Share" }));
    await expect.poll(() => new URL(page.url()).searchParams.get("sort")).toBe("limit-use.share.desc");
    await tabTo(page, page.getByLabel("Range of time"), "Shift+Tab");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => new URL(page.url()).searchParams.get("from")).toBe("1h");
    expect(await duty.at("panel-rejections").locator("h2").textContent()).toBe("Rejections, last 1 h");
    await denied();
    await press(page, duty.at("panel-rejections").getByRole("button", { name: "Open" }).first());
    const gates = page.locator("[data-testid=panel-rejections] .gates ol").first().locator("li");
    await expect.poll(() => gates.count(), { timeout: 60_000 }).toBe(7);
    expect((await gates.allTextContents()).filter((text) => text.includes("FAILED"))).toHaveLength(1);
  });

  test("a halt of the firm, the request to lift it and its second signature", { timeout }, async () => {
    const relief = await openPerson(browser, platform, "relief");
    await openPath(duty.page, "/risk");
    await press(duty.page, duty.at("halt-button"));
    expect(await confirmByKeyboard(duty, { word: "HALT", reason: "by keyboard" })).toContain("HALTED");
    await leaveDialog(duty);
    expect(await isFocused(duty.at("halt-button"))).toBe(true);
    await press(duty.page, duty.at("resume-button"));
    const asked = { word: "RESUME", reason: "by keyboard", code: await duty.code() };
    expect(await confirmByKeyboard(duty, asked)).toContain("NOTHING IS LIFTED YET");
    await leaveDialog(duty);
    await press(relief.page, relief.at("cosign-sign"));
    expect(await confirmByKeyboard(relief, { word: "RESUME", code: await relief.code() })).toContain("LIFTED");
    await leaveDialog(relief);
    await duty.at("halt-banner").waitFor({ state: "detached" });
    await relief.close();
  });
});
