// position_attribution: what every position added to a fund, day by day, so that the days' sums are the change of NAV to the cent.
import * as decimal from "../contracts/src/decimal.ts";
import { type BookDay, booksOf } from "./books/books.ts";
import { tie, worstDay } from "./books/tie-out.ts";
import type { Cell, ReportDocument } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import { metricMaker } from "./figures.ts";
import { compareText } from "./metrics/dates.ts";
import { compounded } from "./metrics/linking.ts";
import { linkedContributions, type PositionProfit } from "./metrics/position-attribution.ts";
import { type AttributedDay, attributedDays, fundLine } from "./position-days.ts";
import {
  chosenSections,
  columnsOf,
  documentOf,
  figuresSection,
  lineChart,
  qualityOf,
  type Section,
  sectionOf,
  tableOf,
} from "./report-parts.ts";
import type { Report, ReportInput } from "./shape.ts";

type Decimal = decimal.Decimal;

const sections = [
  "summary",
  "by_symbol",
  "top_and_bottom",
  "by_sector",
  "long_short",
  "concentration",
  "days",
] as const;

const money = decimal.format;
const total = (amounts: readonly Decimal[]): Decimal => amounts.reduce(decimal.add, decimal.zero);

interface Group {
  readonly name: string;
  readonly profits: readonly PositionProfit[];
  readonly contribution: number | null;
}

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  const books = booksOf(facts, start, end);
  const days = attributedDays(facts, books.days);
  const make = metricMaker(facts, days.at(-1)?.day ?? null);
  const linked = linkedContributions(days);
  const returns = days.flatMap((day) => (day.return === null ? [] : [day.return]));
  const symbols = groupsOf(days, (symbol) => symbol, linked?.bySymbol ?? null);
  const sectorOf = sectorsOf(facts);
  const sectors = groupsOf(days, sectorOf, linked?.bySymbol ?? null);
  const all = days.flatMap((day) => day.positions);
  const n = days.length;
  const part = (name: "price" | "currency" | "trading" | "fees" | "income") => total(all.map((each) => each[name]));
  const metrics = [
    make("attributed_profit", total(days.map((day) => day.total)), n),
    make("price_effect", part("price"), n),
    make("trading_effect", part("trading"), n),
    make("fee_effect", part("fees"), n),
    make("income_effect", part("income"), n),
    make("twr", n === 0 || returns.length < n ? null : compounded(returns), n, "NOT_DEFINED"),
    make("linked_sum", linked?.sum ?? null, n, "NOT_DEFINED"),
    make("concentration", concentrationOf(books.days.at(-1)), n),
  ];
  const found: readonly Section[] = [
    figuresSection(metrics),
    sectionOf("by_symbol", "By symbol", groupTable("symbols", "What each position added", symbols, true)),
    extremes(symbols),
    sectionOf("by_sector", "By sector", groupTable("sectors", "Positions summed by their sector", sectors)),
    longShort(books.days, days),
    concentration(books.days.at(-1)),
    daySection(days),
  ];
  return documentOf(input, {
    report: "position_attribution",
    title: "Position attribution",
    metrics,
    sections: chosenSections(found, input.include, sections),
    reconciliation: [
      ...books.reconciliation,
      ...worstDay(
        "Sum over positions = closing NAV - opening NAV - flows",
        days.map(({ day, total: left, changed: right }) => ({ day, left, right })),
      ),
      tie("Sum over symbols = sum over days", total(symbols.flatMap(totals)), total(days.map((day) => day.changed))),
    ],
    exclusions: [],
    quality: qualityOf(facts, books.days),
  });
}

const totals = ({ profits }: Group): Decimal[] => profits.map((each) => each.total);

export function sectorsOf(facts: ReportFacts): (symbol: string) => string {
  const sectors = new Map(
    facts.instruments.map((each) => [each.symbol, each.sector ?? each.asset_class.toLowerCase()]),
  );
  return (symbol) => (symbol === fundLine ? fundLine : (sectors.get(symbol) ?? "unknown"));
}

function groupsOf(
  days: readonly AttributedDay[],
  nameOf: (symbol: string) => string,
  contributions: ReadonlyMap<string, number> | null,
): readonly Group[] {
  const groups = new Map<string, PositionProfit[]>();
  for (const profit of days.flatMap((day) => day.positions)) {
    const name = nameOf(profit.symbol);
    const group = groups.get(name) ?? [];
    group.push(profit);
    groups.set(name, group);
  }
  return [...groups]
    .sort(([one], [other]) => compareText(one, other))
    .map(([name, profits]) => {
      const symbols = [...new Set(profits.map(({ symbol }) => symbol))];
      const contribution =
        contributions === null ? null : symbols.reduce((sum, symbol) => sum + (contributions.get(symbol) ?? 0), 0);
      return { name, profits, contribution };
    });
}

function groupTable(id: string, title: string, groups: readonly Group[], main = false) {
  const rows = groups.map(({ name, profits, contribution }): Cell[] => [
    name,
    money(total(profits.map((each) => each.price))),
    money(total(profits.map((each) => each.trading))),
    money(total(profits.map((each) => each.fees))),
    money(total(profits.map((each) => each.income))),
    money(total(profits.map((each) => each.total))),
    contribution,
    profits.length,
  ]);
  const columns = columnsOf(
    "name:Name",
    "price:Price moves:money",
    "trading:Trading:money",
    "fees:Fees:money",
    "income:Income:money",
    "total:Total:money",
    "contribution:Contribution, linked:fraction",
    "days:Days:count",
  );
  return tableOf(id, title, columns, rows, main);
}

const extremesMax = 10;

function extremes(symbols: readonly Group[]): Section {
  const ranked = [...symbols].sort((one, other) => decimal.compare(total(totals(other)), total(totals(one))));
  const won = ranked.filter((group) => total(totals(group)) > 0n).slice(0, extremesMax);
  const lost = ranked
    .filter((group) => total(totals(group)) < 0n)
    .slice(-extremesMax)
    .reverse();
  return sectionOf(
    "top_and_bottom",
    "Best and worst",
    groupTable("best", "The ten that added most", won),
    groupTable("worst", "The ten that cost most", lost),
  );
}

/** By the sign of what was held at the open; what was flat then is of the side that was traded first. */
function longShort(books: readonly BookDay[], days: readonly AttributedDay[]): Section {
  const groups = new Map<string, PositionProfit[]>([
    ["long", []],
    ["short", []],
    ["fund", []],
  ]);
  for (const [index, day] of days.entries()) {
    const book = books[index];
    const held = new Map((book?.openLines ?? []).map((line) => [line.symbol, line.quantity]));
    for (const profit of day.positions) {
      const quantity = held.get(profit.symbol) ?? decimal.zero;
      const first = book?.fills.find(({ symbol }) => symbol === profit.symbol);
      const isLong =
        quantity === decimal.zero ? first?.side === "BUY" || first?.side === "BUY_TO_COVER" : quantity > 0n;
      const name = profit.symbol === fundLine ? "fund" : isLong ? "long" : "short";
      groups.get(name)?.push(profit);
    }
  }
  const rows = [...groups].map(([name, profits]): Group => ({ name, profits, contribution: null }));
  return sectionOf("long_short", "Long and short", groupTable("sides", "By the side that was held at the open", rows));
}

const weightsOf = (day: BookDay | undefined): readonly { readonly symbol: string; readonly weight: number }[] => {
  const nav = decimal.toNumber(day?.closing ?? decimal.zero);
  if (!(nav > 0)) return [];
  return (day?.lines ?? []).map(({ symbol, value }) => ({ symbol, weight: decimal.toNumber(value) / nav }));
};

/** Herfindahl's index of the shares of gross exposure; null without a position. */
function concentrationOf(day: BookDay | undefined): number | null {
  const weights = weightsOf(day).map(({ weight }) => Math.abs(weight));
  const gross = weights.reduce((sum, weight) => sum + weight, 0);
  return gross === 0 ? null : weights.reduce((sum, weight) => sum + (weight / gross) ** 2, 0);
}

function concentration(day: BookDay | undefined): Section {
  const rows = [...weightsOf(day)]
    .sort((one, other) => Math.abs(other.weight) - Math.abs(one.weight) || compareText(one.symbol, other.symbol))
    .map(({ symbol, weight }): Cell[] => [symbol, weight]);
  const columns = columnsOf("symbol:Symbol", "weight:Share of NAV:fraction");
  return sectionOf(
    "concentration",
    "Concentration",
    tableOf("weights", `Held on ${day?.day ?? "the last day"}`, columns, rows),
  );
}

function daySection(days: readonly AttributedDay[]): Section {
  const rows = days.map((day): Cell[] => [
    day.day,
    money(total(day.positions.map((each) => each.price))),
    money(total(day.positions.map((each) => each.trading))),
    money(total(day.positions.map((each) => each.fees))),
    money(total(day.positions.map((each) => each.income))),
    money(day.total),
    money(day.changed),
    money(decimal.subtract(day.total, day.changed)),
  ]);
  let sum = 0;
  const running = days.map((day) => {
    sum += decimal.toNumber(day.total);
    return sum;
  });
  const columns = columnsOf(
    "day:Day:date",
    "price:Price moves:money",
    "trading:Trading:money",
    "fees:Fees:money",
    "income:Income:money",
    "total:Sum:money",
    "changed:NAV changed by:money",
    "difference:Difference:money",
  );
  return sectionOf(
    "days",
    "Day by day",
    lineChart(
      "profit_sum",
      "Sum over positions since the start of the period",
      "money",
      days.map(({ day }) => day),
      [{ name: "profit", values: running }],
    ),
    tableOf("attributed_days", "Sum over positions = change of NAV less flows, every day", columns, rows),
  );
}

export const positionAttributionReport: Report = {
  name: "position_attribution",
  title: "Position attribution",
  sentence: "What every position added to a fund: each day's sum is the change of its NAV to the cent.",
  sections,
  needs: [],
  build,
};
