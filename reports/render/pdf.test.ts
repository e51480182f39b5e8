// A report on paper: the same bytes from the same facts, no row too many, and nothing in it that is markup.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type * as typst from "@myriaddreamin/typst-ts-node-compiler";
import { describe, expect, it } from "vitest";
import { pdfOf } from "../../compose/report-pdf.ts";
import { nextSecond } from "../../testkit/next-second.ts";
import { reportFactsOf } from "../../testkit/report-facts.ts";
import type { Chart, ReportDocument, Table } from "../document.ts";
import { factsHash } from "../facts.ts";
import { navReport } from "../nav-report.ts";
import { fairShare, pdfContent, pdfRowsMax } from "./pdf-pages.ts";
import { chartSvg, standaloneSvg } from "./svg.ts";

const hostile = '<b>#import "x" $x$ *b* =1+1 \u0007';

function documentOf(days = 30, thesis = "alpha-momentum"): ReportDocument {
  const facts = reportFactsOf({ days, tradesEvery: 3, deposit: "1000", thesis });
  const factsSha256 = factsHash(facts, (text) => createHash("sha256").update(text).digest());
  return navReport.build({ facts, factsSha256, start: facts.navs[1]?.day ?? "", end: facts.navs.at(-1)?.day ?? "" });
}

const tableOf = (rows: number): Table => ({
  kind: "table",
  id: "t",
  title: "T",
  main: true,
  columns: [{ id: "a", title: "A", kind: "text" }],
  rows: Array.from({ length: rows }, (_, index) => [`row ${index}`]),
});
const withTables = (...rows: readonly number[]): ReportDocument => ({
  ...documentOf(),
  sections: [{ id: "s", title: "S", blocks: rows.map(tableOf) }],
});
const bars: Chart = {
  kind: "chart",
  id: "c",
  title: "Parts",
  form: "bar",
  unit: "money",
  labels: ["market", "UNEXPLAINED"],
  series: [{ name: "P/L", values: [-5, 2] }],
};

describe("a PDF", () => {
  it("has the same bytes a second later, and other bytes for other facts", async () => {
    const first = await pdfOf(documentOf());
    expect(Buffer.from(first).subarray(0, 5).toString()).toBe("%PDF-");
    // The compiler has a clock of its own, which moves once a second.
    await nextSecond();
    expect(Buffer.compare(await pdfOf(documentOf()), first)).toBe(0);
    expect(Buffer.compare(await pdfOf(documentOf(31)), first)).not.toBe(0);
  });
  it("is set from texts that would be code in the template's language", async () => {
    const document = documentOf();
    const section = { id: "x", title: hostile, blocks: [{ kind: "text" as const, id: "x", text: hostile }] };
    const { pages } = pdfContent({ ...document, title: hostile, sections: [section] });
    expect(pages.title).toBe('<b>#import "x" $x$ *b* =1+1 ⟨U+0007⟩');
    await expect(pdfOf({ ...document, title: hostile, sections: [section] })).resolves.toBeInstanceOf(Uint8Array);
  });
  it("takes no more rows than it may, shares them, and counts the rest", () => {
    const { pages } = pdfContent(withTables(3, 5_000, 5_000));
    const tables = pages.sections[0]?.blocks.flatMap((block) => (block.kind === "table" ? [block] : [])) ?? [];
    expect(tables.map(({ rows }) => rows.length)).toEqual([3, 498, 498]);
    expect(tables.map(({ more }) => more)).toEqual([
      "",
      "4502 more rows are in the CSV and the JSON of this report.",
      "4502 more rows are in the CSV and the JSON of this report.",
    ]);
    expect(fairShare([])).toBe(pdfRowsMax);
    expect(fairShare([1_000])).toBe(1_000);
  });
  it("lets a word without an end break, that would run over the page", () => {
    const document = documentOf();
    const word = "8Z0GQEB0WHTGPvntj9UlSim5WHG_476tpHpuA38b";
    const { pages } = pdfContent({ ...document, parameters: { key: word, day: "2026-11-18 to 2026-12-01" } });
    const [table] = pages.sections.at(-1)?.blocks ?? [];
    if (table?.kind !== "table") throw new Error("no parameters");
    expect(table.rows[0]?.[1]).toBe("8Z0GQEB0WHTGPvntj9UlSim5\u200bWHG_476tpHpuA38b");
    expect(table.rows[1]?.[1]).toBe("2026-11-18 to 2026-12-01");
  });
  it("says that it does not reconcile", () => {
    const document = documentOf();
    const line = { name: "NAV", left: "1", right: "2", difference: "-1" };
    const { pages } = pdfContent({ ...document, reconciliation: [line] });
    expect(pages.stamps).toEqual({ paper: true, broken: true });
    expect(pdfContent(document).pages.stamps).toEqual({ paper: true, broken: false });
  });
});

describe("its template", () => {
  it("reads what is handed in and no file", () => {
    const load = createRequire(import.meta.url);
    const { NodeCompiler }: typeof typst = load("@myriaddreamin/typst-ts-node-compiler");
    const compiled = NodeCompiler.create({ workspace: "/portcullis-report" }).compile({
      mainFileContent: '#read("/etc/passwd")',
    });
    expect(readFileSync("/etc/passwd").length).toBeGreaterThan(0);
    expect(compiled.result).toBeNull();
  });
});

describe("charts", () => {
  it("draw a bar for each value, from zero, with its label", () => {
    const svg = chartSvg(bars);
    expect(svg.match(/<rect /g)).toHaveLength(2);
    for (const label of bars.labels) expect(svg).toContain(`>${label}</text>`);
  });
  it("bring colours and type face along where they stand alone, and are the same otherwise", () => {
    const alone = standaloneSvg(bars);
    expect(alone).toMatch(
      /^<svg xmlns="[^"]+" viewBox="[^"]+" role="img" aria-label="[^"]+"><style>text\{font-family:Inter/,
    );
    expect(alone.replace(/ xmlns="[^"]+"/, "").replace(/<style>.*<\/style>/, "")).toBe(chartSvg(bars));
    expect(standaloneSvg({ ...bars, series: [] })).toBe("");
  });
});
