// tca_report: what it cost to trade, order by order, against the price when the order was made. An order whose quotes were not kept has no such price: it is
// listed as excluded and never guessed. Unfilled and denied orders are counted; leaving them out would flatter.
import * as decimal from "../contracts/src/decimal.ts";
import { millisecondsBetween, parse } from "../contracts/src/instant.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import { standardDeviation } from "../core/stats/moments.ts";
import { median } from "../core/stats/quantiles.ts";
import { booksOf, directionOf } from "./books/books.ts";
import { tie } from "./books/tie-out.ts";
import type { Cell, ReconciliationLine, ReportDocument, Table } from "./document.ts";
import type { OrderFact, QuoteFact, ReportFacts } from "./facts.ts";
import { metricMaker } from "./figures.ts";
import { compareText } from "./metrics/dates.ts";
import { costTotals, inBps, type OrderCost, orderCost } from "./metrics/tca.ts";
import {
  chosenSections,
  columnsOf,
  documentOf,
  figuresSection,
  needed,
  qualityOf,
  type Section,
  sectionOf,
  tableOf,
  textOf,
} from "./report-parts.ts";
import type { Report, ReportInput } from "./shape.ts";
import { type CostedOrder, middle, spreadOf, unquotedFills } from "./tca-spreads.ts";
import { tradeDates } from "./trade-dates.ts";

type Decimal = decimal.Decimal;

const sections = [
  "summary",
  "outcomes",
  "by_strategy",
  "by_symbol",
  "by_size",
  "by_broker",
  "orders",
  "excluded",
] as const;

const money = decimal.format;
const total = (amounts: readonly Decimal[]): Decimal => amounts.reduce(decimal.add, decimal.zero);

interface Sorted {
  readonly all: readonly OrderFact[];
  readonly costed: readonly CostedOrder[];
  readonly without: readonly OrderFact[];
}

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  const books = booksOf(facts, start, end);
  const make = metricMaker(facts, books.days.at(-1)?.day ?? null);
  const sorted = sortedOrders(facts, start, end);
  const { all, costed, without } = sorted;
  const denied = all.filter(isDenied);
  const unfilled = all.filter((order) => !isDenied(order) && Number(order.filled_quantity) === 0);
  const totals = costTotals(costed.map(({ cost }) => cost));
  const seeded = books.periodFills.filter(({ kind }) => kind === "SEED").length;
  const slippages = costed.flatMap(({ cost }) => (cost.arrivalSlippageBps === null ? [] : [cost.arrivalSlippageBps]));
  const spread = standardDeviation(slippages);
  const n = costed.length;
  const metrics = [
    make("orders", all.length, all.length),
    make("orders_denied", denied.length, all.length),
    make("orders_unfilled", unfilled.length, all.length),
    make("orders_costed", n, all.length),
    make("fill_rate", fillRate(all), all.length),
    make("shortfall", n === 0 ? null : totals.shortfall, n),
    make("shortfall_bps", totals.shortfallBps, n),
    make("arrival_slippage_bps", totals.arrivalSlippageBps, slippages.length),
    make("arrival_slippage_median_bps", median(slippages), slippages.length),
    make(
      "arrival_slippage_error_bps",
      spread === null ? null : spread / Math.sqrt(slippages.length),
      slippages.length,
      "TOO_FEW",
    ),
    make("effective_spread_bps", ...spreadOf(costed, "effectiveSpreadBps")),
    make("realised_spread_bps", ...spreadOf(costed, "realisedSpreadBps")),
    make("order_fees", total(costed.map(({ cost }) => cost.fees)), n),
  ];
  const found: readonly Section[] = [
    figuresSection(metrics),
    outcomes(all),
    grouped("by_strategy", "By strategy", costed, ({ order }) => order.strategy_id),
    grouped("by_symbol", "By symbol", costed, ({ order }) => order.symbol),
    grouped("by_size", "By size", costed, ({ cost }) => sizeOf(cost)),
    grouped("by_broker", "By broker", costed, ({ order }) => order.broker),
    sectionOf("orders", "Orders", orderTable(costed)),
    excluded(without),
  ];
  return documentOf(input, {
    report: "tca_report",
    title: "Transaction cost analysis",
    metrics,
    sections: chosenSections(found, input.include, sections),
    reconciliation: [...books.reconciliation, ...costLines(sorted)],
    exclusions: [
      ...(without.length === 0
        ? []
        : [
            {
              what: "Orders without kept quotes",
              why: "The price when they were made is not known; it is not guessed.",
              count: without.length,
            },
          ]),
      ...(seeded === 0
        ? []
        : [{ what: "Seeded trades", why: "They are from before the log began and have no orders.", count: seeded }]),
    ],
    quality: [...qualityOf(facts, books.days), ...unquotedFills(facts, costed)],
  });
}

const isDenied = ({ state, code }: OrderFact): boolean => state === "REJECTED" || (code !== null && code !== "");

function sortedOrders(facts: ReportFacts, start: string, end: string): Sorted {
  const dateOf = tradeDates(facts);
  const orders = needed(facts, "orders");
  const parents = new Map(orders.map(({ order_id, parent_order_id }) => [order_id, parent_order_id ?? order_id]));
  // An order that went out in slices is one decision: its slices are its fills, and no orders beside it.
  const all = wholeOrders(orders).filter(({ created_at: at }) => dateOf(at) >= start && dateOf(at) <= end);
  const fills = new Map<string, Fill[]>();
  for (const fill of facts.fills) {
    const id = parents.get(fill.order_id) ?? fill.order_id;
    const own = fills.get(id);
    if (own === undefined) fills.set(id, [fill]);
    else own.push(fill);
  }
  const costed = all.flatMap((order) => {
    const own = fills.get(order.order_id) ?? [];
    const cost = isDenied(order) ? null : costOf(facts, order, own, dateOf(order.created_at));
    return cost === null ? [] : [{ order, cost, fills: own }];
  });
  const done = new Set(costed.map(({ order }) => order.order_id));
  return { all, costed, without: all.filter((order) => !isDenied(order) && !done.has(order.order_id)) };
}

/** A sliced order was routed when its first slice was. */
function wholeOrders(orders: readonly OrderFact[]): readonly OrderFact[] {
  const routed = new Map<string, QuoteFact | null>();
  for (const { parent_order_id: parent, quotes } of orders) {
    if (typeof parent === "string" && !routed.has(parent)) routed.set(parent, quotes?.routed ?? null);
  }
  return orders
    .filter(({ parent_order_id: parent }) => typeof parent !== "string")
    .map((order) => {
      const first = routed.get(order.order_id);
      return first === undefined
        ? order
        : { ...order, quotes: { created: order.quotes?.created ?? null, routed: first } };
    });
}

/** Null where a price that the definition needs was not kept. */
function costOf(facts: ReportFacts, order: OrderFact, fills: readonly Fill[], day: string): OrderCost | null {
  const { created = null, routed = null } = order.quotes ?? {};
  const close = facts.closes[order.symbol]?.find((each) => each.day === day)?.close;
  const isWhole = Number(order.filled_quantity) >= Number(order.quantity);
  if (created === null || routed === null) return null;
  // What was not filled is counted at the day's close: without one it cannot be counted.
  if (!isWhole && close === undefined) return null;
  const from = parse(order.created_at);
  // In money of one unit that is traded: an option's is a hundred times its quoted price.
  const multiplier = decimal.parse(facts.instruments.find(({ symbol }) => symbol === order.symbol)?.multiplier ?? "1");
  const worth = (price: Decimal): Decimal => decimal.multiply(price, multiplier, "half-even");
  return orderCost({
    direction: directionOf(order.side),
    quantity: decimal.parse(order.quantity),
    decisionPrice: worth(middle(created)),
    arrivalPrice: worth(middle(routed)),
    endPrice: worth(close === undefined ? middle(routed) : decimal.parse(close)),
    fills: fills.map((fill) => {
      const quotes = facts.fill_quotes?.[fill.fill_id];
      return {
        atSeconds: millisecondsBetween(from, parse(fill.filled_at)) / 1_000,
        price: worth(decimal.parse(fill.price)),
        quantity: decimal.parse(fill.quantity),
        fee: decimal.parse(fill.fee ?? "0"),
        midAtFill: quotes?.at_fill ? worth(middle(quotes.at_fill)) : null,
        midAfter300s: quotes?.after_300s ? worth(middle(quotes.after_300s)) : null,
      };
    }),
    marketTrades: [],
    averageDailyVolume: null,
    dailyVolatility: null,
  });
}

/** Filled over asked for, in quantity of each order, averaged; denied orders count as asked for and not filled. */
function fillRate(orders: readonly OrderFact[]): number | null {
  if (orders.length === 0) return null;
  return orders.reduce((sum, order) => sum + Number(order.filled_quantity) / Number(order.quantity), 0) / orders.length;
}

function outcomes(orders: readonly OrderFact[]): Section {
  const keys = [...new Set(orders.map(({ state, code }) => `${state} ${code ?? ""}`))].sort(compareText);
  const rows = keys.map((key): Cell[] => {
    const own = orders.filter(({ state, code }) => `${state} ${code ?? ""}` === key);
    return [own[0]?.state ?? "", own[0]?.code ?? "", own.length, own.length / orders.length];
  });
  const columns = columnsOf("state:State", "code:Denied because", "orders:Orders:count", "share:Share:fraction");
  return sectionOf(
    "outcomes",
    "What became of the orders",
    tableOf("states", "Every order of the period, also unfilled and denied ones", columns, rows),
  );
}

const sizes = [
  { name: "up to 10,000", to: 10_000 },
  { name: "up to 100,000", to: 100_000 },
  { name: "above 100,000", to: Number.POSITIVE_INFINITY },
] as const;
const sizeOf = ({ paperNotional }: OrderCost): string =>
  sizes.find(({ to }) => decimal.toNumber(paperNotional) <= to)?.name ?? "";

function grouped(
  id: string,
  title: string,
  costed: readonly CostedOrder[],
  key: (each: CostedOrder) => string,
): Section {
  const names = [...new Set(costed.map(key))].sort(compareText);
  const rows = names.map((name): Cell[] => {
    const costs = costed.filter((each) => key(each) === name).map(({ cost }) => cost);
    const totals = costTotals(costs);
    const part = (of: "delay" | "execution" | "opportunity" | "fees") => money(total(costs.map((cost) => cost[of])));
    return [
      name,
      costs.length,
      part("delay"),
      part("execution"),
      part("opportunity"),
      part("fees"),
      money(totals.shortfall),
      totals.shortfallBps,
      totals.arrivalSlippageBps,
    ];
  });
  const columns = columnsOf(
    "name:Name",
    "orders:Orders:count",
    "delay:Delay:money",
    "execution:Execution:money",
    "opportunity:Opportunity:money",
    "fees:Fees:money",
    "shortfall:Shortfall:money",
    "bps:Basis points:number",
    "slippage:Arrival slippage, bps:number",
  );
  return sectionOf(id, title, tableOf(`${id}_table`, "A cost is above zero for both sides", columns, rows));
}

function orderTable(costed: readonly CostedOrder[]): Table {
  const rows = costed.map(({ order, cost }): Cell[] => [
    order.order_id,
    order.created_at,
    order.strategy_id,
    order.symbol,
    order.side,
    order.quantity,
    money(cost.filled),
    money(cost.delay),
    money(cost.execution),
    money(cost.opportunity),
    money(cost.fees),
    money(cost.shortfall),
    inBps(cost.shortfall, cost.paperNotional),
    cost.effectiveSpreadBps,
    cost.realisedSpreadBps,
  ]);
  const columns = columnsOf(
    "order_id:Order",
    "created_at:Made at",
    "strategy_id:Strategy",
    "symbol:Symbol",
    "side:Side",
    "quantity:Quantity:quantity",
    "filled:Filled:quantity",
    "delay:Delay:money",
    "execution:Execution:money",
    "opportunity:Opportunity:money",
    "fees:Fees:money",
    "shortfall:Shortfall:money",
    "bps:Basis points:number",
    "effective:Effective spread, bps:number",
    "realised:Realised spread, bps:number",
  );
  return tableOf(
    "order_costs",
    "Implementation shortfall: delay + execution + opportunity + fees",
    columns,
    rows,
    true,
  );
}

function excluded(without: readonly OrderFact[]): Section {
  const rows = without.map((order): Cell[] => [
    order.order_id,
    order.created_at,
    order.strategy_id,
    order.symbol,
    order.side,
    order.quantity,
    order.filled_quantity,
    order.state,
  ]);
  const columns = columnsOf(
    "order_id:Order",
    "created_at:Made at",
    "strategy_id:Strategy",
    "symbol:Symbol",
    "side:Side",
    "quantity:Quantity:quantity",
    "filled:Filled:quantity",
    "state:State",
  );
  const none = textOf(
    "excluded_note",
    "These orders have no kept quote at their making and routing, or no close for what was not filled: their cost is not known.",
  );
  return sectionOf(
    "excluded",
    "Orders without a cost",
    tableOf("excluded_orders", "Counted above, in no figure of cost", columns, rows),
    ...(rows.length === 0 ? [] : [none]),
  );
}

/** The parts must be the paper's profit less the actual one, and no order may be lost on the way. */
function costLines({ all, costed, without }: Sorted): readonly ReconciliationLine[] {
  const count = (value: number): Decimal => decimal.fromInteger(BigInt(value));
  return [
    tie(
      "Delay + execution + opportunity + fees = profit on paper - actual profit",
      total(costed.map(({ cost }) => cost.shortfall)),
      total(costed.map(({ cost }) => decimal.subtract(cost.paperProfit, cost.actualProfit))),
    ),
    tie(
      "Orders = costed + excluded + denied",
      count(all.length),
      count(costed.length + without.length + all.filter(isDenied).length),
    ),
    tie(
      "Filled by the costed orders = their fills",
      total(costed.map(({ order }) => decimal.parse(order.filled_quantity))),
      total(costed.map(({ cost }) => cost.filled)),
    ),
  ];
}

export const tcaReport: Report = {
  name: "tca_report",
  title: "Transaction cost analysis",
  sentence:
    "What it cost to trade, order by order, with unfilled and denied orders counted and orders without kept quotes excluded.",
  sections,
  needs: ["orders", "fill_quotes"],
  build,
};
