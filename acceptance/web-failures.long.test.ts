// The web desks when things go wrong: a killed gateway, a silent one, a cut line, dead services and eight tabs. Each desk recovers, no row is lost or doubled, and
// nothing looked live meanwhile.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../edges/client/src/client.ts";
import type { Client } from "../edges/client/src/types.ts";
import { launchChromium } from "../testkit/chromium.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { type Platform, pause, startPlatform } from "../testkit/platform.ts";
import { desks } from "../testkit/web/built-desks.ts";
import { type CutLine, openLine } from "../testkit/web/cut-line.ts";
import { type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";
import { whileSilent } from "../testkit/web/silent-process.ts";
import { type Moment, watchStates } from "../testkit/web/watch-states.ts";

let platform: Platform;
let browser: Browser;
let duty: DeskPerson;
let line: CutLine;
let base: string;

beforeAll(async () => {
  platform = startPlatform({ funds: "as configured" });
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
  base = operatorUrl(platform);
  line = await openLine();
  duty = await openPerson(browser, platform, "duty", { proxy: { server: line.server } });
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await line?.close();
  await platform?.end();
}, 90_000);

const timeout = 420_000;
const waitMs = 120_000;
/** What was once is not stale: /replay keeps what it shows. */
const keepsThePast = "replay";
const linkOf = (page: Page) => page.getByTestId("link-state").getAttribute("data-state");
const untilLive = (page: Page) => expect.poll(() => linkOf(page), { timeout: waitMs }).toBe("live");
const untilNotLive = (page: Page) =>
  expect.poll(() => linkOf(page), { timeout: waitMs, interval: 50 }).not.toBe("live");
const pidOf = (name: string): number => platform.runFile().processes[name] ?? 0;

async function clientOf(): Promise<Client> {
  const { access_token } = await logInAs(platform, "duty");
  return createClient({ baseUrl: base, token: async () => access_token });
}

async function openPath(desk: string): Promise<() => Promise<readonly Moment[]>> {
  await duty.page.goto(`${base}/${desk}`);
  await untilLive(duty.page);
  await untilSettled(duty.page);
  return watchStates(duty.page);
}

async function untilSettled(page: Page): Promise<void> {
  await expect
    .poll(
      async () =>
        String(
          await page.evaluate(
            "[...document.querySelectorAll('[data-testid^=panel-]')].map((one) => one.dataset.state).join()",
          ),
        ),
      { timeout: waitMs },
    )
    .toMatch(/^((ready|empty|partial)(,|$))+$/);
}

/** While the server was not heard, no panel looked as if its figures were of now. */
function expectNeverLookedLive(moments: readonly Moment[]): void {
  const away = moments.filter(({ link }) => link !== "live");
  expect(away.length).toBeGreaterThan(0);
  for (const { link, panels } of away)
    expect([link, ...panels.filter((one) => /=(ready|empty|partial)$/.test(one))]).toEqual([link]);
}

/** What the desk lists is what the server has, row by row, none twice. */
async function expectSameRows(): Promise<void> {
  await duty.page.goto(`${base}/funds`);
  await untilLive(duty.page);
  const client = await clientOf();
  await expect
    .poll(
      async () => {
        const rows = (await duty.page.evaluate(
          "[...document.querySelectorAll('[data-testid=panel-positions] tbody tr')].map((row) => [...row.cells].slice(0, 3).map((cell) => cell.textContent).join('/'))",
        )) as string[];
        const known = (await client.getPositions()).map((one) => `${one.fund_id}/${one.strategy_id}/${one.symbol}`);
        return (
          JSON.stringify([...rows].sort()) === JSON.stringify([...known].sort()) && new Set(rows).size === rows.length
        );
      },
      { timeout: waitMs },
    )
    .toBe(true);
  await expect
    .poll(
      async () => {
        const shown = Number(await duty.page.locator("[data-testid=panel-orders] table").getAttribute("aria-rowcount"));
        const known = (await client.listOrders({ countMax: 200 })).map(({ order }) => order.order_id);
        return shown - 1 === new Set(known).size;
      },
      { timeout: waitMs },
    )
    .toBe(true);
}

describe.each(desks.filter((desk) => desk !== keepsThePast))("/%s", (desk) => {
  test("says so while the gateway is dead, and recovers", { timeout }, async () => {
    const moments = await openPath(desk);
    process.kill(pidOf("gateway"), "SIGKILL");
    await untilNotLive(duty.page);
    await untilLive(duty.page);
    await untilSettled(duty.page);
    expectNeverLookedLive(await moments());
  });

  test("is stale after five seconds of silence, with its figures and their age, and recovers", {
    timeout,
  }, async () => {
    const moments = await openPath(desk);
    await whileSilent(pidOf("gateway"), async () => {
      await expect.poll(() => linkOf(duty.page), { timeout: waitMs, interval: 50 }).toBe("stale");
      const rows = await duty.page.locator("tbody tr").count();
      expect(rows).toBeGreaterThan(0);
      expect(await duty.page.locator(".chip.stale").first().textContent()).toMatch(/stale, \d+ s old/);
    });
    await untilLive(duty.page);
    await untilSettled(duty.page);
    expectNeverLookedLive(await moments());
  });

  test("says so while the line is cut, and recovers", { timeout }, async () => {
    const moments = await openPath(desk);
    line.cut();
    try {
      await untilNotLive(duty.page);
      // tidy: sleeps because the line is to be away for a while
      await pause(3_000);
    } finally {
      line.mend();
    }
    await untilLive(duty.page);
    await untilSettled(duty.page);
    expectNeverLookedLive(await moments());
  });
});

describe(`/${keepsThePast}`, () => {
  test("dims nothing while the line is cut; a question without an answer is an error, and is asked again", {
    timeout,
  }, async () => {
    await openPath(keepsThePast);
    const states = () =>
      duty.page.evaluate(
        "[...document.querySelectorAll('[data-testid^=panel-]')].map((one) => one.dataset.state).join()",
      );
    line.cut();
    try {
      await untilNotLive(duty.page);
      expect(await states()).toMatch(/^((ready|empty|partial)(,|$))+$/);
      await duty.at("replay-back").click();
      await expect.poll(states, { timeout: waitMs }).toContain("error");
    } finally {
      line.mend();
    }
    await untilLive(duty.page);
    await duty.page.getByRole("button", { name: "Try again" }).first().click();
    await untilSettled(duty.page);
  });
});

describe("a service", () => {
  test.each([
    ["riskengine", "risk", "limit-use"],
    ["treasury", "funds", "funds"],
  ])(
    "%s that died leaves what it answered stale, never fresh, until it answers again",
    { timeout },
    async (service, desk, panel) => {
      await openPath(desk);
      process.kill(pidOf(service), "SIGKILL");
      const state = () => duty.at(`panel-${panel}`).getAttribute("data-state");
      await expect.poll(state, { timeout: waitMs, interval: 50 }).toMatch(/stale|error/);
      await expect.poll(state, { timeout: waitMs }).toMatch(/ready|partial/);
      await untilSettled(duty.page);
    },
  );

  test("none of which lost or doubled a row", { timeout }, async () => {
    await expectSameRows();
    expect(duty.complaints).toEqual([]);
  });
});

describe("eight tabs of one browser", () => {
  test("are live with one stream on six connections, and another tab follows when that one is closed", {
    timeout,
  }, async () => {
    // Straight to the platform, as browsers go: six connections.
    const first = await openPerson(browser, platform, "duty");
    await untilLive(first.page);
    const context = first.page.context();
    const streams: Page[] = [];
    const tabs: Page[] = [];
    context.on("request", (request) => {
      if (new URL(request.url()).pathname === "/v1/events") streams.push(request.frame().page());
    });
    for (let count = 0; count < 7; count += 1) {
      const tab = await context.newPage();
      await tab.goto(`${base}/${desks[count % desks.length]}`);
      tabs.push(tab);
    }
    for (const tab of tabs) await untilLive(tab);
    for (const tab of tabs) expect(await tab.locator("[data-testid^=panel-]").count()).toBeGreaterThan(2);
    expect(streams).toEqual([]);
    await first.page.close();
    await expect.poll(() => streams.length, { timeout: waitMs }).toBeGreaterThan(0);
    for (const tab of tabs) await untilLive(tab);
    expect(new Set(streams).size).toBe(1);
    // A halt reaches the last of them as the first.
    const client = await clientOf();
    await client.requestHalt({ id: "gamma", confirmation: "HALT", reason: "eight tabs" });
    for (const tab of tabs) await tab.getByTestId("halt-banner").waitFor({ timeout: waitMs });
    for (const tab of tabs) await tab.close();
  });
});
