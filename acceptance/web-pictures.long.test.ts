// Pictures of every desk full, stale and disconnected, in both themes, on a telephone, a laptop and a wide screen, and on paper.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { type CutLine, openLine } from "../testkit/web/cut-line.ts";
import { openPerson } from "../testkit/web/desk-browser.ts";
import {
  expectShownTaken,
  openTabs,
  type Pictures,
  picturedDesks,
  picturesIn,
  settled,
  untilStates,
  waitMs,
} from "../testkit/web/desk-pictures.ts";
import { whileSilent } from "../testkit/web/silent-process.ts";
import { alertWith, sendPaced, writeFundSecrets } from "../testkit/webhook-sender.ts";

const timeout = 600_000;

let platform: Platform;
let browser: Browser;
let line: CutLine;
let pages: ReadonlyMap<string, Page>;
let pictures: Pictures;
let folder: string;

beforeAll(async () => {
  folder = temporaryFolder("web-pictures");
  pictures = picturesIn(folder);
  platform = startPlatform({ funds: "as configured", environment: { PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1" } });
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
  await sendAlerts();
  line = await openLine();
  const duty = await openPerson(browser, platform, "duty", { proxy: { server: line.server } });
  pages = await openTabs(duty, operatorUrl(platform));
}, timeout);

/** Taken, repeated, unknown, not proved, and denied by a gate. */
async function sendAlerts(): Promise<void> {
  const secret = "alpha-secret-0123456789";
  await writeFundSecrets(platform, { alpha: secret });
  await eventually("alerts are taken", async () => (await sendPaced(platform, alertWith(secret))).status === 202);
  const body = alertWith(secret);
  for (const sent of [
    body,
    body,
    alertWith(secret, { symbol: "NASDAQ:NONESUCH" }),
    alertWith("not-the-secret-of-alpha"),
    alertWith(secret, { quantity: "900000" }),
  ])
    await sendPaced(platform, sent);
}

afterAll(async () => {
  await browser?.close();
  await line?.close();
  await platform?.end();
  process.stdout.write(`pictures in ${folder}\n`);
}, 90_000);

/** What was once is not stale: /replay keeps what it shows, and a question without an answer is an error. */
const keepsThePast = (desk: string): boolean => desk === "replay";
const linkOf = (page: Page) => page.getByTestId("link-state").getAttribute("data-state");

describe.each(picturedDesks)("/%s", (desk) => {
  test("full, and on paper", { timeout }, async () => {
    const page = pages.get(desk) as Page;
    await untilStates(page, settled);
    await pictures.takeAll("full", page, desk);
    await page.setViewportSize({ width: 1_280, height: 900 });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    // tidy: sleeps because the browser says nothing when it has laid out for print
    await pause(500);
    await pictures.takeWhole(`${desk}-print`, page);
    await page.emulateMedia({ media: null, colorScheme: null });
  });

  test("stale while the server is silent", { timeout }, async () => {
    const page = pages.get(desk) as Page;
    await untilStates(page, settled);
    await whileSilent(platform.runFile().processes["gateway"] ?? 0, async () => {
      await expect.poll(() => linkOf(page), { timeout: waitMs }).toMatch(/stale/);
      await untilStates(page, keepsThePast(desk) ? settled : /^(stale(,|$))+$/);
      await pictures.takeAll("stale", page, desk);
    });
    await untilStates(page, settled);
  });

  test("disconnected while the line is cut", { timeout }, async () => {
    const page = pages.get(desk) as Page;
    line.cut();
    try {
      await expect.poll(() => linkOf(page), { timeout: waitMs }).toMatch(/reconnecting|offline/);
      if (keepsThePast(desk)) await page.getByTestId("replay-back").click();
      await untilStates(page, keepsThePast(desk) ? /error/ : /^((stale|error)(,|$))+$/);
      await pictures.takeAll("disconnected", page, desk);
    } finally {
      line.mend();
    }
    if (keepsThePast(desk)) await page.getByRole("button", { name: "Try again" }).first().click();
    await untilStates(page, settled);
  });
});

test("are 19 of each, and those of docs/web.md are among them", () => {
  expect(pictures.taken()).toHaveLength(19 * picturedDesks.length);
  expectShownTaken(/-(full|stale|disconnected|print)\b/, pictures.taken());
});
