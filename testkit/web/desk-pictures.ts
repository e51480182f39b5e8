// Pictures of the web desks: each is taken only when the page says that it is in the state of the picture's name. They land in a temporary folder that the run
// prints; with PORTCULLIS_PICTURES=renew those that docs/web.md shows are renewed, as small WebP.
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { pause } from "../platform.ts";
import { desks } from "./built-desks.ts";
import type { DeskPerson } from "./desk-browser.ts";

export const settled = /^((ready|empty|partial)(,|$))+$/;
export const waitMs = 120_000;
const widths = [390, 1_280, 1_920] as const;
const themes = ["dark", "light"] as const;
const heightOf = (width: number): number => (width === 390 ? 844 : 900);

/** All of them, or those that PORTCULLIS_PICTURES_OF names, with commas between. */
const named = process.env["PORTCULLIS_PICTURES_OF"]?.split(",");
export const picturedDesks = desks.filter((desk) => named?.includes(desk) ?? true);

const docs = join(import.meta.dirname, "..", "..", "docs");
const shown = new Set(
  [...readFileSync(join(docs, "web.md"), "utf8").matchAll(/\(pictures\/([\w-]+)\.webp\)/g)].map(
    ([, name = ""]) => name,
  ),
);
/** Of a picture in docs/web.md. */
const keptBytesMax = 110_000;

export interface Pictures {
  take(name: string, page: Page): Promise<void>;
  /** From the top to the end of the page. */
  takeWhole(name: string, page: Page): Promise<void>;
  /** In both themes and at every width, from the top of the page. */
  takeAll(state: string, page: Page, desk: string): Promise<void>;
  taken(): readonly string[];
}

export function picturesIn(folder: string): Pictures {
  const taken: string[] = [];
  const take = async (name: string, page: Page, isWhole = false): Promise<void> => {
    const path = join(folder, `${name}.png`);
    await page.screenshot({ path, fullPage: isWhole, animations: "disabled", caret: "hide", timeout: 60_000 });
    expect(statSync(path).size, name).toBeGreaterThan(10_000);
    if (isRenewed(name)) await renew(name, page, isWhole);
    taken.push(name);
  };
  return {
    take: (name, page) => take(name, page),
    takeWhole: (name, page) => take(name, page, true),
    async takeAll(state, page, desk) {
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme });
        for (const width of widths) {
          await page.setViewportSize({ width, height: heightOf(width) });
          // tidy: sleeps because nothing says that a chart is drawn at its new width.
          await pause(300);
          await take(`${desk}-${state}-${colorScheme}-${width}`, page);
        }
      }
    },
    taken: () => taken,
  };
}

/** Dialogs are taken above the first desk of all. */
function isRenewed(name: string): boolean {
  if (!shown.has(name) || process.env["PORTCULLIS_PICTURES"] !== "renew") return false;
  return named?.some((desk) => name.startsWith(`${desk}-`)) ?? true;
}

async function renew(name: string, page: Page, isWhole: boolean): Promise<void> {
  const session = await page.context().newCDPSession(page);
  // Of a whole page what one screen of a reader shows, smaller.
  const part = isWhole ? { clip: { x: 0, y: 0, width: 1_280, height: 1_800, scale: 0.6 } } : {};
  const { data } = await session.send("Page.captureScreenshot", {
    format: "webp",
    quality: 60,
    captureBeyondViewport: isWhole,
    ...part,
  });
  await session.detach();
  const bytes = Buffer.from(data, "base64");
  expect(bytes.length, name).toBeLessThan(keptBytesMax);
  mkdirSync(join(docs, "pictures"), { recursive: true });
  writeFileSync(join(docs, "pictures", `${name}.webp`), bytes);
}

/** Those that docs/web.md shows of these states are among what was taken. */
export function expectShownTaken(of: RegExp, taken: readonly string[]): void {
  const ofOthers = desks.filter((desk) => !picturedDesks.includes(desk)).map((desk) => `${desk}-`);
  const wanted = [...shown].filter((name) => of.test(name) && !ofOthers.some((prefix) => name.startsWith(prefix)));
  if (named === undefined) expect(wanted.length).toBeGreaterThan(3);
  expect(wanted.filter((name) => !taken.includes(name))).toEqual([]);
}

/** One tab for each desk: a silent server hands out no page. */
export async function openTabs(person: DeskPerson, base: string): Promise<ReadonlyMap<string, Page>> {
  const found = new Map<string, Page>();
  for (const desk of picturedDesks) {
    const page = found.size === 0 ? person.page : await person.page.context().newPage();
    await page.goto(`${base}/${desk}`, { timeout: waitMs });
    await page.getByTestId(`desk-${desk}`).waitFor({ timeout: waitMs });
    found.set(desk, page);
  }
  return found;
}

export const statesOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate("[...document.querySelectorAll('[data-testid^=panel-]')].map((one) => one.dataset.state)") as Promise<
    string[]
  >;

export const untilStates = (page: Page, wanted: RegExp): Promise<void> =>
  expect.poll(async () => (await statesOf(page)).join(), { timeout: waitMs }).toMatch(wanted);
