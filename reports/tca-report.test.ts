// Transaction costs worked by hand: both sides' signs, unfilled and denied orders counted, and nothing guessed where a quote was not kept.
import { describe, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import { reportFactsOf } from "../testkit/report-facts.ts";
import { isReconciled, type ReportDocument } from "./document.ts";
import type { OrderFact, ReportFacts } from "./facts.ts";
import { tcaReport } from "./tca-report.ts";

const base = reportFactsOf({ days: 5, tradesEvery: 0 });
const day = base.navs.at(-1)?.day ?? "";
const close = Number(base.closes["AAA"]?.at(-1)?.close);

function orderOf(id: string, side: OrderFact["side"], more: Partial<OrderFact> = {}): OrderFact {
  const quote = (bid: string, ask: string) => ({ bid, ask, at: `${day}T15:00:00Z` });
  return {
    order_id: id,
    strategy_id: "s",
    symbol: "AAA",
    side,
    quantity: "10",
    order_type: "MARKET",
    broker: "paper",
    state: "FILLED",
    filled_quantity: "10",
    created_at: `${day}T15:00:00Z`,
    decided_at: `${day}T15:00:00Z`,
    code: "",
    quotes: { created: quote("99.9", "100.1"), routed: quote("100.4", "100.6") },
    ...more,
  };
}

/** At 101, for a fee of 1. */
const fillOf = (order: string, side: Fill["side"]): Fill => ({
  fill_id: `f-${order}`,
  order_id: order,
  fund_id: "alpha",
  strategy_id: "s",
  symbol: "AAA",
  side,
  quantity: "10",
  price: "101",
  fee: "1",
  filled_at: `${day}T15:00:01Z`,
});

const cashOf = ({ side, quantity, price, fee }: Fill): string =>
  String((side === "BUY" ? -1 : 1) * Number(quantity) * Number(price) - Number(fee));

/** A purchase and a sale of the same, so that nothing is held and the values stay; fees are what cash lost. */
function made(
  orders: readonly OrderFact[],
  fills: readonly Fill[] = [],
  more: Partial<ReportFacts> = {},
): ReportDocument {
  const last = base.navs.at(-1);
  const fees = fills.reduce((sum, fill) => sum + Number(fill.fee), 0);
  const navs = base.navs.map((nav) =>
    nav === last ? { ...nav, nav: String(Number(nav.nav) - fees), cash: String(Number(nav.cash) - fees) } : nav,
  );
  const ledger = fills.map((fill) => ({
    entry_id: `fill:${fill.fill_id}`,
    kind: "FILL",
    at: fill.filled_at,
    symbol: "AAA",
    postings: [
      { account: "cash", currency: "USD", amount: cashOf(fill) },
      { account: "position:AAA", currency: "USD", amount: decimal.format(decimal.negate(decimal.parse(cashOf(fill)))) },
    ],
  }));
  const facts: ReportFacts = {
    ...base,
    navs,
    orders: [...orders],
    fills: [...fills],
    ledger: [...base.ledger, ...ledger],
    ...more,
  };
  return tcaReport.build({ facts, factsSha256: "0".repeat(64), start: day, end: day });
}

const figure = (document: ReportDocument, id: string) => document.metrics.find((metric) => metric.id === id)?.value;
function rows(document: ReportDocument, id: string) {
  const found = document.sections
    .flatMap(({ blocks }) => blocks)
    .find((block) => block.kind === "table" && block.id === id);
  return found?.kind === "table" ? found.rows : [];
}

describe("what an order cost", () => {
  it("is delay, execution and fees, above zero for a buyer who paid more and below for a seller who got more", () => {
    const fills = [fillOf("b", "BUY"), fillOf("s", "SELL")];
    const document = made([orderOf("b", "BUY"), orderOf("s", "SELL")], fills);
    // From 100 to 100.5 while it waited, to 101 when it traded, times ten.
    expect(rows(document, "order_costs").map((row) => row.slice(7, 12))).toEqual([
      ["5", "5", "0", "1", "11"],
      ["-5", "-5", "0", "1", "-9"],
    ]);
    expect(isReconciled(document)).toBe(true);
  });
  it("counts what was not filled at the day's close, and denied orders beside them", () => {
    const unfilled = orderOf("u", "BUY", { state: "EXPIRED", filled_quantity: "0" });
    const denied = orderOf("d", "BUY", { state: "REJECTED", filled_quantity: "0", code: "MAX_NOTIONAL" });
    const document = made([unfilled, denied]);
    expect(Number(rows(document, "order_costs")[0]?.[9])).toBeCloseTo(10 * (close - 100), 9);
    expect(Number(figure(document, "shortfall"))).toBeCloseTo(10 * (close - 100), 9);
    expect(
      ["orders", "orders_denied", "orders_unfilled", "orders_costed", "fill_rate"].map((id) => figure(document, id)),
    ).toEqual([2, 1, 1, 1, 0]);
    expect(figure(document, "arrival_slippage_bps")).toBeNull();
  });
});

it("guesses nothing: an order without kept quotes is listed, counted and in no cost", () => {
  const { quotes: _quotes, ...without } = orderOf("b", "BUY");
  const document = made([without, orderOf("s", "SELL")], [fillOf("b", "BUY"), fillOf("s", "SELL")]);
  expect(document.exclusions).toContainEqual(expect.objectContaining({ what: "Orders without kept quotes", count: 1 }));
  expect(rows(document, "excluded_orders").map(([id]) => id)).toEqual(["b"]);
  expect(figure(document, "shortfall")).toBe("-9");
  expect(figure(document, "order_fees")).toBe("1");
});

it("finds a fill that is missing from a costed order", () => {
  const document = made([orderOf("b", "BUY"), orderOf("s", "SELL")], [fillOf("s", "SELL")]);
  expect(document.reconciliation.find(({ name }) => name.startsWith("Filled by"))?.difference).toBe("10");
});

describe("spreads", () => {
  const quote = (bid: string, ask: string) => ({ bid, ask, at: `${day}T15:00:01Z` });
  const spreads = (quotes: NonNullable<ReportFacts["fill_quotes"]>, asOf = base.as_of) =>
    made([orderOf("b", "BUY"), orderOf("s", "SELL")], [fillOf("b", "BUY"), fillOf("s", "SELL")], {
      fill_quotes: quotes,
      as_of: asOf,
    });
  const whatOf = (document: ReportDocument) => document.data_quality.map(({ what }) => what);

  it("are twice the distance from the mid at the fill, and from the mid 300 seconds later", () => {
    const both = { at_fill: quote("99.9", "100.1"), after_300s: quote("100.4", "100.6") };
    const document = spreads({ "f-b": both });
    expect(figure(document, "effective_spread_bps")).toBeCloseTo(200, 9);
    expect(figure(document, "realised_spread_bps")).toBeCloseTo(100, 9);
    expect(document.metrics.find(({ id }) => id === "realised_spread_bps")?.n).toBe(1);
    expect(whatOf(document)).toEqual(expect.arrayContaining(["No quote at the fill", "No quote 300 s after the fill"]));
  });
  it("say that 300 seconds have not passed instead of taking another quote", () => {
    const document = spreads(
      { "f-b": { at_fill: quote("99.9", "100.1"), after_300s: null } },
      `${day}T15:04:00.000000Z`,
    );
    expect(figure(document, "realised_spread_bps")).toBeNull();
    expect(whatOf(document)).toContain("300 s after the fill lies ahead");
    expect(whatOf(document)).not.toContain("No quote 300 s after the fill");
  });
});

it("takes an order that went out in slices for one, routed with its first slice and filled by all of them", () => {
  const slice = (id: string, bid: string, ask: string) =>
    orderOf(id, "SELL", {
      quantity: "5",
      filled_quantity: "5",
      parent_order_id: "p",
      quotes: { created: null, routed: { bid, ask, at: `${day}T15:00:00Z` } },
    });
  const parent = orderOf("p", "SELL", { code: null });
  const half = (id: string): Fill => ({ ...fillOf(id, "SELL"), quantity: "5", fee: "0.5" });
  const document = made(
    [
      orderOf("b", "BUY"),
      { ...parent, quotes: { created: parent.quotes?.created ?? null, routed: null } },
      slice("p/1", "100.4", "100.6"),
      slice("p/2", "120", "121"),
    ],
    [fillOf("b", "BUY"), half("p/1"), half("p/2")],
  );
  expect(rows(document, "order_costs").map((row) => row.slice(7, 12))).toEqual([
    ["5", "5", "0", "1", "11"],
    ["-5", "-5", "0", "1", "-9"],
  ]);
  expect(figure(document, "orders")).toBe(2);
  expect(isReconciled(document)).toBe(true);
});
