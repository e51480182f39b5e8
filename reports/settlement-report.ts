// settlement_report: when every trade of a year settles, what cash moves then, what is still pending, and the year's realised lots by term. Gains belong to
// the year of the TRADE's date, cash to that of its settlement.
import * as decimal from "../contracts/src/decimal.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import { type Books, booksOf, costOf, directionOf, type TradedLot } from "./books/books.ts";
import { tie } from "./books/tie-out.ts";
import type { Cell, Metric, ReconciliationLine, ReportDocument } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import { metricMaker } from "./figures.ts";
import { compareText, dayNumber } from "./metrics/dates.ts";
import { total } from "./metrics/lots.ts";
import { cashLadder, settlementOf } from "./metrics/settlement.ts";
import { shownMoment } from "./render/numbers.ts";
import {
  chosenSections,
  columnsOf,
  documentOf,
  figuresSection,
  qualityOf,
  type Section,
  sectionOf,
  tableOf,
  textOf,
} from "./report-parts.ts";
import { settlementMarkets } from "./settlement-markets.ts";
import type { Report, ReportInput } from "./shape.ts";
import { tradeDates } from "./trade-dates.ts";

type Decimal = decimal.Decimal;

const sections = [
  "summary",
  "by_settlement_date",
  "cash_ladder",
  "pending",
  "fails",
  "free_riding",
  "realised_by_term",
  "wash_sales",
  "trades",
] as const;

const money = decimal.format;

interface SettlingTrade {
  readonly fill: Fill;
  readonly tradeDate: string;
  readonly date: string;
  readonly cycle: string;
  readonly currency: string;
  /** What the account gets (above zero) or pays, fees included. */
  readonly cash: Decimal;
  readonly isPending: boolean;
}

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  const books = booksOf(facts, start, end);
  const make = metricMaker(facts, books.days.at(-1)?.day ?? null);
  const settling = settlingTrades(facts);
  const inside = new Set(books.periodFills.map(({ fill_id }) => fill_id));
  const trades = settling.filter(({ fill }) => inside.has(fill.fill_id));
  const brought = settling.filter(({ tradeDate, date }) => tradeDate < start && date >= start && date <= end);
  const pending = settling.filter(({ isPending, date }) => isPending && date >= start);
  const lots = books.closed.filter(({ closedOn }) => closedOn >= start && closedOn <= end);
  const washed = washSales(facts, lots);
  const early = soldBeforeSettled(facts, lots);
  const byTerm = (term: TradedLot["term"]) => total(lots.filter((lot) => lot.term === term).map((lot) => lot.net));
  const cashOf = (rows: readonly SettlingTrade[]) => total(rows.map((row) => row.cash));
  const metrics: readonly Metric[] = [
    make("settling_trades", trades.length, trades.length),
    make("settled_cash", cashOf(trades.filter((trade) => !trade.isPending)), trades.length),
    make("pending_cash", cashOf(pending), pending.length),
    make("short_term_net", byTerm("SHORT_TERM"), lots.length),
    make("long_term_net", byTerm("LONG_TERM"), lots.length),
    make("wash_sale_flags", washed.length, lots.length),
    make("sold_before_settled", early.length, lots.length),
  ];
  const all: readonly Section[] = [
    figuresSection(metrics),
    byDate([...brought, ...trades]),
    cashByDate(trades),
    sectionOf(
      "pending",
      "Pending",
      tableOf("pending_trades", `Not settled by ${shownMoment(facts.as_of)}`, tradeColumns(), pending.map(tradeRow)),
    ),
    fails(facts, trades),
    lotSection(
      "free_riding",
      "Sold before the purchase had settled",
      "Lots that a cash account could not have closed so early",
      early,
    ),
    terms(lots),
    lotSection(
      "wash_sales",
      "Wash-sale flags",
      "Lots with a loss whose symbol was bought within 30 days of the sale; flagged, not adjusted",
      washed,
    ),
    sectionOf(
      "trades",
      "Trades",
      tableOf("statement", "Every trade by its own date", tradeColumns(), trades.map(tradeRow), true),
    ),
  ];
  return documentOf(input, {
    report: "settlement_report",
    title: "Settlement report",
    metrics,
    sections: chosenSections(all, input.include, sections),
    reconciliation: [...books.reconciliation, ...cashLines(trades, lots, books)],
    exclusions: exclusionsOf(settling, inside, start, end),
    quality: [
      ...qualityOf(facts, books.days),
      {
        what: "Settlement is assumed",
        detail: "The paper broker confirms no settlement: a trade whose date has come counts as settled.",
      },
    ],
    parameters: { year: start.slice(0, 4) },
  });
}

function settlingTrades(facts: ReportFacts): readonly SettlingTrade[] {
  const dateOf = tradeDates(facts);
  const today = dateOf(facts.as_of);
  const bySymbol = new Map(facts.instruments.map((each) => [each.symbol, each]));
  const multipliers = new Map(facts.instruments.map((each) => [each.symbol, decimal.parse(each.multiplier)]));
  return facts.fills
    .map((fill) => {
      const instrument = bySymbol.get(fill.symbol);
      const kind =
        instrument?.asset_class === "CRYPTO" || instrument?.asset_class === "OPTION"
          ? instrument.asset_class
          : "EQUITY";
      const tradeDate = dateOf(fill.filled_at);
      const { date, cycle } = settlementOf(settlementMarkets[kind], tradeDate);
      const cash = decimal.negate(decimal.add(costOf(fill, multipliers), decimal.parse(fill.fee ?? "0")));
      return {
        fill,
        tradeDate,
        date,
        cycle,
        currency: fill.currency ?? facts.fund.currency,
        cash,
        isPending: date > today,
      };
    })
    .sort((one, other) => compareText(one.fill.filled_at, other.fill.filled_at));
}

const tradeColumns = () =>
  columnsOf(
    "trade_date:Traded:date",
    "settlement_date:Settles:date",
    "cycle:Cycle",
    "symbol:Symbol",
    "side:Side",
    "quantity:Quantity:quantity",
    "price:Price:price",
    "fee:Fee:money",
    "currency:Currency",
    "net_cash:Net cash:money",
    "status:Status",
  );

const tradeRow = ({ fill, tradeDate, date, cycle, currency, cash, isPending }: SettlingTrade): Cell[] => [
  tradeDate,
  date,
  cycle,
  fill.symbol,
  fill.side,
  fill.quantity,
  fill.price,
  fill.fee ?? "0",
  currency,
  money(cash),
  isPending ? "pending" : "assumed settled",
];

function byDate(trades: readonly SettlingTrade[]): Section {
  const dates = [...new Set(trades.map(({ date }) => date))].sort(compareText);
  const rows = dates.map((date): Cell[] => {
    const own = trades.filter((trade) => trade.date === date);
    const side = (direction: 1 | -1) =>
      total(own.filter(({ fill }) => directionOf(fill.side) === direction).map((trade) => trade.cash));
    const traded = [...new Set(own.map(({ tradeDate }) => tradeDate))].sort(compareText);
    return [
      date,
      traded.join(", "),
      own.length,
      money(side(1)),
      money(side(-1)),
      money(total(own.map(({ cash }) => cash))),
    ];
  });
  const columns = columnsOf(
    "date:Settles:date",
    "traded:Traded on",
    "trades:Trades:count",
    "bought:Bought:money",
    "sold:Sold:money",
    "net:Net cash:money",
  );
  return sectionOf(
    "by_settlement_date",
    "By settlement date",
    tableOf("settlement_dates", "With what was traded before the year and settles in it", columns, rows),
  );
}

function cashByDate(trades: readonly SettlingTrade[]): Section {
  const days = cashLadder(trades);
  const currencies = [...new Set(trades.map(({ currency }) => currency))].sort(compareText);
  const running = new Map(currencies.map((currency) => [currency, decimal.zero]));
  const rows = [...days].flatMap(([date, cash]) =>
    [...cash].map(([currency, amount]): Cell[] => {
      const sum = decimal.add(running.get(currency) ?? decimal.zero, amount);
      running.set(currency, sum);
      return [date, currency, money(amount), money(sum)];
    }),
  );
  const columns = columnsOf(
    "date:Settles:date",
    "currency:Currency",
    "cash:Cash:money",
    "running:Since the start:money",
  );
  return sectionOf(
    "cash_ladder",
    "Cash ladder",
    tableOf("cash_dates", "Cash of the period's trades by the day it moves, per currency", columns, rows),
  );
}

const agesDays = [
  { name: "1 to 4 days", to: 4 },
  { name: "5 to 9 days", to: 9 },
  { name: "10 days and more", to: Number.POSITIVE_INFINITY },
] as const;

/** Only a broker that confirms settlements can report a fail; for the others the table stays empty, and says why. */
function fails(facts: ReportFacts, trades: readonly SettlingTrade[]): Section {
  const assumed = trades.filter(({ isPending }) => !isPending).length;
  const said = `No broker of this fund confirms settlements: ${assumed} trades whose date has come by ${facts.as_of.slice(0, 10)} are assumed settled, and no fail is known.`;
  const columns = columnsOf("age:Age of the fail", "trades:Trades:count", "cash:Cash:money");
  const rows = agesDays.map(({ name }): Cell[] => [name, 0, "0"]);
  return sectionOf("fails", "Fails", tableOf("fail_ages", "Fails by age", columns, rows), textOf("fails_note", said));
}

const lotColumns = () =>
  columnsOf(
    "symbol:Symbol",
    "strategy_id:Strategy",
    "opened:Bought:date",
    "closed:Sold:date",
    "quantity:Quantity:quantity",
    "net:Net:money",
    "note:Because",
  );

interface FlaggedLot {
  readonly lot: TradedLot;
  readonly note: string;
}

function lotSection(id: string, title: string, caption: string, flagged: readonly FlaggedLot[]): Section {
  const rows = flagged.map(({ lot, note }): Cell[] => [
    lot.symbol,
    lot.strategyId,
    lot.openedOn,
    lot.closedOn,
    money(lot.quantity),
    money(lot.net),
    note,
  ]);
  return sectionOf(id, title, tableOf(`${id}_lots`, caption, lotColumns(), rows));
}

/** Long lots of what settles later than it trades, sold before their purchase had settled. */
function soldBeforeSettled(facts: ReportFacts, lots: readonly TradedLot[]): readonly FlaggedLot[] {
  const kinds = new Map(facts.instruments.map((each) => [each.symbol, each.asset_class]));
  return lots.flatMap((lot) => {
    const kind = kinds.get(lot.symbol) === "OPTION" ? ("OPTION" as const) : ("EQUITY" as const);
    if (lot.direction !== "LONG" || kinds.get(lot.symbol) === "CRYPTO") return [];
    const { date } = settlementOf(settlementMarkets[kind], lot.openedOn);
    return lot.closedOn < date ? [{ lot, note: `settles ${date}` }] : [];
  });
}

const washDays = 30;

/** A purchase of the same symbol within 30 days before or after the sale, other than the one that opened the lot. */
function washSales(facts: ReportFacts, lots: readonly TradedLot[]): readonly FlaggedLot[] {
  const dateOf = tradeDates(facts);
  const bought = new Map<string, { readonly day: string; readonly at: string; readonly number: number }[]>();
  for (const fill of facts.fills) {
    if (directionOf(fill.side) !== 1) continue;
    const day = dateOf(fill.filled_at);
    const rows = bought.get(fill.symbol) ?? [];
    rows.push({ day, at: fill.filled_at, number: dayNumber(day) });
    bought.set(fill.symbol, rows);
  }
  return lots.flatMap((lot) => {
    if (lot.net >= decimal.zero || lot.direction !== "LONG") return [];
    const sold = dayNumber(lot.closedOn);
    const found = (bought.get(lot.symbol) ?? []).find(
      ({ at, number }) => at !== lot.openedAt && Math.abs(number - sold) <= washDays,
    );
    return found === undefined ? [] : [{ lot, note: `also bought ${found.day}` }];
  });
}

function terms(lots: readonly TradedLot[]): Section {
  const rows = (["SHORT_TERM", "LONG_TERM"] as const).map((term): Cell[] => {
    const own = lots.filter((lot) => lot.term === term);
    const sign = (keep: (net: Decimal) => boolean) => money(total(own.map(({ net }) => net).filter(keep)));
    return [
      term === "LONG_TERM" ? "long, more than a year" : "short",
      own.length,
      sign((net) => net > 0n),
      sign((net) => net < 0n),
      sign(() => true),
    ];
  });
  const columns = columnsOf(
    "term:Term",
    "lots:Lots:count",
    "gains:Gains:money",
    "losses:Losses:money",
    "net:Net:money",
  );
  return sectionOf(
    "realised_by_term",
    "Realised by term",
    tableOf("terms", "Lots whose closing trade has a date in the year", columns, rows),
  );
}

/** What trades paid must be what cash moved by, beside flows, income and borrow fees; parts must be the whole. */
function cashLines(
  trades: readonly SettlingTrade[],
  lots: readonly TradedLot[],
  { days }: Books,
): readonly ReconciliationLine[] {
  const laddered = total([...cashLadder(trades).values()].flatMap((row) => [...row.values()]));
  const [first, last] = [days[0], days.at(-1)];
  const openedWith =
    first === undefined
      ? decimal.zero
      : decimal.subtract(first.opening, total(first.openLines.map(({ value }) => value)));
  const moved = decimal.subtract(last?.cash ?? decimal.zero, openedWith);
  const other = total(days.map((day) => decimal.subtract(decimal.add(day.flows, day.income), day.borrowFees)));
  const net = total(lots.map((lot) => lot.net));
  const byTerm = (["SHORT_TERM", "LONG_TERM"] as const).map((term) =>
    total(lots.filter((lot) => lot.term === term).map((lot) => lot.net)),
  );
  return [
    tie(
      `Cash ladder = change of cash - flows - income + borrow fees (${trades.length} trades)`,
      laddered,
      decimal.subtract(moved, other),
    ),
    tie("Realised, net = short-term + long-term", net, total(byTerm)),
  ];
}

function exclusionsOf(
  settling: readonly SettlingTrade[],
  inside: ReadonlySet<string>,
  start: string,
  end: string,
): ReportDocument["exclusions"] {
  const outside = settling.filter(
    ({ fill, tradeDate }) => tradeDate >= start && tradeDate <= end && !inside.has(fill.fill_id),
  );
  if (outside.length === 0) return [];
  return [
    {
      what: "Trades of the year that no value has",
      why: "They lie in the first value or after the last one.",
      count: outside.length,
    },
  ];
}

export const settlementReport: Report = {
  name: "settlement_report",
  title: "Settlement report",
  sentence: "When every trade of a year settles, what cash moves then, and the year's realised lots by term.",
  sections,
  needs: [],
  build,
};
