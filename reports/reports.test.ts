// Whole documents from facts: that they tie, that a single changed figure is found, that a deposit is no return, and that nothing in them is markup.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import { type FactsOptions, reportFactsOf } from "../testkit/report-facts.ts";
import { definitions } from "./definitions.ts";
import { isReconciled, type Metric, type ReportDocument, reportDocument, reportDocumentSchema } from "./document.ts";
import { factsHash, factsText, type ReportFacts, reportFacts } from "./facts.ts";
import { reports } from "./index.ts";
import { modifiedDietz, moneyWeighted } from "./metrics/money-weighted.ts";
import { renderCsv } from "./render/csv.ts";
import { escaped } from "./render/escape.ts";
import { renderHtml } from "./render/html.ts";
import { renderJson } from "./render/json.ts";
import { metricNotes, percent, shownColumn, shownMetric } from "./render/numbers.ts";
import { chartSvg } from "./render/svg.ts";
import { windowOf } from "./windows.ts";

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest();

function made(name: string, facts: ReportFacts, include?: readonly string[]): ReportDocument {
  const report = reports.find((each) => each.name === name);
  const [first, last] = [facts.navs[1]?.day ?? "", facts.navs.at(-1)?.day ?? ""];
  if (report === undefined) throw new Error(name);
  const input = { facts, factsSha256: factsHash(facts, sha256), start: first, end: last, strategyId: "alpha-momentum" };
  return report.build(include === undefined ? input : { ...input, include });
}

const usual: FactsOptions = { days: 80, tradesEvery: 3, deposit: "50000" };
const names = reports.map(({ name }) => name);
const figureOf = (document: ReportDocument, id: string) => document.metrics.find((metric) => metric.id === id);

describe.each(names)("%s", (name) => {
  it("is valid against its schema, ties, and survives being stored", () => {
    const facts = reportFacts.parse(JSON.parse(factsText(reportFactsOf(usual))));
    const document = made(name, facts);
    expect(reportDocument.parse(JSON.parse(renderJson(document)))).toEqual(document);
    expect(document.reconciliation.map(({ name: line, difference }) => [line, difference])).toEqual(
      document.reconciliation.map(({ name: line }) => [line, "0"]),
    );
    expect(isReconciled(document)).toBe(true);
    expect(renderHtml(document)).not.toContain("DOES NOT");
  });

  it("names a day of its calendar that has no value", () => {
    const facts = reportFactsOf(usual);
    const gone = facts.navs.at(-20)?.day ?? "";
    const named = (of: ReportFacts) =>
      made(name, of).data_quality.filter(({ what }) => what === "Days without a value");
    expect(named(facts)).toEqual([]);
    const document = named({ ...facts, navs: facts.navs.filter(({ day }) => day !== gone) });
    expect(document).toMatchObject([{ detail: expect.stringContaining(`no value is kept: ${gone}.`) }]);
  });

  it("finds a fill that is missing and a value that is off by a cent, and stamps it", () => {
    const facts = reportFactsOf(usual);
    const [, second, ...rest] = facts.navs;
    if (second === undefined) throw new Error("no value");
    const off = { ...second, nav: decimal.format(decimal.add(decimal.parse(second.nav), decimal.parse("0.01"))) };
    const changed: readonly ReportFacts[] = [
      { ...facts, fills: facts.fills.slice(1) },
      { ...facts, fills: facts.fills.slice(0, -1) },
      { ...facts, navs: [facts.navs[0] ?? second, off, ...rest] },
      { ...facts, ledger: facts.ledger.slice(1) },
    ];
    for (const each of changed) {
      const document = made(name, each);
      expect(isReconciled(document)).toBe(false);
      expect(renderHtml(document)).toContain("DOES NOT RECONCILE");
    }
  });

  it("gives the same bytes for the same facts in every format", () => {
    const render = () => {
      const document = made(name, reportFactsOf(usual));
      return [renderHtml(document), renderJson(document), renderCsv(document)];
    };
    expect(render()).toEqual(render());
  });

  it.each([
    ["no trade", { days: 30, tradesEvery: 0 }],
    ["one trade", { days: 5, tradesEvery: 4 }],
    ["one day", { days: 1, tradesEvery: 0 }],
    ["no move at all", { days: 30, tradesEvery: 2, moves: 0 }],
    ["only losses", { days: 30, tradesEvery: 2, moves: 0, falls: 0.01 }],
  ] as const)("has an answer or a reason for everything: %s", (_what, options) => {
    const document = made(name, reportFactsOf(options));
    expect(isReconciled(document)).toBe(true);
    for (const metric of document.metrics) {
      expect(metric.value === null ? metric.reason : "a value", metric.id).not.toBeNull();
      expect(definitions, metric.id).toHaveProperty(metric.id);
    }
    reportDocument.parse(JSON.parse(renderJson(document)));
    expect(renderHtml(document)).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("refuses a period without a value", () => {
    const facts = reportFactsOf(usual);
    const report = reports.find((each) => each.name === name);
    const input = { facts, factsSha256: "", start: "2030-01-01", end: "2030-02-01", strategyId: "alpha-momentum" };
    expect(() => report?.build(input)).toThrow("has no value from 2030-01-01");
  });

  it("keeps the sections that were asked for, and refuses one that it does not have with the list", () => {
    const [first = "", second = ""] = reports.find((each) => each.name === name)?.sections ?? [];
    const document = made(name, reportFactsOf(usual), [second, first]);
    expect(document.sections.map(({ id }) => id)).toEqual([first, second]);
    expect(() => made(name, reportFactsOf(usual), ["nonesuch"])).toThrow("The sections are");
  });

  it("has every section that it names, each under its own name", () => {
    const report = reports.find((each) => each.name === name);
    expect(made(name, reportFactsOf(usual)).sections.map(({ id }) => id)).toEqual(report?.sections);
  });
});

describe.each(["nav_report", "trade_report"])("%s", (name) => {
  it("takes a deposit for no return", () => {
    const [without, withIt] = [{ days: 80, tradesEvery: 3 }, usual].map((each) => made(name, reportFactsOf(each)));
    if (without === undefined || withIt === undefined) throw new Error("no document");
    expect(figureOf(withIt, "twr")?.value).toBeCloseTo(Number(figureOf(without, "twr")?.value), 14);
    expect(figureOf(withIt, "max_drawdown")?.value).toBeCloseTo(Number(figureOf(without, "max_drawdown")?.value), 14);
  });

  it("never annualises the return of less than a year, and marks few observations", () => {
    const short = made(name, reportFactsOf({ days: 30, tradesEvery: 3 }));
    for (const id of ["cagr", "calmar", "alpha"]) {
      expect(figureOf(short, id), id).toMatchObject({ value: null, reason: "LESS_THAN_A_YEAR" });
    }
    expect(figureOf(short, "sharpe")).toMatchObject({
      reason: "LOW_CONFIDENCE",
      n: 30,
      periods_per_year: 252,
      rf_annual: 0.02,
    });
    expect(figureOf(short, "sharpe")?.interval).toHaveLength(2);
    expect(typeof figureOf(made(name, reportFactsOf({ days: 270, tradesEvery: 3 })), "cagr")?.value).toBe("number");
  });
});

describe("a fill that was booked a moment after the day was valued", () => {
  /** Bought two seconds before the value of the last day but one, which does not have it yet; the last day has. */
  function withLateFill(at: string): ReportFacts {
    const facts = reportFactsOf({ days: 12, tradesEvery: 0 });
    const [day, last] = facts.navs.slice(-2);
    if (day === undefined || last === undefined) throw new Error("no value");
    const price = (date: string) => facts.closes["AAA"]?.find((close) => close.day === date)?.close ?? "0";
    const filled = {
      fill_id: "late",
      order_id: "late",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAA",
      side: "BUY" as const,
      quantity: "10",
      price: "100",
      fee: "1",
      filled_at: `${day.day}T${at}Z`,
    };
    const value = decimal.multiply(decimal.parse("10"), decimal.parse(price(last.day)), "half-even");
    const cash = decimal.subtract(decimal.parse(last.cash), decimal.parse("1001"));
    const valued = {
      ...last,
      cash: decimal.format(cash),
      positions_value: decimal.format(value),
      nav: decimal.format(decimal.add(cash, value)),
      prices: { AAA: { quantity: "10", price: price(last.day), at: last.as_of } },
    };
    const postings = [
      { account: "cash", currency: "USD", amount: "-1001" },
      { account: "position:AAA", currency: "USD", amount: "1001" },
    ];
    const booked = { entry_id: "fill:late", kind: "FILL", at: filled.filled_at, symbol: "AAA", postings };
    return { ...facts, navs: [...facts.navs.slice(0, -1), valued], fills: [filled], ledger: [...facts.ledger, booked] };
  }

  it("counts from the next value on, and everything ties", () => {
    expect(isReconciled(made("nav_report", withLateFill("23:59:57")))).toBe(true);
  });
  it("is a difference when it happened longer before", () => {
    expect(isReconciled(made("nav_report", withLateFill("23:58:57")))).toBe(false);
  });
});

describe("a dividend that is due and paid later", () => {
  const facts = reportFactsOf(usual);
  const [ex, paid] = facts.navs.slice(-2);
  const more = (amount: string, by: string): string =>
    decimal.format(decimal.add(decimal.parse(amount), decimal.parse(by)));
  const entry = (id: string, kind: string, day: string | undefined, from: string, to: string) => ({
    entry_id: id,
    kind,
    at: `${day ?? ""}T13:30:00Z`,
    symbol: null,
    postings: [
      { account: from, currency: "USD", amount: "-26.26" },
      { account: to, currency: "USD", amount: "26.26" },
    ],
  });
  const due = entry("due", "DIVIDEND_DUE", ex?.day, "dividends", "dividends_due");
  const cash = entry("paid", "DIVIDEND", paid?.day, "dividends_due", "cash");
  /** It counts in the value and its cash from the ex-date on. */
  const navs = facts.navs.map((nav) =>
    nav === ex || nav === paid ? { ...nav, nav: more(nav.nav, "26.26"), cash: more(nav.cash, "26.26") } : nav,
  );

  it.each(names)("is income of its ex-date and none of its pay date: %s ties", (name) => {
    expect(isReconciled(made(name, { ...facts, navs, ledger: [...facts.ledger, due, cash] }))).toBe(true);
  });
  it("ties while it is not paid, and does not where it was not booked", () => {
    expect(isReconciled(made("nav_report", { ...facts, navs, ledger: [...facts.ledger, due] }))).toBe(true);
    expect(isReconciled(made("nav_report", { ...facts, navs }))).toBe(false);
  });
  it("is its position's where the ledger has the symbol", () => {
    const { symbol = "" } = facts.fills[0] ?? {};
    const document = made("position_attribution", {
      ...facts,
      navs,
      ledger: [...facts.ledger, { ...due, symbol }, cash],
    });
    const blocks = document.sections.flatMap(({ blocks }) => blocks);
    const table = blocks.find(({ id }) => id === "symbols");
    if (table?.kind !== "table") throw new Error("there is no table of symbols");
    expect(table.rows.map(([name, , , , income]) => [name, income])).toEqual([
      [symbol, "26.26"],
      ["BBB", "0"],
    ]);
    expect(isReconciled(document)).toBe(true);
  });
});

describe("what an accountant reads", () => {
  const cellsOf = (document: ReportDocument, id: string) => {
    const table = document.sections.flatMap(({ blocks }) => blocks).find((block) => block.id === id);
    if (table?.kind !== "table") throw new Error(id);
    return table.rows.map((row) => Object.fromEntries(table.columns.map((column, at) => [column.id, row[at]])));
  };
  const number = (value: unknown): number => Number(value);
  it("adds up from opening to closing by the formula that stands above it, fees as what they cost", () => {
    const rows = cellsOf(made("nav_report", reportFactsOf(usual)), "bridge_days");
    expect(rows.some(({ fees }) => number(fees) > 0)).toBe(true);
    for (const { opening, realised, unrealised, income, fees, flows, closing } of rows) {
      const sum = [opening, realised, unrealised, income, flows].map(number).reduce((left, right) => left + right, 0);
      expect(sum - number(fees)).toBeCloseTo(number(closing), 6);
    }
  });
  it("is to the cent also where it is a mean of few cents", () => {
    expect(shownColumn(["-2.074", null], "money")).toEqual(["-2.07", "–"]);
    const halfLife = {
      ...figureOf(made("trade_report", reportFactsOf(usual)), "holding_days_median"),
      value: 12.43616,
    };
    expect(shownMetric(halfLife as Metric)).toBe("12.44 days");
    const [row] = cellsOf(made("trade_report", reportFactsOf(usual)), "sides");
    expect(row?.["average_win"]).toMatch(/^\d+(\.\d{1,2})?$/);
  });
  it("has counts without places, and no coefficient that three places would hide", () => {
    expect(shownColumn([151, 2], "number")).toEqual(["151", "2"]);
    expect(shownColumn([2.855, -0.0000984, 1e-9, 0], "number")).toEqual(["2.85", "-0.000098", "0.00", "0.00"]);
  });
  it("stands in its column with as many places as its neighbours, a price to the cent and a moment to the second", () => {
    expect(shownColumn([0.09062, 0.3236, 1.0009, -0.0000038], "fraction")).toEqual([
      "9.06 %",
      "32.36 %",
      "100.09 %",
      "0.00 %",
    ]);
    expect(shownColumn([0.0000029, 0.0000021], "fraction")).toEqual(["0.00029 %", "0.00021 %"]);
    expect([percent(-0.04047), percent(0.000802), percent(0)]).toEqual(["-4.05 %", "0.080 %", "0.00 %"]);
    expect(shownColumn(["232.5", "118.5894", "428"], "price")).toEqual(["232.50", "118.5894", "428.00"]);
    expect(shownColumn(["2026-11-18T20:22:23.789451Z", "at 2026-11-18T20:22:23Z"], "text")).toEqual([
      "2026-11-18 20:22:23",
      "at 2026-11-18T20:22:23Z",
    ]);
  });
  it("says what it was made of: observations, periods of a year, riskless rate and last day", () => {
    const document = made("nav_report", { ...reportFactsOf(usual), rf_annual: "0.02" });
    const until = document.period.end;
    const sharpe = figureOf(document, "sharpe") as Metric;
    const said = `n = ${sharpe.n}, 252 periods a year, rf 2.00 %, to ${until}`;
    expect(metricNotes(sharpe)).toContain(said);
    expect(renderHtml(document)).toContain(said);
    expect(renderHtml(document)).toContain(` ${document.currency}</td>`);
  });
  it("has lines that are dated along their way, and a value without neighbours is seen", () => {
    const document = made("nav_report", reportFactsOf(usual));
    const chart = document.sections.flatMap(({ blocks }) => blocks).find(({ id }) => id === "equity");
    if (chart?.kind !== "chart") throw new Error("no chart");
    const labels = [0, 0.25, 0.5, 0.75, 1].map((share) => chart.labels[Math.round(share * (chart.labels.length - 1))]);
    for (const label of labels) expect(chartSvg(chart)).toContain(`>${label}</text>`);
    const alone = { ...chart, labels: ["a", "b", "c"], series: [{ name: "unit", values: [null, 100, null] }] };
    expect(chartSvg(alone)).toContain("<circle");
    const level = {
      ...chart,
      unit: "ratio" as const,
      labels: ["a", "b"],
      series: [{ name: "unit", values: [100, 102] }],
    };
    expect(chartSvg(level)).not.toContain(">0.0</text>");
  });
  it("is the same in the trade report's regimes and in the regime attribution of the same days", () => {
    const facts = reportFactsOf({ ...usual, days: 160 });
    const [trade, regime] = [made("trade_report", facts), made("regime_attribution", facts)];
    const daysOf = (document: ReportDocument, id: string) =>
      Object.fromEntries(
        cellsOf(document, id).map((row) => [row["regime"], [row["days"], number(row["contribution"]).toFixed(12)]]),
      );
    expect(daysOf(trade, "regime_table")).toEqual(daysOf(regime, "volatility_table"));
  });
  it("says of lots that all lost that there was no win, and defines nothing by one day or by days that never move", () => {
    const losses = made("trade_report", reportFactsOf({ days: 80, tradesEvery: 3, falls: 0.002, moves: 0 }));
    for (const id of ["average_win", "payoff", "largest_win"])
      expect(figureOf(losses, id)).toMatchObject({ value: null, reason: "NO_WIN" });
    const none = made("trade_report", reportFactsOf({ days: 20, tradesEvery: 0 }));
    expect(figureOf(none, "largest_win")).toMatchObject({ value: null, reason: "NO_DATA" });
    const still = { ...reportFactsOf({ days: 80, tradesEvery: 0, moves: 0 }), rf_annual: "0.02" };
    expect(figureOf(made("nav_report", still), "sortino")).toMatchObject({ value: null, reason: "CONSTANT" });
    const day = { ...reportFactsOf({ days: 1, tradesEvery: 0 }), rf_annual: "0.02" };
    expect(figureOf(made("nav_report", day), "sortino")).toMatchObject({ value: null, reason: "TOO_FEW" });
  });
  it("has no skill of a strategy of one name, whatever its backtest has", () => {
    const facts = reportFactsOf(usual);
    const withNames = (...names: string[]) => ({
      ...facts,
      backtests: (facts.backtests ?? []).map((each) => ({
        ...each,
        signals: each.days.flatMap(({ day }) => names.map((symbol) => ({ day, symbol, value: symbol.length }))),
      })),
    });
    const skill = (of: ReportFacts) => figureOf(made("alpha_decay", of), "ic_mean");
    expect(skill(withNames("SPY"))).toMatchObject({ value: null, reason: "TOO_FEW" });
    expect(skill(withNames("A", "BB", "CCC"))?.value).toEqual(expect.any(Number));
  });
  it("has one day as one day", () => {
    const [flows] = made("nav_report", reportFactsOf(usual)).data_quality.filter(({ what }) => what === "Flows");
    expect(flows?.detail).toBe("Money came or went on 1 day; it is no return.");
  });
  it("tells no two states apart in a market that is as volatile at all times", () => {
    const facts = reportFactsOf({ ...usual, days: 250 });
    const closes = facts.closes[facts.fills[0]?.symbol ?? ""] ?? [];
    let price = 100;
    const steady = closes.map(({ day }, at) => {
      price *= 1 + 0.01 * Math.sin(at * 12.9898) + 0.0001;
      return { day, close: price.toFixed(4) };
    });
    const document = made("regime_attribution", { ...facts, benchmark: { symbol: "SPY", closes: steady } });
    const section = document.sections.find(({ id }) => id === "hidden_states");
    expect(section?.blocks.map(({ id }) => id)).toEqual(["hidden_none"]);
  });
  it("labels a day as it could have been labelled then: what the market does later changes nothing", () => {
    const facts = reportFactsOf({ ...usual, days: 60 });
    const [first, changed, last] = [facts.navs[0]?.day, facts.navs.at(-10)?.day, facts.navs.at(-1)?.day].map((day) =>
      Date.parse(day ?? ""),
    );
    const count = ((last ?? 0) - (first ?? 0)) / 86_400_000 + 261;
    const turbulent = (lastMove: number): readonly (number | null)[] => {
      let price = 100;
      const closes = Array.from({ length: count }, (_, at) => {
        const moment = (first ?? 0) + (at - 260) * 86_400_000;
        const usualMove = (Math.floor(at / 25) % 2 === 0 ? 0.006 : 0.015) * Math.sin(at * 12.9898);
        price *= 1 + (moment >= (changed ?? 0) ? lastMove * (-1) ** at : usualMove);
        return { day: new Date(moment).toISOString().slice(0, 10), close: price.toFixed(6) };
      });
      const document = made("regime_attribution", { ...facts, benchmark: { symbol: "SPY", closes } });
      const blocks = document.sections.find(({ id }) => id === "hidden_states")?.blocks ?? [];
      const series = blocks.flatMap((block) =>
        block.kind === "chart" && block.id === "turbulent" ? block.series : [],
      );
      return series.flatMap(({ values }) => values);
    };
    const [calm, wild] = [turbulent(0.001), turbulent(0.05)];
    const untilThen = (values: readonly (number | null)[]) => values.slice(0, -9);
    expect(calm).not.toEqual(wild);
    expect(untilThen(calm).some((each) => each !== null && each > 0.5)).toBe(true);
    expect(untilThen(calm)).toEqual(untilThen(wild));
  });
});

describe("what is in a document", () => {
  it("is text, never markup and never a formula", () => {
    const thesis = '=HYPERLINK("x")<script>alert(1)</script>#text[\u0007\u202e';
    const document = made("trade_report", reportFactsOf({ ...usual, thesis }));
    const html = renderHtml(document);
    expect(html).not.toContain("<script");
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;#text[⟨U+0007⟩⟨U+202E⟩");
    const [, line] = renderCsv(document).split("\r\n");
    expect(line).toContain('"\'=HYPERLINK(""x"")');
    expect(line).toContain("#text[⟨U+0007⟩⟨U+202E⟩");
    expect(escaped("a&b'")).toBe("a&amp;b&#39;");
  });
  it("loads nothing and runs nothing", () => {
    const html = renderHtml(made("nav_report", reportFactsOf(usual)));
    expect(html).not.toMatch(/<script|<link|src=|url\(|https?:/);
    // Round numbers at the lines of a chart, all of them with the same digits.
    const [chart = ""] = html.match(/<svg.*?<\/svg>/) ?? [];
    const lines = [...chart.matchAll(/text-anchor="end">(-?[\d.]+) %</g)].map(([, text = ""]) => text);
    expect(lines.length).toBeGreaterThan(2);
    const steps = lines.slice(1).map((text, index) => Number((Number(text) - Number(lines[index])).toFixed(6)));
    expect(new Set(steps).size).toBe(1);
    expect(String(steps[0]).replace(/[0.]/g, "")).toMatch(/^[125]$/);
    expect(html.match(/<svg/g)?.length).toBe(html.match(/The figures of this chart/g)?.length);
    expect(html).toContain("PAPER");
  });
  it("has a lot for every round trip, and statistics that are theirs", () => {
    const document = made("trade_report", reportFactsOf({ days: 13, tradesEvery: 3 }));
    expect(renderCsv(document).trim().split("\r\n")).toHaveLength(1 + 4);
    expect(figureOf(document, "trades")?.value).toBe(4);
  });
});

describe("ten thousand trades", () => {
  it("are all in the document and tie", () => {
    const facts = reportFactsOf({ days: 250, tradesEvery: 1 });
    const many = facts.fills.flatMap((fill) =>
      Array.from({ length: 20 }, (_, index) => ({
        ...fill,
        fill_id: `${fill.fill_id}-${index}`,
        quantity: "5.025",
        fee: "0.0185",
      })),
    );
    const document = made("trade_report", { ...facts, fills: many });
    expect(many).toHaveLength(10_000);
    expect(isReconciled(document)).toBe(true);
    expect(renderCsv(document).split("\r\n").length).toBeGreaterThan(5_000);
  });
});

describe("the money-weighted return", () => {
  it("is the time-weighted one without flows, and finds the rate that was earned with them", () => {
    expect(moneyWeighted(100, 110, [], "2026-01-01", "2026-01-31")).toBeCloseTo(0.1, 10);
    // 100 for 30 days and 100 for 15 days at 1 % for 30 days.
    const closing = 100 * 1.01 + 100 * 1.01 ** 0.5;
    const flows = [{ day: "2026-01-16", amount: 100 }];
    expect(moneyWeighted(100, closing, flows, "2026-01-01", "2026-01-31")).toBeCloseTo(0.01, 10);
    expect(modifiedDietz(100, closing, flows, "2026-01-01", "2026-01-31")).toBeCloseTo(0.01, 4);
    expect(moneyWeighted(0, 10, [], "2026-01-01", "2026-01-31")).toBeNull();
    expect(moneyWeighted(1, 1, [], "2026-01-01", "2026-01-01")).toBeNull();
  });
});

describe("windows", () => {
  it.each([
    ["1d", "2026-08-18", "2026-08-18"],
    ["7d", "2026-08-12", "2026-08-18"],
    ["1y", "2025-08-19", "2026-08-18"],
    ["mtd", "2026-08-01", "2026-08-18"],
    ["qtd", "2026-07-01", "2026-08-18"],
    ["ytd", "2026-01-01", "2026-08-18"],
    ["itd", "2025-01-02", "2026-08-18"],
    ["2026-01-05..2026-02-06", "2026-01-05", "2026-02-06"],
  ])("%s is %s to %s", (text, start, end) => {
    expect(windowOf(text, "2025-01-02", "2026-08-18")).toEqual({ start, end });
  });
  it("refuses others in a sentence", () => {
    expect(() => windowOf("2w", "2025-01-02", "2026-08-18")).toThrow("Windows are 1d, 7d");
    expect(() => windowOf("2026-02-01..2026-01-01", "2025-01-02", "2026-08-18")).toThrow("ends before it begins");
  });
});

it("has a schema in JSON Schema", () => {
  expect(reportDocumentSchema()).toMatchObject({ title: "ReportDocument", type: "object" });
});
