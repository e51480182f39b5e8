// The pages of every report as a reader's program sees them: stamps and page numbers on each, every row whole, every label of every chart as text.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pdfOf } from "../../compose/report-pdf.ts";
import { pdfPages } from "../../testkit/poppler.ts";
import { reportFactsOf } from "../../testkit/report-facts.ts";
import { factsHash, type ReportFacts } from "../facts.ts";
import { reports } from "../index.ts";
import type { Report } from "../shape.ts";
import { pdfContent } from "./pdf-pages.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-pdf-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function documentOf(report: Report, facts: ReportFacts) {
  const factsSha256 = factsHash(facts, (text) => createHash("sha256").update(text).digest());
  const [start, end] = [facts.navs[1]?.day ?? "", facts.navs.at(-1)?.day ?? ""];
  return report.build({ facts, factsSha256, start, end, strategyId: "alpha-momentum" });
}

async function pagesOf(document: ReturnType<typeof documentOf>): Promise<readonly string[]> {
  const path = join(folder, `${document.report}.pdf`);
  writeFileSync(path, await pdfOf(document));
  return pdfPages(path);
}

const words = (text: string): string => text.replace(/\s+/g, "");
const unescaped = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

describe.each(reports.map((report) => [report.name, report] as const))("%s", (_name, report) => {
  const facts = reportFactsOf({ days: 260, tradesEvery: 3, deposit: "50000", thesis: '<b>#let x = "a" =1+1' });
  it("has its stamps and its number on every page, and every label of every chart", async () => {
    const document = documentOf(report, facts);
    const pages = await pagesOf(document);
    for (const [index, page] of pages.entries()) {
      expect(page).toContain("PAPER");
      expect(page).toContain(`Page ${index + 1} of ${pages.length}`);
      expect(page).not.toContain("DOES NOT RECONCILE");
    }
    const whole = words(pages.join(""));
    const labels = Object.values(pdfContent(document).charts).flatMap((svg) =>
      [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map((match) => unescaped(match[1] ?? "")),
    );
    expect(labels.filter((label) => !whole.includes(words(label)))).toEqual([]);
  });
  it("is stamped on every page when a fill is missing", async () => {
    const pages = await pagesOf(documentOf(report, { ...facts, fills: facts.fills.slice(1) }));
    expect(pages.filter((page) => !page.includes("DOES NOT RECONCILE"))).toEqual([]);
  });
});
