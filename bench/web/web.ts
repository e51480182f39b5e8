// How much JavaScript does a desk load, and how long does a person wait from a key press to what it paints, with 500 rows that move ten times a second? Beside the
// same rows standing still, in turns, in the same run, in a real browser; the server answers at once, so that its time is none of the desks'.
import { statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../testkit/chromium.ts";
import { pause } from "../../testkit/platform.ts";
import { desks } from "../../testkit/web/built-desks.ts";
import { positionsPath, startWebDeskServer, type WebDeskServer } from "../../testkit/web/desk-server.ts";
import type { Bench, BenchResult } from "../bench.ts";
import { median } from "../bus/contender.ts";
import { repository } from "../ctl-start.ts";

/** The promise, compressed. */
const firstLoadKbMax = 350;
const positions = 500;
const updatesPerSecond = 10;
/** Between two presses: nobody types faster. */
const everyMs = 120;

export const web: Bench = {
  name: "web",
  sentence: "How much JavaScript a desk loads, and how long a key press waits for its paint while 500 rows move.",
  run: (progress) => runWeb({ rounds: 4, presses: 60 }, progress),
};

interface Counts {
  readonly rounds: number;
  /** In each round, of each kind. */
  readonly presses: number;
}

export async function runWeb(counts: Counts, progress: (line: string) => void): Promise<BenchResult> {
  const root = repository();
  const { ensureBundle } = (await import(pathToFileURL(join(root, "scripts", "bundle.js")).href)) as {
    ensureBundle(name: string): Promise<string>;
  };
  await ensureBundle("web");
  const folder = join(root, "dist", "web");
  const server = await startWebDeskServer({ folder, positions });
  const browser = await launchChromium();
  try {
    const loads: Record<string, number> = {};
    for (const desk of desks) {
      loads[desk] = await loadedKb(browser, server, folder, desk);
      progress(`/${desk} loads ${loads[desk]} kB of JavaScript, compressed`);
    }
    return resultOf(loads, await presses(browser, server, counts, progress), counts);
  } finally {
    await browser.close();
    await server.close();
  }
}

/** In a browser that has nothing yet: every script that this desk asks for, as gzip packs it. */
async function loadedKb(browser: Browser, server: WebDeskServer, folder: string, desk: string): Promise<number> {
  server.asked();
  const context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  await page.goto(`${server.url}/${desk}`);
  await page.getByTestId(`desk-${desk}`).waitFor();
  await page.locator("[data-testid^=panel-]").first().waitFor();
  // What a panel loads later belongs to it.
  await pause(2_000);
  await context.close();
  const scripts = server.asked().filter((name) => name.endsWith(".js"));
  return round(scripts.reduce((sum, name) => sum + statSync(join(folder, `${name}.gz`)).size, 0) / 1_000);
}

interface Presses {
  readonly still: readonly number[];
  readonly moving: readonly number[];
  /** How often the table really changed, a second. */
  readonly readsPerSecond: number;
}

async function presses(
  browser: Browser,
  server: WebDeskServer,
  { rounds, presses: count }: Counts,
  progress: (line: string) => void,
): Promise<Presses> {
  const context = await browser.newContext({ locale: "en-US", viewport: { width: 1_280, height: 800 } });
  const page = await context.newPage();
  await page.goto(`${server.url}/funds`);
  await page.locator("[data-testid=panel-positions] tbody tr").first().waitFor();
  await page.evaluate(watchPresses);
  await page.locator("#filter").focus();
  let reads = 0;
  let movedMs = 0;
  let isMoving = false;
  page.on("response", (response) => {
    if (isMoving && new URL(response.url()).pathname === positionsPath) reads += 1;
  });
  const took = { still: [] as number[], moving: [] as number[] };
  await pressed(page, 20);
  for (let turn = 0; turn < rounds; turn += 1) {
    took.still.push(...(await pressed(page, count)));
    server.setUpdates(updatesPerSecond);
    await pause(1_000);
    const begun = performance.now();
    isMoving = true;
    took.moving.push(...(await pressed(page, count)));
    isMoving = false;
    movedMs += performance.now() - begun;
    server.setUpdates(0);
    await pause(1_000);
    progress(`round ${turn + 1} of ${rounds}`);
  }
  await context.close();
  return { ...took, readsPerSecond: round(reads / (movedMs / 1_000)) };
}

/** From the press, by the browser's own time, to the frame after it. */
const watchPresses = `
  window.tookMs = [];
  document.addEventListener("keydown", (event) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.tookMs.push(performance.now() - event.timeStamp);
      port2.postMessage(0);
    });
  }, true);
`;

/** Types into the filter and takes it away again: each press filters all rows. */
async function pressed(page: Page, count: number): Promise<readonly number[]> {
  await page.evaluate("window.tookMs.length = 0");
  for (let index = 0; index < count; index += 1) {
    await page.keyboard.press(index % 2 === 0 ? "s" : "Backspace");
    await pause(everyMs);
  }
  return (await page.evaluate("[...window.tookMs]")) as readonly number[];
}

function resultOf(
  loads: Readonly<Record<string, number>>,
  { still, moving, readsPerSecond }: Presses,
  counts: Counts,
): BenchResult {
  const figures = {
    js_gz_kb: loads,
    first_load_kb_max: firstLoadKbMax,
    rows: positions,
    updates_per_s: updatesPerSecond,
    table_reads_per_s: readsPerSecond,
    still_p50_ms: round(median(still)),
    still_p95_ms: round(quantile(still, 0.95)),
    moving_p50_ms: round(median(moving)),
    moving_p95_ms: round(quantile(moving, 0.95)),
    ratio_p50: round(median(moving) / median(still)),
    ...counts,
    node_version: process.version,
  };
  const table = [
    ...Object.entries(loads).map(([desk, kb]) => `/${desk.padEnd(8)} first load       ${kb} kB of JavaScript, gzip`),
    `key press to paint, still   p50 ${figures.still_p50_ms} ms, p95 ${figures.still_p95_ms} ms`,
    `the same, 10 updates a s    p50 ${figures.moving_p50_ms} ms, p95 ${figures.moving_p95_ms} ms (${figures.ratio_p50} times)`,
    `the table was read          ${readsPerSecond} times a second`,
  ].join("\n");
  const shortfalls = Object.entries(loads)
    .filter(([, kb]) => kb > firstLoadKbMax)
    .map(([desk, kb]) => `/${desk} loads ${kb} kB, more than ${firstLoadKbMax} kB`);
  return { figures, table, shortfalls };
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
