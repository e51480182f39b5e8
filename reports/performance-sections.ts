// What reports show of a fund's returns: figures, curve, drawdowns, months, rolling figures and the benchmark, from the books of a period.
import * as decimal from "../contracts/src/decimal.ts";
import { levels } from "../core/stats/drawdowns.ts";
import { isConstant } from "../core/stats/moments.ts";
import type { BookDay } from "./books/books.ts";
import type { Block, Cell, Metric, MetricReason, ReportDocument } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import type { MetricMaker } from "./figures.ts";
import { marketAxis, returnsOn } from "./market-days.ts";
import { daysBetween } from "./metrics/dates.ts";
import { unitNav } from "./metrics/nav.ts";
import {
  type PerformanceTable,
  performanceTable,
  type RelativeTable,
  relativeTable,
  rollingWindow,
} from "./metrics/performance.ts";

export type Section = ReportDocument["sections"][number];

export interface Returns {
  readonly dates: readonly string[];
  readonly returns: readonly number[];
  readonly table: PerformanceTable;
  readonly benchmark: { readonly symbol: string; readonly returns: readonly number[] } | null;
  readonly relative: RelativeTable | null;
  /** Whether the period is long enough for yearly returns. */
  readonly isYear: boolean;
}

export function returnsOf(facts: ReportFacts, days: readonly BookDay[]): Returns {
  const [first] = days;
  const navs = first === undefined ? [] : [first.opening, ...days.map((day) => day.closing)].map(decimal.toNumber);
  const flows = [0, ...days.map((day) => decimal.toNumber(day.flows))];
  const all = unitNav(navs, flows).returns;
  // A day after a value of zero has no return.
  const kept = days.flatMap((day, index) => {
    const value = all[index];
    return value === undefined || !Number.isFinite(value) ? [] : [{ day: day.day, value }];
  });
  const dates = kept.map(({ day }) => day);
  const returns = kept.map(({ value }) => value);
  const { periods_per_year: periodsPerYear } = facts.fund;
  const input = { dates, returns, periodsPerYear, rfAnnual: Number(facts.rf_annual) };
  const benchmark = benchmarkReturns(facts, days, dates);
  const [from, to] = [dates[0], dates.at(-1)];
  return {
    dates,
    returns,
    table: performanceTable(input),
    benchmark,
    relative: benchmark === null ? null : relativeTable(input, benchmark.returns),
    isYear: from !== undefined && to !== undefined && daysBetween(from, to) >= 364,
  };
}

/** On exactly the fund's days, each from the day before it on which the fund was valued too; null where a close is missing. */
function benchmarkReturns(facts: ReportFacts, days: readonly BookDay[], dates: readonly string[]) {
  if (facts.benchmark === null || dates.length !== days.length || dates.length === 0) return null;
  const known = returnsOn(marketAxis(facts), facts.benchmark.closes);
  const returns = dates.flatMap((day) => known.get(day) ?? []);
  return returns.length === dates.length ? { symbol: facts.benchmark.symbol, returns } : null;
}

export function returnMetrics(
  make: MetricMaker,
  { table, relative, benchmark, isYear, returns }: Returns,
): readonly Metric[] {
  const { n } = table;
  const few: MetricReason = n < 2 ? "TOO_FEW" : "CONSTANT";
  const yearly = (value: number | null): number | null => (isYear ? value : null);
  const tied = (value: number | null | undefined) => value ?? null;
  const noBenchmark: MetricReason = benchmark === null ? "NO_BENCHMARK" : few;
  return [
    make("twr", table.totalReturn, n),
    make("cagr", yearly(table.cagr), n, "LESS_THAN_A_YEAR"),
    make("volatility", table.volatility, n, "TOO_FEW"),
    make("sharpe", table.sharpe, n, few, table.sharpeInterval),
    make("probabilistic_sharpe", table.probabilisticSharpe, n, few),
    // Of returns that never differ it would be the root of P, whatever they are.
    make("sortino", isConstant(returns) ? null : table.sortino, n, n < 2 || isConstant(returns) ? few : "NO_LOSS"),
    make("max_drawdown", table.maxDrawdown, n),
    make("calmar", yearly(table.calmar), n, isYear ? "NO_DRAWDOWN" : "LESS_THAN_A_YEAR"),
    make("ulcer_index", table.ulcerIndex, n),
    make("var_95", table.var95, n),
    make("cvar_95", table.shortfall95, n),
    make("skewness", table.skewness, n, n < 3 ? "TOO_FEW" : "CONSTANT"),
    make("excess_kurtosis", table.excessKurtosis, n, n < 4 ? "TOO_FEW" : "CONSTANT"),
    make("best_day", table.best, n),
    make("worst_day", table.worst, n),
    make("win_rate_days", table.winRate, n, n === 0 ? "NO_DATA" : "CONSTANT"),
    make("tail_ratio", table.tailRatio, n, n === 0 ? "NO_DATA" : "NOT_DEFINED"),
    make("beta", tied(relative?.beta), n, noBenchmark),
    make("alpha", yearly(tied(relative?.alphaAnnual)), n, benchmark === null ? "NO_BENCHMARK" : "LESS_THAN_A_YEAR"),
    make("correlation", tied(relative?.correlation), n, noBenchmark),
    make("tracking_error", tied(relative?.trackingError), n, noBenchmark),
    make("information_ratio", tied(relative?.informationRatio), n, noBenchmark),
    make(
      "benchmark_return",
      benchmark === null ? null : (levels(benchmark.returns).at(-1) ?? 1) - 1,
      returns.length,
      "NO_BENCHMARK",
    ),
  ];
}

export function equityCurve({ dates, returns, benchmark }: Returns): Section {
  const series = [{ name: "fund", values: levels(returns).map((level) => level - 1) }];
  if (benchmark !== null) {
    series.push({ name: benchmark.symbol, values: levels(benchmark.returns).map((level) => level - 1) });
  }
  return {
    id: "equity_curve",
    title: "Cumulative return",
    blocks: [
      {
        kind: "chart",
        id: "equity",
        title: "Cumulative return since the start of the period, flows taken out",
        form: "line",
        unit: "fraction",
        labels: [...dates],
        series: series.map(({ name, values }) => ({ name, values: [...values] })),
      },
    ],
  };
}

export function drawdownSection({ dates, table }: Returns): Section {
  const rows: Cell[][] = table.worstDrawdowns.map((each) => [
    each.peak ?? "start",
    each.valley,
    each.recovery,
    each.depth,
    each.periodsPeakToValley,
    each.periodsValleyToRecovery,
    each.periodsUnderwater,
  ]);
  return {
    id: "drawdowns",
    title: "Drawdowns",
    blocks: [
      {
        kind: "chart",
        id: "underwater",
        title: "Below the highest level so far",
        form: "line",
        unit: "fraction",
        labels: [...dates],
        series: [{ name: "drawdown", values: [...table.drawdowns] }],
      },
      {
        kind: "table",
        id: "worst_drawdowns",
        title: "The five deepest",
        main: false,
        columns: [
          { id: "peak", title: "Peak", kind: "text" },
          { id: "valley", title: "Valley", kind: "date" },
          { id: "recovery", title: "Recovery", kind: "date" },
          { id: "depth", title: "Depth", kind: "fraction" },
          { id: "to_valley", title: "Days to valley", kind: "count" },
          { id: "to_recovery", title: "Days to recovery", kind: "count" },
          { id: "underwater", title: "Days under water", kind: "count" },
        ],
        rows,
      },
    ],
  };
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const numberOf = (index: number): string => String(index + 1).padStart(2, "0");

export function monthlySection({ dates, table }: Returns): Section {
  const byMonth = new Map(table.monthly.map((each) => [each.period, each.return]));
  const rows: Cell[][] = table.yearly.map((year) => [
    year.period,
    ...months.map((_name, index) => byMonth.get(`${year.period}-${numberOf(index)}`) ?? null),
    year.return,
  ]);
  const [first, last] = [dates[0], dates.at(-1)];
  const blocks: Block[] = [
    {
      kind: "table",
      id: "monthly",
      title: "Compounded return by month",
      main: false,
      columns: [
        { id: "year", title: "Year", kind: "text" },
        ...months.map((title, index) => ({ id: `m${numberOf(index)}`, title, kind: "fraction" as const })),
        { id: "total", title: "Total", kind: "fraction" },
      ],
      rows,
    },
  ];
  if (first !== undefined && last !== undefined) {
    const said = `The first month has days from ${first} on, the last one days until ${last}: either may be a part of its month.`;
    blocks.push({ kind: "text", id: "monthly_note", text: said });
  }
  return { id: "monthly_returns", title: "Monthly returns", blocks };
}

export function rollingSection({ dates, table }: Returns): Section {
  const enough = table.rollingVolatility.some((each) => each !== null);
  const chart = (id: string, title: string, unit: "ratio" | "fraction", values: readonly (number | null)[]): Block => ({
    kind: "chart",
    id,
    title,
    form: "line",
    unit,
    labels: [...dates],
    series: [{ name: title, values: [...values] }],
  });
  const blocks: readonly Block[] = enough
    ? [
        chart(
          "rolling_sharpe",
          `Sharpe ratio of ${rollingWindow} days, without a riskless rate`,
          "ratio",
          table.rollingSharpe,
        ),
        chart(
          "rolling_volatility",
          `Volatility of ${rollingWindow} days, per year`,
          "fraction",
          table.rollingVolatility,
        ),
      ]
    : [{ kind: "text", id: "rolling_none", text: `There are fewer than ${rollingWindow} days.` }];
  return { id: "rolling", title: "Rolling figures", blocks: [...blocks] };
}
