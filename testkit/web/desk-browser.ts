// A person at the web desks, in a real browser: logs in by the provider's own page, types into the danger dialog, and keeps what the browser complained of.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { TOTP } from "otpauth";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { type DevelopmentOperator, operatorUrl, personOf, type Who } from "../login.ts";
import type { RunningPlatform } from "../platform.ts";

export interface DeskPerson {
  readonly page: Page;
  readonly operator: DevelopmentOperator;
  /** What the console said, without what the browser itself logs of refused requests. */
  readonly complaints: readonly string[];
  /** Origins that were asked for anything. */
  readonly origins: ReadonlySet<string>;
  /** By data-testid. */
  at(name: string): ReturnType<Page["getByTestId"]>;
  /** A code that was not used before: waits for the next one when it has to. */
  code(): Promise<string>;
  close(): Promise<void>;
}

const stepMs = 30_000;

export async function openPerson(
  browser: Browser,
  platform: RunningPlatform,
  who: Who,
  {
    path = "/risk",
    base = operatorUrl(platform),
    ...look
  }: BrowserContextOptions & { readonly path?: string; readonly base?: string } = {},
): Promise<DeskPerson> {
  const operator = personOf(platform, who);
  const context = await browser.newContext({ locale: "en-US", ...look });
  const page = await context.newPage();
  // Where nobody built the desks before, the first start does.
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on("console", (message) => {
    if (!/Failed to load resource/.test(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  await page.goto(`${base}${path}`);
  await page.fill("input[name=name]", operator.name);
  await page.fill("input[name=password]", operator.password);
  await page.click("button[value=login]");
  await page.getByTestId("whoami").waitFor();
  return {
    page,
    operator,
    complaints,
    origins,
    at: (testId) => page.getByTestId(testId),
    code: () => freshCode(operator),
    close: () => context.close(),
  };
}

const usedCounters = new Map<string, number>();

async function freshCode({ name, totp_secret }: DevelopmentOperator): Promise<string> {
  const totp = new TOTP({ secret: totp_secret, period: stepMs / 1_000 });
  const used = usedCounters.get(name) ?? -1;
  let counter = totp.counter();
  if (counter <= used) {
    await new Promise((resolve) => setTimeout(resolve, (used + 1) * stepMs - Date.now() + 50));
    counter = totp.counter();
  }
  usedCounters.set(name, counter);
  return totp.generate();
}

export interface DangerTyped {
  readonly word?: string;
  readonly reason?: string;
  readonly code?: string;
}

/** Fills the open dialog in, confirms, and returns what the outcome says once the server proved it. */
export async function confirmDanger({ at, page }: DeskPerson, { word, reason, code }: DangerTyped): Promise<string> {
  for (const [field, text] of Object.entries({ word, reason, code })) {
    if (text !== undefined) await at(`danger-${field}`).fill(text);
  }
  await at("danger-confirm").click();
  await page.locator("[data-testid=danger-outcome][data-done=true]").waitFor({ timeout: 60_000 });
  return (await at("danger-outcome").textContent()) ?? "";
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Violations of WCAG 2.2 AA, as axe finds them: rule and place. Evaluated by the debugger, so the page's policy stays as it is. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const found: unknown = await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)} }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + " " + target.join(" "))))`,
  );
  return found as readonly string[];
}
