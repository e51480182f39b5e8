// nav_report: what a fund was worth, day by day, and that every step from one value to the next is accounted for.
import * as decimal from "../contracts/src/decimal.ts";
import { millisecondsBetween, parse } from "../contracts/src/instant.ts";
import { type BookDay, type Books, booksOf } from "./books/books.ts";
import type { Cell, ReportDocument } from "./document.ts";
import { metricMaker } from "./figures.ts";
import { modifiedDietz, moneyWeighted } from "./metrics/money-weighted.ts";
import { bandSection, quantileSection, rollingBeta } from "./nav-sections.ts";
import {
  drawdownSection,
  equityCurve,
  monthlySection,
  type Returns,
  returnMetrics,
  returnsOf,
  rollingSection,
  type Section,
} from "./performance-sections.ts";
import { chosenSections, documentOf, qualityOf } from "./report-parts.ts";
import type { Report, ReportInput } from "./shape.ts";

const sections = [
  "summary",
  "equity_curve",
  "drawdowns",
  "monthly_returns",
  "quantiles",
  "rolling",
  "band",
  "holdings",
  "bridge",
] as const;

const money = decimal.format;

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  const books = booksOf(facts, start, end);
  const returns = returnsOf(facts, books.days);
  const make = metricMaker(facts, books.days.at(-1)?.day ?? null);
  const n = books.days.length;
  const total = (part: (day: BookDay) => decimal.Decimal) => books.days.map(part).reduce(decimal.add, decimal.zero);
  const [first, last] = [books.days[0], books.days.at(-1)];
  const flows = books.days
    .filter((day) => day.flows !== decimal.zero)
    .map((day) => ({ day: day.day, amount: decimal.toNumber(day.flows) }));
  const opening = first?.opening ?? null;
  const closing = last?.closing ?? null;
  const weighted = (figure: typeof moneyWeighted) =>
    opening === null || closing === null
      ? null
      : figure(decimal.toNumber(opening), decimal.toNumber(closing), flows, openedOn(input, first), last?.day ?? end);
  const metrics = [
    make("opening_nav", opening, n),
    make("closing_nav", closing, n),
    make(
      "profit",
      opening === null || closing === null
        ? null
        : decimal.subtract(
            decimal.subtract(closing, opening),
            total((day) => day.flows),
          ),
      n,
    ),
    make(
      "net_flows",
      total((day) => day.flows),
      n,
    ),
    make(
      "fees",
      total((day) => day.fees),
      n,
    ),
    make("mwr", weighted(moneyWeighted), n, "NOT_DEFINED"),
    make("modified_dietz", weighted(modifiedDietz), n, "NOT_DEFINED"),
    ...returnMetrics(make, returns),
  ];
  const all: readonly Section[] = [
    summary(metrics.map(({ id }) => id)),
    ...curves(returns),
    bandSection(facts, books.days, returns),
    holdings(last),
    // A line for every day: what is read at a glance stands before it.
    bridge(books),
  ];
  return documentOf(input, {
    report: "nav_report",
    title: "NAV report",
    metrics,
    sections: chosenSections(all, input.include, sections),
    reconciliation: books.reconciliation,
    exclusions: [],
    quality: qualityOf(facts, books.days),
  });
}

/** The day of the value that the period opens with. */
function openedOn({ facts, start }: ReportInput, first: BookDay | undefined): string {
  return facts.navs.filter(({ day }) => day < (first?.day ?? start)).at(-1)?.day ?? start;
}

const summary = (ids: readonly string[]): Section => ({
  id: "summary",
  title: "Summary",
  blocks: [{ kind: "metrics", id: "figures", title: "Figures", ids: [...ids] }],
});

const curves = (returns: Returns): readonly Section[] => [
  equityCurve(returns),
  drawdownSection(returns),
  monthlySection(returns),
  quantileSection(returns),
  withBeta(rollingSection(returns), returns),
];

const withBeta = (section: Section, returns: Returns): Section => ({
  ...section,
  blocks: [...section.blocks, ...rollingBeta(returns)],
});

function bridge({ days }: Books): Section {
  const rows: Cell[][] = days.map((day) => [
    day.day,
    money(day.opening),
    money(day.realised),
    money(day.unrealised),
    money(day.income),
    money(day.fees),
    money(day.flows),
    money(day.closing),
    money(day.difference),
  ]);
  const column = (id: string, title: string) => ({ id, title, kind: "money" as const });
  return {
    id: "bridge",
    title: "From one value to the next",
    blocks: [
      {
        kind: "table",
        id: "bridge_days",
        title: "opening + realised + unrealised + income - fees + flows = closing, every day",
        main: true,
        columns: [
          { id: "day", title: "Day", kind: "date" },
          column("opening", "Opening"),
          column("realised", "Realised"),
          column("unrealised", "Unrealised"),
          column("income", "Income"),
          column("fees", "Fees"),
          column("flows", "Flows"),
          column("closing", "Closing"),
          column("difference", "Difference"),
        ],
        rows,
      },
    ],
  };
}

function holdings(last: BookDay | undefined): Section {
  const nav = last?.closing ?? decimal.zero;
  const shareOf = (amount: decimal.Decimal): number | null =>
    nav === decimal.zero ? null : decimal.toNumber(amount) / decimal.toNumber(nav);
  const sum = (name: string, amount: decimal.Decimal): Cell[] => {
    const [quantity, price, pricedAt, age, source] = [null, null, null, null, null];
    return [name, quantity, price, pricedAt, age, source, money(amount), shareOf(amount)];
  };
  const lines: Cell[][] = (last?.lines ?? []).map((line) => [
    line.symbol,
    money(line.quantity),
    line.price === null ? null : money(line.price),
    line.pricedAt,
    ageSeconds(line.source, line.pricedAt, last?.asOf ?? ""),
    line.source,
    money(line.value),
    shareOf(line.value),
  ]);
  const rows = [...lines, ...(last === undefined ? [] : [sum("Cash", last.cash), sum("NAV", last.closing)])];
  return {
    id: "holdings",
    title: `What was held on ${last?.day ?? "the last day"}`,
    blocks: [
      {
        kind: "table",
        id: "holding_lines",
        title: "Every line with its price and that price's age, and the cash beside them",
        main: false,
        columns: [
          { id: "symbol", title: "Symbol", kind: "text" },
          { id: "quantity", title: "Quantity", kind: "quantity" },
          { id: "price", title: "Price", kind: "price" },
          { id: "priced_at", title: "Priced at", kind: "text" },
          { id: "age_s", title: "Age, s", kind: "number" },
          { id: "source", title: "Source", kind: "text" },
          { id: "value", title: "Value", kind: "money" },
          { id: "share", title: "Share of NAV", kind: "fraction" },
        ],
        rows,
      },
    ],
  };
}

function ageSeconds(source: string, pricedAt: string, asOf: string): number | null {
  return source === "valuation" ? millisecondsBetween(parse(pricedAt), parse(asOf)) / 1_000 : null;
}

export const navReport: Report = {
  name: "nav_report",
  title: "NAV report",
  sentence: "What a fund was worth day by day, with every step from one value to the next accounted for.",
  sections,
  needs: ["strategies", "backtests"],
  build,
};
