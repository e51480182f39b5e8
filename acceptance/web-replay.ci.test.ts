// /replay in a real browser: a day of a paper platform played from its beginning, stepped, jumped through and verified, and never a question or an answer of a
// later moment than the clock's; what is now stands in the frame alone.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../edges/client/src/client.ts";
import type { AnswerOf, Client } from "../edges/client/src/types.ts";
import { launchChromium } from "../testkit/chromium.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";
import { axeViolations, type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";
import { press, tabTo } from "../testkit/web/keyboard.ts";
import { type PastAnswer, watchPast } from "../testkit/web/past-answers.ts";
import { whileSilent } from "../testkit/web/silent-process.ts";
import { alertWith, sendPaced, writeFundSecrets } from "../testkit/webhook-sender.ts";

type Event = AnswerOf<"listTimeline">[number];

const secret = "alpha-secret-0123456789";
const fundId = "alpha";
const timeout = 300_000;
const waitMs = 60_000;

let platform: Platform;
let browser: Browser;
let viewer: DeskPerson;
let client: Client;
/** What the page asked of the past, and was answered. */
let answers: readonly PastAnswer[];
/** Of the day that is played, oldest first. */
let events: readonly Event[];
let from: string;
let to: string;

beforeAll(async () => {
  platform = startPlatform({ environment: { PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1" } });
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
  await writeFundSecrets(platform, { alpha: secret });
  const { access_token } = await logInAs(platform, "duty");
  client = createClient({ baseUrl: operatorUrl(platform), token: async () => access_token });
  await haveADay();
  viewer = await openPerson(browser, platform, "viewer", { path: address() });
  answers = watchPast(viewer.page);
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await platform?.end();
}, 90_000);

const kindsOf = (all: readonly Event[]) => new Set(all.map(({ kind }) => kind));

/** Orders, fills, a denied order and a halt, one after the other. */
async function haveADay(): Promise<void> {
  const alert = (more = {}) => sendPaced(platform, alertWith(secret, more));
  await eventually("alerts are taken", async () => (await alert()).status === 202);
  await alert({ quantity: "900000" });
  await alert();
  const all = (): Promise<readonly Event[]> => client.listTimeline({ fundId, countMax: 500 });
  await eventually("a fill and a rejection are recorded", async () => {
    const known = await all();
    return kindsOf(known).has("fill") && known.some(isRejection);
  });
  await client.requestHalt({ id: fundId, confirmation: "HALT", reason: "replayed later" });
  await eventually("the halt is recorded", async () => kindsOf(await all()).has("halt"));
  const known = await all();
  // More may have been recorded in the very last moment meanwhile.
  events = known.filter(({ at }) => at < (known.at(-1)?.at ?? ""));
  from = earlierBy(events[0]?.at, 60_000);
  to = events.at(-1)?.at ?? "";
}

const isRejection = ({ kind, code }: Event): boolean => kind === "decision" && code !== undefined;

function earlierBy(text: string | undefined, ms: number): string {
  return new Date(Date.parse(text ?? "") - ms).toISOString();
}

const address = (more: Readonly<Record<string, string>> = {}): string =>
  `/replay?${new URLSearchParams({ fund: fundId, from, to, ...more })}`;

async function open(person: DeskPerson, path: string): Promise<void> {
  await person.page.goto(`${operatorUrl(platform)}${path}`);
  await expect.poll(() => person.at("link-state").getAttribute("data-state"), { timeout: waitMs }).toBe("live");
  await settled(person);
}

const clockOf = async (person: DeskPerson) => (await person.at("replay-clock").getAttribute("data-value")) ?? "";
const statesOf = (page: Page) =>
  page.evaluate("[...document.querySelectorAll('[data-testid^=panel-]')].map((one) => one.dataset.state).join()");
const settled = ({ page }: DeskPerson) =>
  expect.poll(() => statesOf(page), { timeout: waitMs }).toMatch(/^((ready|empty|partial)(,|$))+$/);
const untilClock = (person: DeskPerson, at: string) =>
  expect.poll(() => clockOf(person), { timeout: waitMs, interval: 50 }).toBe(at);

/** Rows that are drawn, newest first. */
const shownIds = (page: Page): Promise<readonly string[]> =>
  page.evaluate(
    "[...document.querySelectorAll('[data-testid^=event-]')].map((one) => one.dataset.testid.slice(6)).filter((one) => one !== 'data')",
  ) as Promise<string[]>;

/** Events by then as the server has them. */
const idsBy = (at: string): readonly string[] =>
  events
    .filter((one) => one.at <= at)
    .map(({ event_id }) => event_id)
    .reverse();

/** The newest that are drawn are those of then, none twice, none of later. */
async function expectEventsOf(person: DeskPerson): Promise<void> {
  const at = await clockOf(person);
  const shown = await shownIds(person.page);
  expect(new Set(shown).size).toBe(shown.length);
  expect(shown).toEqual(idsBy(at).slice(0, shown.length));
}

/** Nothing of what was fetched is later than what was asked for, nor than where the clock stands. */
async function expectNothingLater(person: DeskPerson): Promise<void> {
  const at = await clockOf(person);
  expect(answers.length).toBeGreaterThan(3);
  for (const { url, asked, times } of answers) {
    expect(asked, url).not.toBe("");
    for (const time of times) {
      expect(time <= asked, `${time} in the answer to ${url}`).toBe(true);
      expect(time <= at, `${time} is known at ${at} by ${url}`).toBe(true);
    }
  }
}

describe("a day", () => {
  test("is stepped through, forth and back, and nothing later than the clock is fetched or shown", {
    timeout,
  }, async () => {
    await open(viewer, address());
    expect(await clockOf(viewer)).toBe(`${from.slice(0, -1)}000Z`);
    expect(await shownIds(viewer.page)).toEqual([]);
    const moments = [...new Set(events.map(({ at }) => at))];
    for (const at of moments.slice(0, 6)) {
      await viewer.at("replay-step").click();
      await untilClock(viewer, at);
      await expectEventsOf(viewer);
      await expectNothingLater(viewer);
    }
    await viewer.at("replay-back").click();
    await untilClock(viewer, moments[4] ?? "");
    await expectEventsOf(viewer);
    for (const gone of idsBy(moments[5] ?? "").filter((id) => !idsBy(moments[4] ?? "").includes(id)))
      expect(await viewer.at(`event-${gone}`).count()).toBe(0);
  });

  test("is played to its end, each event once, and then stands", { timeout }, async () => {
    await viewer.at("replay-speed").selectOption("60");
    await viewer.at("replay-play").click();
    await expect.poll(() => viewer.at("replay-play").getAttribute("aria-pressed")).toBe("true");
    await untilClock(viewer, to);
    await expect.poll(() => viewer.at("replay-play").getAttribute("aria-pressed")).toBe("false");
    await expectEventsOf(viewer);
    await expectNothingLater(viewer);
    expect(new URL(viewer.page.url()).searchParams.get("at")).toBe(to);
    expect(new URL(viewer.page.url()).searchParams.get("speed")).toBe("60");
  });

  test("shows what was recorded by then: positions, open orders, limits", { timeout }, async () => {
    const moment = await client.getMoment({ fundId, at: await clockOf(viewer) });
    expect(moment.positions.length).toBeGreaterThan(0);
    for (const { strategy_id, symbol, quantity } of moment.positions) {
      const row = viewer.at(`moment-${strategy_id}-${symbol}`);
      await row.waitFor({ timeout: waitMs });
      expect(await row.locator("[data-value]").first().getAttribute("data-value")).toBe(quantity);
    }
    expect(await viewer.at("moment-envelope").getAttribute("data-value")).toBe(String(moment.envelope_version));
    expect(await viewer.at("moment-halts").textContent()).toContain("replayed later");
  });

  test("jumps to a rejection, which opens with all seven gates, and to a halt", { timeout }, async () => {
    await open(viewer, address());
    answers = watchPast(viewer.page);
    const [rejection, halt] = [events.find(isRejection), events.find(({ kind }) => kind === "halt")];
    await viewer.at("replay-jump-rejection").click();
    await untilClock(viewer, rejection?.at ?? "");
    await expectNothingLater(viewer);
    await press(viewer.page, viewer.at(`event-${rejection?.event_id}`).getByRole("button", { name: "Open" }));
    await expect.poll(() => viewer.at("event-data").locator(".gates ol li").count(), { timeout: waitMs }).toBe(7);
    expect(await viewer.at("event-data").textContent()).toContain(`DENIED by`);
    expect(await axeViolations(viewer.page)).toEqual([]);
    await viewer.at("replay-jump-halt").click();
    await untilClock(viewer, halt?.at ?? "");
    await expectEventsOf(viewer);
  });

  test("is verified: all of them the same", { timeout }, async () => {
    await open(viewer, address({ at: to }));
    await press(viewer.page, viewer.at("replay-verify"));
    await expect
      .poll(() => viewer.at("replay-verdict").getAttribute("data-done"), { timeout: waitMs, interval: 100 })
      .toBe("true");
    const verdict = await client.verifyDecisions({ fundId, from, to });
    expect(verdict).toMatchObject({ different: 0 });
    const text = (await viewer.at("replay-verdict").textContent()) ?? "";
    expect(text).toContain(`${verdict.same} of ${verdict.decisions} the same`);
    // A verdict about what came later is taken off.
    await viewer.at("replay-back").click();
    await viewer.at("replay-verdict").waitFor({ state: "detached" });
  });
});

test("by keyboard alone: space and arrows outside of fields, and only there", { timeout }, async () => {
  const { page } = viewer;
  await open(viewer, address({ speed: "3600" }));
  const first = events[0]?.at ?? "";
  await page.locator("main").focus();
  await page.keyboard.press("ArrowRight");
  await untilClock(viewer, first);
  await tabTo(page, page.locator("#filter"));
  await page.keyboard.type(" ");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Backspace");
  expect(await clockOf(viewer)).toBe(first);
  await page.locator("main").focus();
  await page.keyboard.press("ArrowLeft");
  await untilClock(viewer, `${from.slice(0, -1)}000Z`);
  await page.keyboard.press(" ");
  await untilClock(viewer, to);
  await page.keyboard.press("t");
  await expect.poll(() => viewer.at("panel-chart").locator("tbody tr").count()).toBeGreaterThan(0);
  await page.keyboard.press("t");
});

describe("what is now", () => {
  test("stands in the frame alone: the link, what is halted, Halt", { timeout }, async () => {
    await open(viewer, address());
    await expect.poll(() => viewer.at("halt-banner").textContent(), { timeout: waitMs }).toMatch(/^NOW HALTED/);
    expect(await viewer.at("moment-halts").textContent()).toBe("nothing was halted");
    expect(await viewer.at("replay-watermark").textContent()).toBe("REPLAY");
    expect(await viewer.page.locator("[data-testid^=panel-] .chip.halted").count()).toBe(0);
    expect(await viewer.at("halt-button").count()).toBe(1);
    const words = await viewer.page.locator("[data-testid^=panel-] button").allTextContents();
    for (const word of words) expect(word).not.toMatch(/Halt|Cancel|Resume|Release|Flatten/);
  });

  test("is asked for by the frame alone", { timeout }, async () => {
    const paths = new Set<string>();
    viewer.page.on("request", (request) => paths.add(new URL(request.url()).pathname));
    await viewer.at("replay-jump-halt").click();
    await untilClock(viewer, events.find(({ kind }) => kind === "halt")?.at ?? "");
    const asked = [...paths].filter((path) =>
      /positions|orders|quotes|limit-use|bars|decisions|nav|signals/.test(path),
    );
    expect(asked.filter((path) => !path.startsWith("/v1/replay/"))).toEqual([]);
  });

  test("dims nothing when it falls silent", { timeout }, async () => {
    await whileSilent(platform.runFile().processes["gateway"] ?? 0, async () => {
      await expect.poll(() => viewer.at("link-state").getAttribute("data-state"), { timeout: waitMs }).toBe("stale");
      expect(await statesOf(viewer.page)).toMatch(/^((ready|empty|partial)(,|$))+$/);
    });
    await expect.poll(() => viewer.at("link-state").getAttribute("data-state"), { timeout: waitMs }).toBe("live");
  });
});

test("nothing was said on the console, and nobody else was asked", () => {
  expect(viewer.complaints).toEqual([]);
  expect([...viewer.origins]).toEqual([operatorUrl(platform)]);
});
