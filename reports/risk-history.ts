// Whether the value at risk that could have been named the day before held: each day against the days before it, never against itself.
import { historicalVar } from "../core/stats/performance.ts";
import { booksOf } from "./books/books.ts";
import type { Cell } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import { type BaselZone, type VarBacktest, varBacktest } from "./metrics/value-at-risk.ts";
import { returnsOf } from "./performance-sections.ts";
import { columnsOf, lineChart, type Section, sectionOf, tableOf, textOf } from "./report-parts.ts";

const windowDays = 100;
const level = 0.99;

export interface RiskHistory {
  readonly dates: readonly string[];
  readonly returns: readonly number[];
  readonly limits: readonly number[];
  readonly days: number;
  /** Null while there are too few days: untested is not passed. */
  readonly backtest: VarBacktest | null;
  readonly windowDays: number;
}

export function riskHistory(facts: ReportFacts, end: string): RiskHistory {
  const first = facts.navs[0]?.day ?? end;
  const { dates, returns } = returnsOf(facts, booksOf(facts, first, end).days);
  const judged = returns.flatMap((each, index) => {
    if (index < windowDays) return [];
    const limit = historicalVar(returns.slice(index - windowDays, index), level);
    // A limit that is no number is no limit that held.
    return limit === null || !Number.isFinite(limit) ? [] : [{ day: dates[index] ?? "", return: each, limit }];
  });
  return {
    dates: judged.map(({ day }) => day),
    returns: judged.map((each) => each.return),
    limits: judged.map(({ limit }) => limit),
    days: judged.length,
    backtest: varBacktest(
      judged.map((each) => each.return < each.limit),
      level,
    ),
    windowDays,
  };
}

export function backtestSection(history: RiskHistory, zone: BaselZone | null): Section {
  const title = "Did past measures hold?";
  const { backtest, dates, returns, limits, days } = history;
  if (backtest === null) {
    return sectionOf(
      "backtest",
      title,
      textOf("backtest_none", `There are fewer than ${windowDays + 1} returns: not tested.`),
    );
  }
  const rows: Cell[][] = [
    ["days tested", days, null],
    ["days below the VaR of 99 %", backtest.exceptions, null],
    ["expected", Number(((1 - level) * days).toFixed(2)), null],
    ["Kupiec: as often as it should", backtest.kupiec, backtest.kupiecP],
    ["Christoffersen: independent of the day before", backtest.independence, backtest.independenceP],
    ["both", backtest.coverage, backtest.coverageP],
  ];
  return sectionOf(
    "backtest",
    title,
    tableOf(
      "var_backtest",
      `Each day against the historical VaR of the ${windowDays} days before it`,
      columnsOf("test:Test", "value:Value:number", "p:p:number"),
      rows,
    ),
    textOf(
      "basel_zone",
      zone === null
        ? "There is no Basel zone: too few days were tested."
        : `Basel zone: ${zone}. A VaR that is right stays green in 95 of 100 such rows of days and turns red in one of 10,000.`,
    ),
    lineChart("var_line", "Return of the day, and the VaR of the days before it", "fraction", dates, [
      { name: "return", values: returns },
      { name: "VaR 99 %", values: limits },
    ]),
  );
}
