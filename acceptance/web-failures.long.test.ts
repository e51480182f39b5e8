// The web desks when things go wrong, and for everybody: killed gateways, eight tabs, refused signatures, a viewer, widths and themes.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { type Platform, startPlatform } from "../testkit/platform.ts";
import { axeViolations, confirmDanger, type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";

let platform: Platform;
let browser: Browser;
let duty: DeskPerson;

beforeAll(async () => {
  platform = startPlatform({ funds: "as configured" });
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
  duty = await openPerson(browser, platform, "duty");
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await platform?.end();
}, 90_000);

const waitMs = 120_000;
const linkOf = (page: Page) => page.getByTestId("link-state").getAttribute("data-state");
const untilLive = (page: Page) => expect.poll(() => linkOf(page), { timeout: waitMs }).toBe("live");

describe("a desk", () => {
  test("says so while the gateway is dead, never looks live meanwhile, and recovers", async () => {
    await untilLive(duty.page);
    process.kill(platform.runFile().processes["gateway"] ?? 0, "SIGKILL");
    await expect.poll(() => linkOf(duty.page), { timeout: waitMs, interval: 50 }).toBe("reconnecting");
    const states = String(
      await duty.page.evaluate(
        "[...document.querySelectorAll('[data-testid^=panel-]')].map((one) => one.dataset.state).join()",
      ),
    );
    expect(states).not.toMatch(/ready|empty|partial/);
    await untilLive(duty.page);
    await expect
      .poll(() => duty.at("panel-limit-use").getAttribute("data-state"), { timeout: waitMs })
      .toMatch(/ready|partial/);
  });

  test("is live in eight tabs of one browser, with one stream", async () => {
    const context = duty.page.context();
    const streams = new Set<string>();
    const tabs: Page[] = [];
    for (let count = 0; count < 7; count += 1) {
      const tab = await context.newPage();
      tab.on("request", (request) => {
        if (new URL(request.url()).pathname === "/v1/events") streams.add(request.url());
      });
      await tab.goto(`${operatorUrl(platform)}/risk`);
      tabs.push(tab);
    }
    for (const tab of tabs) await untilLive(tab);
    expect([...streams]).toEqual([]);
    // The tab that followed is closed: another goes on.
    const [first] = tabs;
    const heir = await context.newPage();
    await heir.goto(`${operatorUrl(platform)}/risk`);
    await duty.page.close();
    if (first !== undefined) await untilLive(first);
    for (const tab of tabs) await tab.close();
    await heir.close();
    duty = await openPerson(browser, platform, "duty");
  });

  test("shows the figures of the API, for every fund, also while they move", async () => {
    const { access_token } = await logInAs(platform, "duty");
    const asked = async (): Promise<readonly { fund_id: string; nav?: string }[]> => {
      const answer = await fetch(`${operatorUrl(platform)}/v1/treasury/funds`, {
        headers: { authorization: `Bearer ${access_token}` },
      });
      return (await answer.json()) as readonly { fund_id: string; nav?: string }[];
    };
    await duty.page.goto(`${operatorUrl(platform)}/funds`);
    for (const { fund_id } of await asked()) {
      // Both move: at some moment the desk shows what the API said just before or just after.
      await expect
        .poll(
          async () => {
            const before = (await asked()).find((one) => one.fund_id === fund_id)?.nav;
            const row = await duty.page
              .locator("[data-testid=panel-funds] tr", { hasText: fund_id })
              .first()
              .textContent();
            const after = (await asked()).find((one) => one.fund_id === fund_id)?.nav;
            return [before, after].some(
              (nav) => nav !== undefined && (row ?? "").replaceAll(",", "").includes(Number(nav).toFixed(2)),
            );
          },
          { timeout: waitMs, interval: 100 },
        )
        .toBe(true);
    }
    await duty.page.goto(`${operatorUrl(platform)}/risk`);
  });
});

describe("the resume of everything", () => {
  test("is refused to the same person, to a wrong word and to a viewer", async () => {
    const viewer = await openPerson(browser, platform, "viewer");
    await viewer.at("halt-button").click();
    expect(await confirmDanger(viewer, { word: "HALT" })).toMatch(/REFUSED PERMISSION_DENIED/);
    await viewer.close();
    await duty.at("halt-button").click();
    expect(await confirmDanger(duty, { word: "HALT", reason: "long test" })).toContain("HALTED");
    await duty.page.keyboard.press("Escape");
    await duty.at("resume-button").click();
    const first = await duty.code();
    expect(await confirmDanger(duty, { word: "RESUME", reason: "enough", code: first })).toContain(
      "NOTHING IS LIFTED YET",
    );
    await duty.page.keyboard.press("Escape");
    await duty.at("cosign-sign").click();
    expect(await confirmDanger(duty, { word: "RESUME", code: await duty.code() })).toMatch(/REFUSED/);
    await duty.page.keyboard.press("Escape");
    const relief = await openPerson(browser, platform, "relief");
    await relief.at("cosign-sign").click();
    const code = await relief.code();
    expect(await confirmDanger(relief, { word: "resume", code })).toMatch(/REFUSED/);
    await relief.page.getByText("Back to the question").click();
    expect(await confirmDanger(relief, { word: "RESUME", code: await relief.code() })).toContain("LIFTED");
    await relief.close();
    await duty.at("halt-banner").waitFor({ state: "detached", timeout: waitMs });
  });
});

describe.each([
  ["dark", 1_280],
  ["light", 1_920],
  ["dark", 390],
  ["light", 320],
] as const)("%s at %i px", (colorScheme, width) => {
  test("nothing sticks out to the side, and axe finds nothing", async () => {
    const person = await openPerson(browser, platform, "duty", { colorScheme, viewport: { width, height: 800 } });
    for (const desk of ["risk", "funds", "ops"]) {
      await person.page.goto(`${operatorUrl(platform)}/${desk}`);
      await untilLive(person.page);
      expect(
        await person.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"),
        desk,
      ).toBeLessThanOrEqual(0);
      expect(await axeViolations(person.page), desk).toEqual([]);
    }
    await person.close();
  });
});
