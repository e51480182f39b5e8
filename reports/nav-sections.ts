// What the NAV report shows beside the common figures of returns: how they are spread over days, weeks and months, their rolling beta, and whether the live
// days lie within what the backtests predict.
import { quantile } from "../core/stats/quantiles.ts";
import { marketLine } from "../core/stats/relative-performance.ts";
import type { BookDay } from "./books/books.ts";
import type { Block, Cell } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import { dayNumber, weekdayOf } from "./metrics/dates.ts";
import { compounded } from "./metrics/linking.ts";
import { navBand } from "./metrics/nav.ts";
import { rollingWindow } from "./metrics/performance.ts";
import type { Returns } from "./performance-sections.ts";
import { columnsOf, lineChart, type Section, sectionOf, tableOf, textOf } from "./report-parts.ts";

const shares = [0.05, 0.25, 0.5, 0.75, 0.95] as const;

/** Weeks begin on Monday; the first and the last of each kind may be a part. */
export function quantileSection({ dates, returns }: Returns): Section {
  const weekOf = (day: string): string => String(dayNumber(day) - weekdayOf(dayNumber(day)));
  const kinds: readonly (readonly [string, readonly number[]])[] = [
    ["days", returns],
    ["weeks", grouped(dates, returns, weekOf)],
    ["months", grouped(dates, returns, (day) => day.slice(0, 7))],
  ];
  const rows = kinds.map(([name, values]): Cell[] => [
    name,
    values.length,
    ...shares.map((share) => quantile(values, share)),
  ]);
  const columns = [
    ...columnsOf("of:Of", "n:Number:count"),
    ...shares.map((share) => ({ id: `q${share * 100}`, title: `${share * 100} %`, kind: "fraction" as const })),
  ];
  return sectionOf(
    "quantiles",
    "Spread of returns",
    tableOf("return_quantiles", "Quantiles (type 7) of compounded returns", columns, rows),
  );
}

function grouped(
  dates: readonly string[],
  returns: readonly number[],
  keyOf: (day: string) => string,
): readonly number[] {
  const groups = new Map<string, number[]>();
  for (const [index, each] of returns.entries()) {
    const key = keyOf(dates[index] ?? "");
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].map(compounded);
}

/** Null-free only from the 63rd day on. */
export function rollingBeta({ dates, returns, benchmark }: Returns): readonly Block[] {
  if (benchmark === null || returns.length < rollingWindow) return [];
  const values = returns.map((_each, index) => {
    if (index + 1 < rollingWindow) return null;
    const [from, to] = [index + 1 - rollingWindow, index + 1];
    return marketLine(returns.slice(from, to), benchmark.returns.slice(from, to))?.beta ?? null;
  });
  return [
    lineChart("rolling_beta", `Beta to ${benchmark.symbol} of ${rollingWindow} days`, "ratio", dates, [
      { name: "beta", values },
    ]),
  ];
}

const backtestMin = 60;
const confidence = 0.99;

/** The 99 % band that the strategies' backtests, by their allocations, predict for the live days; flows are taken out. */
export function bandSection(facts: ReportFacts, days: readonly BookDay[], { dates, returns }: Returns): Section {
  const title = "Against the backtests";
  const none = (text: string): Section => sectionOf("band", title, textOf("band_none", text));
  const predicted = predictedReturns(facts);
  const began = [...facts.ledger].map(({ at }) => at).sort()[0];
  const live = days.filter(({ asOf }) => began !== undefined && asOf >= began).map(({ day }) => day);
  const chosen = dates.flatMap((day, index) => (live.includes(day) ? [{ day, return: returns[index] ?? 0 }] : []));
  if (predicted.length < backtestMin)
    return none(`There are ${predicted.length} days of backtests, and ${backtestMin} are needed for a band.`);
  if (chosen.length === 0)
    return none("No day of the period is live: the days before the log began are what the backtests were made of.");
  const units = [100];
  for (const each of chosen) units.push((units.at(-1) ?? 100) * (1 + each.return));
  const band = navBand(
    predicted.map((each) => Math.log1p(each)),
    units,
    100,
    confidence,
  );
  if (band === null) return none("The backtests never move.");
  const labels = chosen.map(({ day }) => day);
  const said =
    band.breaches.length === 0
      ? "No live day lies outside."
      : `Outside on ${band.breaches.map((at) => labels[at - 1]).join(", ")}.`;
  return sectionOf(
    "band",
    title,
    lineChart("band_chart", "Unit value of the live days, and the 99 % band of each day", "ratio", labels, [
      { name: "unit value", values: units.slice(1) },
      { name: "lower", values: band.lower },
      { name: "upper", values: band.upper },
    ]),
    textOf(
      "band_note",
      `${said} A band of single days: a healthy fund leaves it at least once in a year with a probability of 13 %.`,
    ),
  );
}

/** On days that every backtest has, each by the share of the fund that it is allotted. */
function predictedReturns({ backtests = [], strategies = [] }: ReportFacts): readonly number[] {
  const shareOf = new Map(strategies.map((each) => [each.strategy_id, each.allocation_pct]));
  const sums = new Map<string, { sum: number; count: number }>();
  for (const { strategy_id, days } of backtests) {
    for (const { day, return: earned } of days.slice(1)) {
      const found = sums.get(day) ?? { sum: 0, count: 0 };
      sums.set(day, { sum: found.sum + earned * (shareOf.get(strategy_id) ?? 0), count: found.count + 1 });
    }
  }
  return [...sums.values()].filter(({ count }) => count === backtests.length).map(({ sum }) => sum);
}
