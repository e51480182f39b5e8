// Every report as a browser shows it, with the network off, in light and in dark: it asks for nothing, complains of nothing, and breaks no rule of WCAG 2.2 AA.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchChromium } from "../../testkit/chromium.ts";
import { pdfPages } from "../../testkit/poppler.ts";
import { reportFactsOf } from "../../testkit/report-facts.ts";
import { axeViolations } from "../../testkit/web/desk-browser.ts";
import { factsHash, type ReportFacts } from "../facts.ts";
import { reports } from "../index.ts";
import type { Report } from "../shape.ts";
import { renderHtml } from "./html.ts";

let folder = "";
let browser: Browser;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-html-"));
  browser = await launchChromium();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const thesis = '<script>alert(1)</script>#let x = "a" =1+1\u0007';

function written(report: Report, facts: ReportFacts): string {
  const factsSha256 = factsHash(facts, (text) => createHash("sha256").update(text).digest());
  const period = { start: facts.navs[1]?.day ?? "", end: facts.navs.at(-1)?.day ?? "" };
  const path = join(folder, `${report.name}.html`);
  writeFileSync(path, renderHtml(report.build({ facts, factsSha256, ...period, strategyId: "alpha-momentum" })));
  return pathToFileURL(path).href;
}

describe.each(reports.map((report) => [report.name, report] as const))("%s", (_name, report) => {
  it.each(["light", "dark"] as const)(
    "opens without a network, %s, whole and accessible",
    async (colorScheme) => {
      const url = written(report, reportFactsOf({ days: 80, tradesEvery: 3, deposit: "50000", thesis }));
      const context = await browser.newContext({ offline: true, colorScheme });
      try {
        const page = await context.newPage();
        const complaints: string[] = [];
        const asked: string[] = [];
        page.on("console", (message) => complaints.push(message.text()));
        page.on("pageerror", (error) => complaints.push(error.message));
        page.on("dialog", (dialog) => complaints.push(dialog.message()));
        page.on("request", (request) => asked.push(request.url()));
        await page.goto(url);
        expect(await axeViolations(page)).toEqual([]);
        expect(asked).toEqual([url]);
        expect(complaints).toEqual([]);
      } finally {
        await context.close();
      }
    },
    120_000,
  );
  it("is stamped and numbered on every page of paper, in the margins", async () => {
    const facts = reportFactsOf({ days: 260, tradesEvery: 3, deposit: "50000", thesis });
    const context = await browser.newContext({ offline: true });
    try {
      const page = await context.newPage();
      await page.goto(written(report, { ...facts, fills: facts.fills.slice(1) }));
      const path = join(folder, `${report.name}.pdf`);
      await page.pdf({ path, preferCSSPageSize: true });
      const pages = await pdfPages(path);
      expect(pages.length).toBeGreaterThan(1);
      for (const [index, text] of pages.entries()) {
        expect(text).toContain("PAPER");
        expect(text).toContain("DOES NOT RECONCILE");
        expect(text).toContain(`Page ${index + 1} of ${pages.length}`);
      }
      await page.emulateMedia({ media: "print" });
      const fixed = await page.evaluate(
        `[...document.querySelectorAll("*")].filter((each) => getComputedStyle(each).position === "fixed").length`,
      );
      expect(fixed).toBe(0);
    } finally {
      await context.close();
    }
  }, 120_000);
});
