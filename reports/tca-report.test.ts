// Transaction costs worked by hand: both sides' signs, unfilled and denied orders counted, and nothing guessed where a quote was not kept.
import { describe, expect, it } from "vitest";
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

/** A purchase and a sale of the same, so that nothing is held and the values stay; fees are what cash lost. */
function made(orders: readonly OrderFact[], fills: readonly Fill[] = []): ReportDocument {
  const last = base.navs.at(-1);
  const fees = fills.length;
  const navs = base.navs.map((nav) =>
    nav === last ? { ...nav, nav: String(Number(nav.nav) - fees), cash: String(Number(nav.cash) - fees) } : nav,
  );
  const ledger = fills.map((fill) => ({
    entry_id: `fill:${fill.fill_id}`,
    kind: "FILL",
    at: fill.filled_at,
    symbol: "AAA",
    postings: [{ account: "cash", currency: "USD", amount: fill.side === "BUY" ? "-1011" : "1009" }],
  }));
  const facts: ReportFacts = {
    ...base,
    navs,
    orders: [...orders],
    fills: [...fills],
    ledger: [...base.ledger, ...ledger],
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
});

it("finds a fill that is missing from a costed order", () => {
  const document = made([orderOf("b", "BUY"), orderOf("s", "SELL")], [fillOf("s", "SELL")]);
  expect(document.reconciliation.find(({ name }) => name.startsWith("Filled by"))?.difference).toBe("10");
});
