// Silence is never green: a process that is stopped, dead or was replaced while gateway and stream live on makes every panel that it answers stale within seconds, and
// none of them is ready again before it answers.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type Platform, pause, startPlatform } from "../testkit/platform.ts";
import { type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";
import { whileSilent } from "../testkit/web/silent-process.ts";
import { type Moment, watchStates } from "../testkit/web/watch-states.ts";

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

const timeout = 420_000;
/** A quiet machine shows it after 3 s; a panel that was only read in its turn would take up to 24. */
const noticedMsMax = 12_000;
/** Longer than any answer that was under way, and than any turn of reading. */
const awayMs = 15_000;
const waitMs = 120_000;

/** The process, the desk, and the panels that it answers there. */
type Case = readonly [string, string, readonly string[]];

const cases: readonly Case[] = [
  ["operations", "/ops", ["watchdogs", "alarms", "audit", "entries", "books", "drills"]],
  ["operations", "/risk?fund=alpha", ["halts", "rejections", "stops", "differences"]],
  ["riskengine", "/risk?fund=alpha", ["limit-use", "losses", "blocks", "envelope", "headroom"]],
  ["oms", "/ops", ["weather"]],
  ["oms", "/funds?fund=alpha", ["positions", "orders"]],
  ["treasury", "/funds?fund=alpha", ["funds", "nav", "ledger"]],
  ["research", "/funds?fund=alpha", ["strategies"]],
];
/** Those of which most panels hang. */
const gravest = cases.filter(([name, path]) => name === "riskengine" || (name === "operations" && path === "/ops"));

const pidOf = (name: string): number => platform.runFile().processes[name] ?? 0;
const stateOf = (panel: string) => duty.at(`panel-${panel}`).getAttribute("data-state");
const isGreen = (state: string): boolean => /ready|empty|partial/.test(state);

async function openSettled(path: string): Promise<() => Promise<readonly Moment[]>> {
  await duty.page.goto(`${operatorUrl(platform)}${path}`);
  await untilSettled();
  return watchStates(duty.page);
}

async function untilSettled(): Promise<void> {
  const states = () =>
    duty.page.evaluate(
      "[...document.querySelectorAll('[data-testid^=panel-]')].map((one) => one.dataset.state).join()",
    );
  await expect.poll(async () => String(await states()), { timeout: waitMs }).toMatch(/^((ready|empty|partial)(,|$))+$/);
}

const stateIn = ({ panels }: Moment, panel: string): string =>
  panels.find((one) => one.startsWith(`${panel}=`))?.slice(panel.length + 1) ?? "";

/** From a moment on until another: green no longer than it takes to notice, then never. */
function expectNoticed(moments: readonly Moment[], panels: readonly string[], fromMs: number, toMs: number): void {
  for (const panel of panels) {
    const old = moments.find((one) => one.atMs >= fromMs && !isGreen(stateIn(one, panel)));
    expect((old?.atMs ?? Number.POSITIVE_INFINITY) - fromMs, `${panel} is seen to be old`).toBeLessThan(noticedMsMax);
    const after = moments.filter(({ atMs }) => atMs >= (old?.atMs ?? 0) && atMs < toMs);
    expect(after.map((one) => stateIn(one, panel)).filter(isGreen), `${panel} stays so`).toEqual([]);
  }
}

async function expectSilenceSeen(
  [process_, path, panels]: Case,
  silence: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const moments = await openSettled(path);
  let fromMs = 0;
  let toMs = 0;
  await silence(async () => {
    fromMs = Date.now();
    // tidy: sleeps because the silence itself is what the desk is watched through
    await pause(awayMs);
    if (path === "/ops") await expectSaid(process_);
    expect(await duty.at("halts-unread").count()).toBe(process_ === "operations" ? 1 : 0);
    toMs = Date.now();
  });
  expectNoticed(await moments(), panels, fromMs, toMs);
  await untilSettled();
  expect(await duty.at("halts-unread").count()).toBe(0);
}

/** What still answers says what is missing. */
async function expectSaid(name: string): Promise<void> {
  expect(await stateOf("lag")).toBe("partial");
  expect(await duty.at("panel-lag").textContent()).toContain(`${name} did not answer`);
  const row = duty.page.locator("[data-testid=panel-services] tbody tr", { hasText: name });
  expect(await row.textContent()).toContain("failing");
  expect(await duty.at(`panel-${name === "oms" ? "weather" : "watchdogs"}`).textContent()).toContain(
    `Not of now: ${name}`,
  );
}

describe.each(cases)("%s on %s", (...one) => {
  test("that is there and says nothing", { timeout }, async () => {
    await expectSilenceSeen(one, (work) => whileSilent(pidOf(one[0]), work));
  });
});

describe.each(gravest)("%s on %s", (...one) => {
  test("that is dead and does not come back", { timeout }, async () => {
    // Nobody starts it again while the supervisor stands still.
    await expectSilenceSeen(one, (work) =>
      whileSilent(platform.pid, async () => {
        process.kill(pidOf(one[0]), "SIGKILL");
        await work();
      }),
    );
  });

  test("that was killed and is back before anybody read anything", { timeout }, async () => {
    const [name, path, panels] = one;
    const moments = await openSettled(path);
    const fromMs = Date.now();
    process.kill(pidOf(name), "SIGKILL");
    for (const panel of panels) {
      const wasOld = async () =>
        (await moments()).some((each) => each.atMs >= fromMs && !isGreen(stateIn(each, panel)));
      await expect.poll(wasOld, { timeout: noticedMsMax * 2 }).toBe(true);
    }
    await untilSettled();
  });
});

test("and the browser had nothing to complain of", () => {
  expect(duty.complaints).toEqual([]);
});
