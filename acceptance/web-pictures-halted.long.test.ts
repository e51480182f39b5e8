// Pictures of every desk with the firm halted, of the dialogs on the way there and back, and of a platform without funds.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { confirmDanger, type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";
import {
  expectShownTaken,
  openTabs,
  type Pictures,
  picturedDesks,
  picturesIn,
  settled,
  statesOf,
  untilStates,
  waitMs,
} from "../testkit/web/desk-pictures.ts";

const timeout = 600_000;

let browser: Browser;
let pictures: Pictures;
let folder: string;

beforeAll(async () => {
  folder = temporaryFolder("web-pictures-halted");
  pictures = picturesIn(folder);
  browser = await launchChromium();
}, timeout);

afterAll(async () => {
  await browser?.close();
  process.stdout.write(`pictures in ${folder}\n`);
}, 90_000);

const large = { width: 1_280, height: 900 };
const small = { width: 390, height: 844 };

async function onPlatform(
  platform: Platform,
  work: (duty: DeskPerson, pages: ReadonlyMap<string, Page>) => Promise<void>,
): Promise<void> {
  try {
    await platform.ready();
    const duty = await openPerson(browser, platform, "duty");
    await work(duty, await openTabs(duty, operatorUrl(platform)));
    await duty.close();
  } finally {
    await platform.end();
  }
}

/** In the dark, on a laptop and on a telephone. */
async function takeBoth(name: string, page: Page): Promise<void> {
  await page.setViewportSize(small);
  await pictures.take(`${name}-390`, page);
  await page.setViewportSize(large);
  await pictures.take(`${name}-1280`, page);
}

async function takeHalt(duty: DeskPerson): Promise<void> {
  await duty.page.setViewportSize(large);
  await duty.page.emulateMedia({ colorScheme: "dark" });
  await duty.at("halt-button").click();
  await expect.poll(() => duty.at("danger-effects").textContent(), { timeout: waitMs }).toContain("PAPER");
  await duty.at("danger-word").fill("HALT");
  await duty.at("danger-reason").fill("a price feed went wrong");
  await takeBoth("dialog-dark", duty.page);
  expect(await confirmDanger(duty, {})).toContain("HALTED");
  await takeBoth("outcome-dark", duty.page);
  await duty.page.keyboard.press("Escape");
}

async function takeRequest(duty: DeskPerson): Promise<void> {
  await duty.page.setViewportSize(large);
  await duty.at("resume-button").click();
  const asked = { word: "RESUME", reason: "the feed is back", code: await duty.code() };
  expect(await confirmDanger(duty, asked)).toContain("NOTHING IS LIFTED YET");
  await duty.page.keyboard.press("Escape");
  await duty.at("cosign-card").waitFor();
  await takeBoth("cosign-light", duty.page);
}

describe("the firm", () => {
  test("halted, with the dialog, its outcome and a request that waits", { timeout }, async () => {
    await onPlatform(startPlatform({ funds: "as configured" }), async (duty, pages) => {
      await untilStates(duty.page, settled);
      await takeHalt(duty);
      for (const desk of picturedDesks) {
        const page = pages.get(desk) as Page;
        await page.getByTestId("halt-banner").waitFor({ timeout: waitMs });
        await untilStates(page, settled);
        await pictures.takeAll("halted", page, desk);
      }
      await takeRequest(duty);
    });
  });
});

describe("a platform without funds", () => {
  test("is empty, and says what next", { timeout }, async () => {
    const bare = startPlatform({ environment: { PORTCULLIS_PAPER_SEED: "never" }, database: "from nothing" });
    await onPlatform(bare, async (_duty, pages) => {
      for (const desk of picturedDesks) {
        const page = pages.get(desk) as Page;
        await untilStates(page, settled);
        expect(await statesOf(page)).toContain("empty");
        await pictures.takeAll("empty", page, desk);
      }
    });
  });
});

test("are 12 of each and six of dialogs, and those of docs/web.md are among them", () => {
  expect(pictures.taken()).toHaveLength(12 * picturedDesks.length + 6);
  expectShownTaken(/^(dialog|outcome|cosign)-|-(halted|empty)-/, pictures.taken());
});
