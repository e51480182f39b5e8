// The band is that of the allotted backtests over live days alone; quantiles are of compounded weeks and months.
import { describe, expect, it } from "vitest";
import { reportFactsOf } from "../testkit/report-facts.ts";
import type { ReportDocument } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import { navReport } from "./nav-report.ts";

const facts = reportFactsOf({ days: 80, tradesEvery: 7, deposit: "50000" });
const end = facts.navs.at(-1)?.day ?? "";

const made = (given: ReportFacts): ReportDocument =>
  navReport.build({ facts: given, factsSha256: "0".repeat(64), start: given.navs[1]?.day ?? "", end });
const blockOf = (document: ReportDocument, id: string) =>
  document.sections.flatMap(({ blocks }) => blocks).find((block) => block.id === id);

describe("the band", () => {
  it("holds live days alone, with the deposit taken out", () => {
    const chart = blockOf(made(facts), "band_chart");
    if (chart?.kind !== "chart") throw new Error("no band");
    const [unit, lower, upper] = chart.series;
    expect(chart.labels).toEqual(facts.navs.slice(-2).map(({ day }) => day));
    for (const index of [0, 1]) {
      expect(lower?.values[index]).toBeLessThan(100);
      expect(upper?.values[index]).toBeGreaterThan(100);
      // A deposit of five per cent would stand far above.
      expect(Math.abs((unit?.values[index] ?? 0) - 100)).toBeLessThan(1);
    }
  });
  it("names the day that lies outside", () => {
    const calm = (facts.backtests ?? []).map((each) => ({
      ...each,
      days: each.days.map((day, index) => ({ ...day, return: index % 2 === 0 ? 1e-9 : -1e-9 })),
    }));
    expect(blockOf(made({ ...facts, backtests: calm }), "band_note")).toMatchObject({
      text: expect.stringContaining(`Outside on`),
    });
  });
  it("is none without backtests, and says why", () => {
    const { backtests: _backtests, ...without } = facts;
    expect(blockOf(made(without), "band_none")).toMatchObject({ text: expect.stringContaining("0 days of backtests") });
  });
});

it("has quantiles of days, weeks and months, and a rolling beta", () => {
  const table = blockOf(made(facts), "return_quantiles");
  if (table?.kind !== "table") throw new Error("no quantiles");
  // From Tuesday 2025-11-04: 80 weekdays are 17 weeks begun, in four months.
  expect(table.rows.map((row) => row.slice(0, 2))).toEqual([
    ["days", 80],
    ["weeks", 17],
    ["months", 4],
  ]);
  expect(blockOf(made(facts), "rolling_beta")).toMatchObject({ kind: "chart" });
});
