// The figures of the web desks are the server's and ctl's, for every fund and while they move; and each says how it came about.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { type Ctl, ctlIn } from "../testkit/ctl/ctl.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { desks } from "../testkit/web/built-desks.ts";
import { type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";

let platform: Platform;
let browser: Browser;
let duty: DeskPerson;
let ctl: Ctl;
let base: string;

beforeAll(async () => {
  platform = startPlatform({ funds: "as configured" });
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
  base = operatorUrl(platform);
  duty = await openPerson(browser, platform, "duty");
  ctl = ctlIn(temporaryFolder("web-figures"), { PORTCULLIS_URL: base, PORTCULLIS_DATA_DIR: platform.dataFolder });
  const login = await ctl.run("auth", "login", "--dev", "duty");
  expect(login.exit, login.stderr).toBe(0);
}, 600_000);

afterAll(async () => {
  await ctl?.end();
  await browser?.close();
  await platform?.end();
}, 90_000);

const timeout = 300_000;
const funds = ["alpha", "beta", "gamma"] as const;

type Row = Readonly<Record<string, unknown>>;

/** What the page itself was answered on a path, the newest last. */
function answersOn(page: Page, path: string): readonly (readonly Row[])[] {
  const found: (readonly Row[])[] = [];
  page.on("response", (response) => {
    if (new URL(response.url()).pathname !== path || response.status() !== 200) return;
    void response.json().then(
      (body) => found.push(body as readonly Row[]),
      () => undefined,
    );
  });
  return found;
}

/** The rows of a panel as text, cell by cell, by the heads of the columns. */
async function rowsOf(page: Page, panel: string): Promise<readonly Readonly<Record<string, string>>[]> {
  return (await page.evaluate(`[...document.querySelectorAll("[data-testid=panel-${panel}] table")].flatMap((table) => {
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.replace(/ [↓↑]$/, ""));
    return [...table.tBodies[0].rows].filter((row) => !row.ariaHidden).map((row) => Object.fromEntries([...row.cells].map((cell, index) => [heads[index], cell.textContent])));
  })`)) as readonly Readonly<Record<string, string>>[];
}

const plain = (text: string | undefined): number => Number((text ?? "").replaceAll(/[,▲▼+\s]/g, ""));
const isSame = (shown: string | undefined, value: unknown, places: number): boolean =>
  Math.abs(plain(shown) - Number(value)) <= 0.5 * 10 ** -places + 1e-9;

/** A scope that the limit's own name ends with is said once. */
function isLimit(shown: string, limit: string, scope: string): boolean {
  return (
    shown.startsWith(limit) && (scope === "" || shown.endsWith(`${limit.endsWith(`.${scope}`) ? "." : " "}${scope}`))
  );
}

/** Polls until a whole panel is one of the answers that the page got: every row, every figure. */
async function expectPanelIs(
  page: Page,
  panel: string,
  answers: readonly (readonly Row[])[],
  isRow: (shown: Readonly<Record<string, string>>, one: Row) => boolean,
): Promise<void> {
  await expect
    .poll(
      async () => {
        const shown = await rowsOf(page, panel);
        return answers
          .slice(-5)
          .some(
            (rows) =>
              rows.length > 0 &&
              rows.length === shown.length &&
              rows.every((one) => shown.filter((row) => isRow(row, one)).length === 1),
          );
      },
      { timeout: 60_000, interval: 50 },
    )
    .toBe(true);
}

describe.each(funds)("of %s", (fund) => {
  test("positions, limit use, losses and stops are what the server answered, again and again while they move", {
    timeout,
  }, async () => {
    const { page } = duty;
    const positions = answersOn(page, "/v1/oms/positions");
    const use = answersOn(page, "/v1/riskengine/limit-use");
    const losses = answersOn(page, "/v1/riskengine/losses");
    const stops = answersOn(page, "/v1/riskengine/stops");
    await page.goto(`${base}/funds?fund=${fund}`);
    for (let turn = 0; turn < 5; turn += 1) {
      await expectPanelIs(
        page,
        "positions",
        positions,
        (row, one) =>
          row["Strategy"] === one["strategy_id"] &&
          row["Symbol"] === one["symbol"] &&
          plain(row["Quantity"]) === Number(one["quantity"]) &&
          isSame(row["Value"], one["market_value"], 2) &&
          isSame(row["Unrealised"], one["unrealised_pnl"], 2),
      );
      // tidy: sleeps because figures are to move between two looks
      await pause(700);
    }
    expect(new Set(positions.map((rows) => JSON.stringify(rows))).size).toBeGreaterThan(1);
    await page.goto(`${base}/risk?fund=${fund}`);
    for (let turn = 0; turn < 3; turn += 1) {
      await expectPanelIs(
        page,
        "limit-use",
        use,
        (row, one) =>
          isLimit(row["Limit"] ?? "", String(one["limit"]), String(one["scope"])) &&
          (one["share"] === undefined || isSame(row["Share %"], Number(one["share"]) * 100, 1)) &&
          isSame(row["Used"], one["used"], 2) &&
          isSame(row["Allowed"], one["allowed"], 2),
      );
      await expectPanelIs(
        page,
        "losses",
        losses,
        (row, one) =>
          row["Limit"] === one["limit"] &&
          row["Strategy"] === (one["strategy_id"] ?? "") &&
          isSame(row["Loss"], one["loss"], 2),
      );
      await expectPanelIs(
        page,
        "stops",
        stops,
        (row, one) =>
          row["Symbol"] === one["symbol"] &&
          row["Strategy"] === one["strategy_id"] &&
          row["State"]?.includes(String(one["state"])) === true &&
          plain(row["Quantity"]) === Number(one["quantity"]),
      );
      // tidy: sleeps because figures are to move between two looks
      await pause(700);
    }
  });

  test("NAV, positions and history are ctl's", { timeout }, async () => {
    const { page } = duty;
    await page.goto(`${base}/funds?fund=${fund}&from=1h&tables=all`);
    await page.locator("[data-testid=panel-funds] tbody tr").first().waitFor();
    await page.evaluate(`
      window.seen = new Set();
      const look = () => {
        const table = document.querySelector("[data-testid=panel-funds] table");
        const at = [...(table?.tHead.rows[0].cells ?? [])].findIndex((cell) => cell.textContent.startsWith("NAV"));
        window.seen.add(table?.tBodies[0].rows[0]?.cells[at]?.textContent);
      };
      look();
      new MutationObserver(look).observe(document.querySelector("[data-testid=panel-funds]"), { subtree: true, childList: true, characterData: true });
    `);
    await expect
      .poll(
        async () => {
          const listed = (await lines("treasury", "funds", "list")).find((one) => one["fund_id"] === fund);
          const nav = Number(listed?.["nav"]);
          const seen = (await page.evaluate("[...window.seen]")) as readonly string[];
          return seen.some((text) => isSame(text, nav, 2));
        },
        { timeout: 120_000, interval: 500 },
      )
      .toBe(true);
    await expect
      .poll(
        async () => {
          const [listed, shown] = [
            await lines("oms", "positions", "list", "--fund-id", fund),
            await rowsOf(page, "positions"),
          ];
          return (
            listed.length === shown.length &&
            listed.every((one) =>
              shown.some(
                (row) => row["Symbol"] === one["symbol"] && plain(row["Quantity"]) === Number(one["quantity"]),
              ),
            )
          );
        },
        { timeout: 120_000, interval: 500 },
      )
      .toBe(true);
    // Of a minute that is over nothing moves any more.
    const listed = await lines("treasury", "navs", "list", "--fund-id", fund, "--hours", "1", "--every", "minute");
    const shown = await rowsOf(page, "nav");
    const minute = (text: unknown): string => String(text).replace("T", " ").slice(0, 16);
    const over = listed
      .slice(0, -2)
      .filter((one) => shown.some((row) => minute(row["At UTC"]) === minute(one["as_of"])));
    for (const one of over) {
      const row = shown.find((each) => minute(each["At UTC"]) === minute(one["as_of"]));
      expect(
        isSame(row?.["NAV"], one["nav"], 2),
        `${minute(one["as_of"])}: ${row?.["NAV"]} and ${String(one["nav"])}`,
      ).toBe(true);
    }
  });
});

async function lines(...words: readonly string[]): Promise<readonly Row[]> {
  const { exit, stdout, stderr } = await ctl.run(...words, "--json");
  expect(exit, stderr).toBe(0);
  const document = JSON.parse(stdout) as readonly Row[] | { readonly rows?: readonly Row[] };
  return Array.isArray(document) ? document : ((document as { readonly rows?: readonly Row[] }).rows ?? []);
}

describe("every figure", () => {
  test.each(desks)("of /%s says its source, formula, age and events", { timeout }, async (desk) => {
    const { page } = duty;
    await page.goto(`${base}/${desk}`);
    const panels = page.locator("[data-testid^=panel-]");
    await panels.first().waitFor();
    await expect
      .poll(() => page.locator("[data-testid^=panel-][data-state=loading]").count(), { timeout: 60_000 })
      .toBe(0);
    for (const panel of await panels.all()) {
      const name = String(await panel.getAttribute("data-testid"));
      await panel.getByTestId("explain").click();
      const explained = (await panel.locator(".explanation dt").allTextContents()).flatMap((text) => text.split(", "));
      const heads = await panel
        .locator("th.number button")
        .evaluateAll((found) =>
          found.map((one) => String((one as { firstChild?: { textContent?: string } }).firstChild?.textContent)),
        );
      for (const head of heads) expect(explained, `${name}: ${head}`).toContain(head);
      expect(explained, name).toContain("Source");
      // Nobody has asked for a verification yet.
      expect(await panel.locator(".explanation").textContent(), name).toMatch(
        name === "panel-verify" ? /not read yet; again every/ : /read at .*Z, \d+ (s|min) ago; again every/,
      );
    }
    const link = page.locator("[data-testid=panel-halts] .explanation a[href^='/ops']", { hasText: "halt" });
    if (desk !== "risk") return;
    await link.first().click();
    await duty.at("desk-ops").waitFor();
    expect(new URL(page.url()).search).toContain("q=halt.");
    await duty.at("panel-entries").waitFor();
  });
});
