// trade_report: what a fund's trades earned, lot by lot. Statistics of trades come from lots, never from daily returns.
import * as decimal from "../contracts/src/decimal.ts";
import { median } from "../core/stats/quantiles.ts";
import { type Books, booksOf, type TradedLot } from "./books/books.ts";
import { tie } from "./books/tie-out.ts";
import type { Cell, Metric, ReconciliationLine, ReportDocument, Table } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import { type MetricMaker, metricMaker } from "./figures.ts";
import { compareText } from "./metrics/dates.ts";
import { type TradeStatistics, total, tradeStatistics } from "./metrics/lots.ts";
import { regimeAttribution } from "./metrics/regimes.ts";
import {
  drawdownSection,
  equityCurve,
  monthlySection,
  type Returns,
  returnMetrics,
  returnsOf,
  type Section,
} from "./performance-sections.ts";
import { labelNames, volatilityLabels, volatilityWindow } from "./regime-labels.ts";
import { chosenSections, documentOf, qualityOf } from "./report-parts.ts";
import type { Report, ReportInput } from "./shape.ts";

const sections = [
  "summary",
  "equity_curve",
  "drawdowns",
  "monthly_returns",
  "trade_table",
  "by_symbol",
  "by_strategy",
  "holding_times",
  "excursions",
  "costs",
  "regime_attribution",
] as const;

const money = decimal.format;
const moneyOrNull = (value: decimal.Decimal | null): Cell => (value === null ? null : money(value));

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  const books = booksOf(facts, start, end);
  const returns = returnsOf(facts, books.days);
  const make = metricMaker(facts, books.days.at(-1)?.day ?? null);
  const inside = new Set(books.periodFills.map((fill) => fill.filled_at));
  const lots = books.closed.filter((lot) => inside.has(lot.closedAt));
  const metrics = [...tradeMetrics(make, lots, books), ...returnMetrics(make, returns)];
  const all: readonly Section[] = [
    summary(metrics, lots),
    equityCurve(returns),
    drawdownSection(returns),
    monthlySection(returns),
    tradeTable(lots),
    grouped("by_symbol", "By symbol", lots, (lot) => lot.symbol),
    grouped("by_strategy", "By strategy", lots, (lot) => lot.strategyId),
    holdingTimes(lots),
    excursions(facts, lots),
    costs(books),
    regimes(input, returns),
  ];
  return documentOf(input, {
    report: "trade_report",
    title: "Trade report",
    metrics,
    sections: chosenSections(all, input.include, sections),
    reconciliation: [...books.reconciliation, ...lotLines(lots, books)],
    exclusions: exclusionsOf(books),
    quality: qualityOf(facts, books.days),
  });
}

function tradeMetrics(make: MetricMaker, lots: readonly TradedLot[], books: Books): readonly Metric[] {
  const found = tradeStatistics(lots);
  const { n } = found;
  const average = (value: number | null) => value;
  const noLoss = n === 0 ? ("NO_DATA" as const) : ("NO_LOSS" as const);
  const noWin = n === 0 ? ("NO_DATA" as const) : ("NO_WIN" as const);
  const navs = books.days.map((day) => decimal.toNumber(day.closing));
  const meanNav = navs.length === 0 ? 0 : navs.reduce((sum, each) => sum + each, 0) / navs.length;
  const traded = books.periodFills.reduce((sum, fill) => sum + Math.abs(Number(fill.quantity) * Number(fill.price)), 0);
  return [
    make("trades", n, n),
    make("realised_net", found.net, n),
    make("trade_win_rate", found.winRate, n),
    make("profit_factor", found.profitFactor, n, noLoss),
    make("expectancy", cents(average(found.expectancy)), n),
    make("average_win", cents(average(found.averageWin)), n, noWin),
    make("average_loss", cents(average(found.averageLoss)), n, noLoss),
    make("payoff", found.payoff, n, found.averageLoss === null ? noLoss : noWin),
    make("largest_win", found.best !== null && found.best > 0n ? found.best : null, n, noWin),
    make("largest_loss", found.worst !== null && found.worst < 0n ? found.worst : null, n, noLoss),
    make(
      "longest_win_streak",
      streak(lots, (net) => net > 0n),
      n,
    ),
    make(
      "longest_loss_streak",
      streak(lots, (net) => net < 0n),
      n,
    ),
    make("holding_days_median", median(lots.map((lot) => lot.holdingDays)), n),
    make("turnover", meanNav > 0 ? traded / meanNav : null, books.periodFills.length),
  ];
}

/** A mean of money, to the cent. */
const cents = (value: number | null): decimal.Decimal | null =>
  value === null ? null : decimal.parse(value.toFixed(2));

function streak(lots: readonly TradedLot[], counts: (net: decimal.Decimal) => boolean): number {
  let [longest, run] = [0, 0];
  for (const { net } of lots) {
    run = counts(net) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

const statisticsColumns: Table["columns"] = [
  { id: "lots", title: "Lots", kind: "count" },
  { id: "net", title: "Net", kind: "money" },
  { id: "win_rate", title: "Winning", kind: "fraction" },
  { id: "profit_factor", title: "Profit factor", kind: "number" },
  { id: "average_win", title: "Average win", kind: "money" },
  { id: "average_loss", title: "Average loss", kind: "money" },
  { id: "best", title: "Best", kind: "money" },
  { id: "worst", title: "Worst", kind: "money" },
];

const statisticsCells = (found: TradeStatistics): Cell[] => [
  found.n,
  money(found.net),
  found.winRate,
  found.profitFactor,
  moneyOrNull(cents(found.averageWin)),
  moneyOrNull(cents(found.averageLoss)),
  moneyOrNull(found.best),
  moneyOrNull(found.worst),
];

function table(id: string, title: string, columns: Table["columns"], rows: Cell[][], main = false): Table {
  return { kind: "table", id, title, main, columns, rows };
}

function summary(metrics: readonly Metric[], lots: readonly TradedLot[]): Section {
  const rows = (["all", "LONG", "SHORT"] as const).map((side): Cell[] => [
    side.toLowerCase(),
    ...statisticsCells(tradeStatistics(side === "all" ? lots : lots.filter((lot) => lot.direction === side))),
  ]);
  const columns: Table["columns"] = [{ id: "side", title: "Side", kind: "text" }, ...statisticsColumns];
  return {
    id: "summary",
    title: "Summary",
    blocks: [
      { kind: "metrics", id: "figures", title: "Figures", ids: metrics.map(({ id }) => id) },
      table("sides", "Long and short", columns, rows),
    ],
  };
}

function tradeTable(lots: readonly TradedLot[]): Section {
  const rows = lots.map((lot): Cell[] => [
    lot.symbol,
    lot.strategyId,
    lot.direction.toLowerCase(),
    lot.openedAt,
    lot.closedAt,
    money(lot.quantity),
    money(lot.openPrice),
    money(lot.closePrice),
    money(lot.gross),
    money(lot.fees),
    money(lot.net),
    lot.holdingDays,
    lot.term === "LONG_TERM" ? "long" : "short",
  ]);
  const columns: Table["columns"] = [
    { id: "symbol", title: "Symbol", kind: "text" },
    { id: "strategy_id", title: "Strategy", kind: "text" },
    { id: "direction", title: "Side", kind: "text" },
    { id: "opened_at", title: "Opened", kind: "text" },
    { id: "closed_at", title: "Closed", kind: "text" },
    { id: "quantity", title: "Quantity", kind: "quantity" },
    { id: "open_price", title: "Open price", kind: "price" },
    { id: "close_price", title: "Close price", kind: "price" },
    { id: "gross", title: "Gross", kind: "money" },
    { id: "fees", title: "Fees", kind: "money" },
    { id: "net", title: "Net", kind: "money" },
    { id: "holding_days", title: "Days", kind: "count" },
    { id: "term", title: "Term", kind: "text" },
  ];
  return {
    id: "trade_table",
    title: "Closed lots",
    blocks: [table("lots", "Every lot, first in first out", columns, rows, true)],
  };
}

function groupsOf(lots: readonly TradedLot[], key: (lot: TradedLot) => string): readonly [string, TradedLot[]][] {
  const groups = new Map<string, TradedLot[]>();
  for (const lot of lots) {
    const group = groups.get(key(lot)) ?? [];
    group.push(lot);
    groups.set(key(lot), group);
  }
  return [...groups].sort(([one], [other]) => compareText(one, other));
}

function grouped(id: string, title: string, lots: readonly TradedLot[], key: (lot: TradedLot) => string): Section {
  const rows = groupsOf(lots, key).map(([name, group]): Cell[] => [name, ...statisticsCells(tradeStatistics(group))]);
  return {
    id,
    title,
    blocks: [table(`${id}_table`, title, [{ id: "name", title: "Name", kind: "text" }, ...statisticsColumns], rows)],
  };
}

const spans = [
  { name: "same day", to: 0 },
  { name: "1 to 5 days", to: 5 },
  { name: "6 to 20 days", to: 20 },
  { name: "21 to 60 days", to: 60 },
  { name: "more than 60 days", to: Number.POSITIVE_INFINITY },
] as const;

function holdingTimes(lots: readonly TradedLot[]): Section {
  const spanOf = (lot: TradedLot) => spans.find(({ to }) => lot.holdingDays <= to)?.name ?? "";
  const rows = spans.map(({ name }): Cell[] => [
    name,
    ...statisticsCells(tradeStatistics(lots.filter((lot) => spanOf(lot) === name))),
  ]);
  const columns: Table["columns"] = [{ id: "held", title: "Held", kind: "text" }, ...statisticsColumns];
  return { id: "holding_times", title: "Holding times", blocks: [table("held", "By time held", columns, rows)] };
}

/** The worst and best close while a lot was open, against its opening price. Lots without closes in between are left out. */
function excursions(facts: ReportFacts, lots: readonly TradedLot[]): Section {
  const rows = lots.flatMap((lot): Cell[][] => {
    const [from, to] = [lot.openedAt.slice(0, 10), lot.closedAt.slice(0, 10)];
    const open = decimal.toNumber(lot.openPrice);
    const between = (facts.closes[lot.symbol] ?? []).filter(({ day }) => day >= from && day < to);
    if (between.length === 0 || !(open > 0)) return [];
    const sign = lot.direction === "LONG" ? 1 : -1;
    const moves = between.map(({ close }) => sign * (Number(close) / open - 1));
    const result = sign * (decimal.toNumber(lot.closePrice) / open - 1);
    return [
      [
        lot.symbol,
        from,
        to,
        moves.reduce((a, b) => Math.min(a, b), 0),
        moves.reduce((a, b) => Math.max(a, b), 0),
        result,
      ],
    ];
  });
  const columns: Table["columns"] = [
    { id: "symbol", title: "Symbol", kind: "text" },
    { id: "opened", title: "Opened", kind: "date" },
    { id: "closed", title: "Closed", kind: "date" },
    { id: "adverse", title: "Furthest against (MAE)", kind: "fraction" },
    { id: "favourable", title: "Furthest in favour (MFE)", kind: "fraction" },
    { id: "result", title: "At the close of the lot", kind: "fraction" },
  ];
  const left = lots.length - rows.length;
  return {
    id: "excursions",
    title: "Excursions",
    blocks: [
      table("excursion_lots", "Of daily closes while the lot was open", columns, rows),
      {
        kind: "text",
        id: "excursions_note",
        text: `${left} of ${lots.length} lots have no close between opening and closing and are left out.`,
      },
    ],
  };
}

function costs({ periodFills }: Books): Section {
  const groups = new Map<string, { fills: number; notional: number; fees: decimal.Decimal }>();
  for (const fill of periodFills) {
    const group = groups.get(fill.symbol) ?? { fills: 0, notional: 0, fees: decimal.zero };
    group.fills += 1;
    group.notional += Number(fill.quantity) * Number(fill.price);
    group.fees = decimal.add(group.fees, decimal.parse(fill.fee ?? "0"));
    groups.set(fill.symbol, group);
  }
  const rows = [...groups]
    .sort(([one], [other]) => compareText(one, other))
    .map(([symbol, { fills, notional, fees }]): Cell[] => [
      symbol,
      fills,
      money(fees),
      notional > 0 ? (decimal.toNumber(fees) / notional) * 10_000 : null,
    ]);
  const columns: Table["columns"] = [
    { id: "symbol", title: "Symbol", kind: "text" },
    { id: "fills", title: "Fills", kind: "count" },
    { id: "fees", title: "Fees", kind: "money" },
    { id: "bps", title: "Basis points of what was traded", kind: "number" },
  ];
  return { id: "costs", title: "Costs", blocks: [table("fees_by_symbol", "Broker's fees by symbol", columns, rows)] };
}

function regimes({ facts, start }: ReportInput, { dates, returns, benchmark }: Returns): Section {
  const title = "Regimes";
  if (benchmark === null) {
    return {
      id: "regime_attribution",
      title,
      blocks: [{ kind: "text", id: "regimes_none", text: "There is no benchmark to take regimes from." }],
    };
  }
  const { periods_per_year: periodsPerYear } = facts.fund;
  const { labels, from } = volatilityLabels(facts, dates, start);
  const found = regimeAttribution(returns, labels, periodsPerYear);
  const rows = [...found.byRegime].map(([regime, each]): Cell[] => [
    each.days < 20 ? `${labelNames[regime]} (insufficient)` : labelNames[regime],
    each.days,
    each.contribution,
    each.mean,
    each.volatility,
    each.sharpe,
    each.hitRate,
  ]);
  const columns: Table["columns"] = [
    { id: "regime", title: `Volatility of ${benchmark.symbol}, ${volatilityWindow} days before`, kind: "text" },
    { id: "days", title: "Days", kind: "count" },
    { id: "contribution", title: "Contribution, linked", kind: "fraction" },
    { id: "mean", title: "Mean day", kind: "fraction" },
    { id: "volatility", title: "Volatility", kind: "fraction" },
    { id: "sharpe", title: "Sharpe", kind: "number" },
    { id: "hit_rate", title: "Winning days", kind: "fraction" },
  ];
  return {
    id: "regime_attribution",
    title,
    blocks: [
      table(
        "regime_table",
        `Terciles of the market's volatility, of ${from}; contributions sum to the return`,
        columns,
        rows,
      ),
    ],
  };
}

/** The parts must be the whole, and what was realised and what is open must be the change of the positions. */
function lotLines(lots: readonly TradedLot[], { days, periodFills }: Books): readonly ReconciliationLine[] {
  const net = total(lots.map((lot) => lot.net));
  const gross = total(lots.map((lot) => lot.gross));
  const bridged = total(days.map((day) => day.realised));
  const bySymbol = total(groupsOf(lots, (lot) => lot.symbol).map(([, group]) => tradeStatistics(group).net));
  return [
    tie("Realised, net = sum over symbols", net, bySymbol),
    tie(`Realised, gross = that of the ${days.length} days (${periodFills.length} fills)`, gross, bridged),
  ];
}

function exclusionsOf({ periodFills }: Books): ReportDocument["exclusions"] {
  const actions = periodFills.filter((fill) => fill.kind === "CORPORATE_ACTION").length;
  if (actions === 0) return [];
  return [
    {
      what: "Corporate actions",
      why: "Splits divide lots, which keep their cost and day; a change of symbol closes and opens lots at price zero.",
      count: actions,
    },
  ];
}

export const tradeReport: Report = {
  name: "trade_report",
  title: "Trade report",
  sentence: "What a fund's trades earned, lot by lot, with costs, holding times, excursions and regimes.",
  sections,
  needs: [],
  build,
};
