// /signals and /matrix in a real browser: every alert that came in is there, refused ones too, no secret anywhere; and the sums of a fund are those of its positions.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import { correlation } from "../core/stats/rank-correlation.ts";
import { createClient } from "../edges/client/src/client.ts";
import type { Client } from "../edges/client/src/types.ts";
import { launchChromium } from "../testkit/chromium.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";
import { axeViolations, type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";
import { press, tabTo } from "../testkit/web/keyboard.ts";
import { alertWith, filesWith, type Sent, sendPaced, writeFundSecrets } from "../testkit/webhook-sender.ts";

const secret = "alpha-secret-0123456789";
const wrongSecret = "another-secret-987654321";
const timeout = 300_000;
const waitMs = 30_000;

let platform: Platform;
let browser: Browser;
let duty: DeskPerson;
let viewer: DeskPerson;
let client: Client;

beforeAll(async () => {
  platform = startPlatform({ environment: { PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1" } });
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
  await writeFundSecrets(platform, { alpha: secret });
  await eventually("alerts are taken", async () => (await sendPaced(platform, alertWith(secret))).status === 202);
  const { access_token } = await logInAs(platform, "duty");
  client = createClient({ baseUrl: operatorUrl(platform), token: async () => access_token });
  duty = await openPerson(browser, platform, "duty", { path: "/signals?fund=alpha" });
  viewer = await openPerson(browser, platform, "viewer", { path: "/matrix?fund=alpha" });
}, 300_000);

afterAll(async () => {
  await browser?.close();
  await platform?.end();
}, 90_000);

const stateOf = (person: DeskPerson, panel: string) => person.at(`panel-${panel}`).getAttribute("data-state");
const untilState = (person: DeskPerson, panel: string, wanted: RegExp) =>
  expect.poll(() => stateOf(person, panel), { timeout: waitMs }).toMatch(wanted);
const exactIn = (page: Page, testId: string) => page.getByTestId(testId).getAttribute("data-value");

async function open(person: DeskPerson, path: string): Promise<void> {
  await person.page.goto(`${operatorUrl(platform)}${path}`);
  await expect.poll(() => person.at("link-state").getAttribute("data-state"), { timeout: waitMs }).toBe("live");
}

describe("/signals", () => {
  let sent: Readonly<Record<"good" | "again" | "unknown" | "stranger" | "large", Sent>>;

  test("has a row for every alert, refused ones with code and fix, within two seconds", { timeout }, async () => {
    await duty.at("panel-received").waitFor();
    const body = alertWith(secret);
    const good = await sendPaced(platform, body);
    await duty.at(`signal-${good.body["signal_id"]}`).waitFor({ timeout: 6_000 });
    sent = {
      good,
      again: await sendPaced(platform, body),
      unknown: await sendPaced(platform, alertWith(secret, { symbol: "NASDAQ:NONESUCH" })),
      stranger: await sendPaced(platform, alertWith(wrongSecret)),
      large: await sendPaced(platform, alertWith(secret, { quantity: "900000" })),
    };
    expect(Object.values(sent).map(({ status }) => status)).toEqual([202, 409, 422, 401, 202]);
    await eventually("the large one is decided", async () =>
      (await client.listWebhookSignals({ hours: 1 })).some(({ decision_code }) => decision_code !== undefined),
    );
    const listed = await client.listWebhookSignals({ hours: 24, countMax: 500 });
    for (const { signal_id: id, status } of listed) {
      const row = duty.at(`signal-${id}`);
      await row.waitFor({ timeout: waitMs });
      await expect.poll(() => row.textContent(), { timeout: waitMs }).toContain(status);
    }
    const refused = duty.at(`signal-${sent.unknown.body["signal_id"]}`);
    expect(await refused.textContent()).toMatch(/WEBHOOK_SYMBOL_UNKNOWN.*NASDAQ:NONESUCH/);
    expect(await refused.textContent()).toContain("ctl treasury instruments list");
    const stranger = listed.find(({ code }) => code === "WEBHOOK_SECRET_WRONG");
    expect(await duty.at(`signal-${stranger?.signal_id}`).textContent()).toContain("not proved");
    expect(await exactIn(duty.page, "count-REFUSED")).toBe(
      String(listed.filter((one) => one.status === "REFUSED").length),
    );
  });

  test("opens one by keyboard: its body without the secret, the one that it repeats, and why its order was denied", {
    timeout,
  }, async () => {
    const { page, at } = duty;
    await press(page, at(`signal-${sent.large.body["signal_id"]}`).getByRole("button", { name: /^Open/ }));
    await expect.poll(() => new URL(page.url()).searchParams.get("show")).toBe(sent.large.body["signal_id"]);
    await expect.poll(() => at("signal-body").textContent(), { timeout: waitMs }).toContain('"quantity": "900000"');
    expect(await at("signal-body").textContent()).not.toContain("secret");
    await expect.poll(() => at("panel-signal").locator(".gates ol li").count(), { timeout: waitMs }).toBe(7);
    await at(`signal-${sent.again.body["signal_id"]}`).getByRole("button", { name: /^Open/ }).click();
    await at("panel-signal")
      .getByRole("button", { name: String(sent.good.body["signal_id"]) })
      .click();
    await expect.poll(() => new URL(page.url()).searchParams.get("show")).toBe(sent.good.body["signal_id"]);
    expect(await axeViolations(page)).toEqual([]);
  });

  test("keeps its filters in the address, and every row of a fund leads to the replay of its moment", {
    timeout,
  }, async () => {
    const { page, at } = duty;
    await at("signal-status").selectOption("REFUSED");
    await expect.poll(() => new URL(page.url()).searchParams.get("status")).toBe("REFUSED");
    await at(`signal-${sent.good.body["signal_id"]}`).waitFor({ state: "detached" });
    await at("signal-status").selectOption("");
    const row = at(`signal-${sent.good.body["signal_id"]}`);
    const moment = await row.locator("time").getAttribute("datetime");
    await row.getByTestId("to-replay").click();
    await at("desk-replay").waitFor();
    const there = new URL(page.url()).searchParams;
    expect([there.get("fund"), there.get("at"), there.get("symbol")]).toEqual(["alpha", moment, "AAPL"]);
    await untilState(duty, "moment", /ready|partial/);
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await at("desk-matrix").waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("at")).toBe(moment);
    expect(new URL(page.url()).searchParams.get("status")).toBeNull();
  });

  test("says what would become of an alert, and nothing of its text is anywhere else", { timeout }, async () => {
    const { page, at } = duty;
    await open(duty, "/signals?fund=alpha");
    await untilState(duty, "dry-run", /ready/);
    await tabTo(page, at("dry-run-text"));
    await page.keyboard.insertText(alertWith(secret, { quantity: "900000" }));
    await press(page, at("dry-run-send"));
    await expect
      .poll(() => at("dry-run-verdict").textContent(), { timeout: waitMs })
      .toMatch(/accepted \(202\).*deny the order/);
    await at("dry-run-text").fill(alertWith(wrongSecret));
    await at("dry-run-send").click();
    await expect
      .poll(() => at("dry-run-verdict").textContent(), { timeout: waitMs })
      .toMatch(/401 WEBHOOK_SECRET_WRONG/);
    expect(await axeViolations(page)).toEqual([]);
    const kept = String(
      await page.evaluate(
        "JSON.stringify([document.documentElement.outerHTML, location.href, history.state, { ...localStorage }, { ...sessionStorage }])",
      ),
    );
    for (const text of [secret, wrongSecret]) expect(kept).not.toContain(text);
    await page.reload();
    await at("dry-run-text").waitFor();
    expect(await at("dry-run-text").inputValue()).toBe("");
    expect(filesWith(platform.dataFolder, [secret, wrongSecret])).toEqual([]);
    const template = JSON.parse((await at("template-text").textContent()) ?? "");
    expect(template).toMatchObject({ secret: "PUT-THE-SECRET-OF-THE-FUND-HERE", fund_id: "alpha" });
  });

  test("is readable for a viewer, who makes no alerts", { timeout }, async () => {
    await open(viewer, "/signals?fund=alpha");
    for (const panel of ["received", "sender", "ours"]) await untilState(viewer, panel, /ready|empty|partial/);
    for (const panel of ["template", "dry-run"]) await untilState(viewer, panel, /forbidden/);
    expect(await viewer.at("panel-dry-run").textContent()).toContain("operator, risk_officer");
  });
});

describe("/matrix", () => {
  test("has a cell for every position, and sums that are exactly those of its cells", { timeout }, async () => {
    const { page } = viewer;
    await open(viewer, "/matrix?fund=alpha&mode=value");
    await untilState(viewer, "matrix", /ready|partial/);
    const readCells = async () =>
      (await page.evaluate(
        `[...document.querySelectorAll("[data-testid^=cell-alpha-]")].map((one) => [one.dataset.testid, one.dataset.value])`,
      )) as readonly (readonly [string, string])[];
    // Strategies trade meanwhile.
    let positions = await client.getPositions({ fundId: "alpha" });
    await eventually("the cells are the positions", async () => {
      positions = await client.getPositions({ fundId: "alpha" });
      const names = positions.map(({ strategy_id, symbol }) => `cell-${strategy_id}-${symbol}`);
      return (
        names.sort().join() ===
        (await readCells())
          .map(([name]) => name)
          .sort()
          .join()
      );
    });
    // One answer, frozen: prices move.
    await viewer.at("freeze-toggle").click();
    const cells = await readCells();
    const sumOf = (matching: (name: string) => boolean): string =>
      decimal.format(
        cells.reduce<decimal.Decimal>(
          (sum, [name, value]) => (matching(name) ? decimal.add(sum, decimal.parse(value)) : sum),
          decimal.zero,
        ),
      );
    expect(await exactIn(page, "sum-all")).toBe(sumOf(() => true));
    for (const symbol of new Set(positions.map((one) => one.symbol)))
      expect(await exactIn(page, `sum-${symbol}`), symbol).toBe(sumOf((name) => name.endsWith(`-${symbol}`)));
    for (const strategy of new Set(positions.map((one) => one.strategy_id)))
      expect(await exactIn(page, `sum-${strategy}`)).toBe(sumOf((name) => name.startsWith(`cell-${strategy}-`)));
    await viewer.at("freeze-toggle").click();
    for (const mode of ["share", "profit", "signal"]) {
      await viewer.at("matrix-mode").selectOption(mode);
      await expect.poll(() => new URL(page.url()).searchParams.get("mode")).toBe(mode === "share" ? null : mode);
    }
    expect(await axeViolations(page)).toEqual([]);
  });

  test("has the correlations of the daily bars that the market answers", { timeout }, async () => {
    const { correlations } = await client.getMatrix({ fundId: "alpha", days: 30 });
    const closes = new Map<string, readonly number[]>();
    for (const symbol of correlations.symbols) {
      const bars = await client.listBars({ symbol, interval: "1d", countMax: 40 });
      const closed = bars.filter((one) => one.closed).slice(-31);
      closes.set(
        symbol,
        closed.map(({ close }) => Number(close)),
      );
    }
    const returnsOf = (symbol: string): readonly number[] =>
      (closes.get(symbol) ?? []).flatMap((close, place, all) =>
        place === 0 ? [] : [close / (all[place - 1] ?? 0) - 1],
      );
    expect(correlations.pairs.length).toBe((correlations.symbols.length * (correlations.symbols.length - 1)) / 2);
    for (const { a, b, r, n } of correlations.pairs) {
      expect(n, `${a} ${b}`).toBe(30);
      expect(r, `${a} ${b}`).toBeCloseTo(correlation(returnsOf(a), returnsOf(b)) ?? Number.NaN, 12);
    }
    const few = await client.getMatrix({ fundId: "alpha", days: 19 });
    for (const pair of few.correlations.pairs) expect(pair).toMatchObject({ r: null, n: 19, reason: "TOO_FEW" });
    await untilState(viewer, "correlations", /ready/);
    const [pair] = (await client.getMatrix({ fundId: "alpha" })).correlations.pairs;
    await expect.poll(() => exactIn(viewer.page, `corr-${pair?.a}-${pair?.b}`)).toBe(String(pair?.r));
  });

  test("opens a cell by keyboard, and its links keep what they are about", { timeout }, async () => {
    const { page, at } = viewer;
    const [position] = await client.getPositions({ fundId: "alpha" });
    const [strategy, symbol] = [position?.strategy_id, position?.symbol];
    await press(page, at(`cell-${strategy}-${symbol}`).getByRole("button"));
    await untilState(viewer, "cell", /ready|partial/);
    expect(await exactIn(page, "cell-quantity")).toBe(position?.quantity);
    expect(await at("panel-cell").textContent()).toContain("binds");
    await at("panel-cell").getByRole("link", { name: "limits" }).click();
    await at("desk-risk").waitFor();
    const there = new URL(page.url()).searchParams;
    expect([there.get("fund"), there.get("symbol")]).toEqual(["alpha", symbol]);
  });
});

test("nothing was said on the console, and nobody else was asked", () => {
  for (const person of [duty, viewer]) {
    expect(person.complaints).toEqual([]);
    expect([...person.origins]).toEqual([operatorUrl(platform)]);
  }
});
