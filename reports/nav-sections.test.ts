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

it("holds the benchmark over the fund's own days alone, also where it is quoted on the weekend before the first", () => {
  const [from, monday] = facts.navs.flatMap(({ day }, index) => {
    const next = facts.navs[index + 1]?.day ?? "";
    return new Date(day).getUTCDay() === 5 && new Date(next).getUTCDay() === 1 ? [[day, next] as const] : [];
  })[0] ?? ["", ""];
  const closes = (facts.benchmark?.closes ?? []).flatMap((each) => [
    each,
    ...(each.day === from ? [{ day: weekend(from), close: "1" }] : []),
  ]);
  const benchmark = { symbol: "SPY", closes };
  const document = navReport.build({
    facts: { ...facts, benchmark },
    factsSha256: "0".repeat(64),
    start: monday,
    end,
  });
  const close = (day: string): number => Number(closes.find((each) => each.day === day)?.close);
  const found = document.metrics.find(({ id }) => id === "benchmark_return");
  expect(found?.value).toBeCloseTo(close(end) / close(from) - 1, 12);
});

/** The Sunday after a Friday. */
const weekend = (friday: string): string => new Date(Date.parse(friday) + 2 * 86_400_000).toISOString().slice(0, 10);
