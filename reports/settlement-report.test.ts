// The settlement report's own cases, worked by hand: market dates, cycles, holidays of banks, terms and flags.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Fill } from "../contracts/src/records/order.ts";
import { reportFactsOf } from "../testkit/report-facts.ts";
import type { Cell, ReportDocument } from "./document.ts";
import { factsHash, type ReportFacts } from "./facts.ts";
import { settlementReport } from "./settlement-report.ts";

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest();

function fillAt(filledAt: string, side: Fill["side"], price: string, symbol = "AAA", quantity = "10"): Fill {
  const names = { fill_id: `f-${filledAt}-${symbol}`, order_id: "o", fund_id: "alpha", strategy_id: "s" };
  return { ...names, symbol, side, quantity, price, fee: "1", currency: "USD", broker: "paper", filled_at: filledAt };
}

/** Fills that are in no value: what is shown of lots and dates does not depend on values. */
function made(fills: readonly Fill[], year = "2025"): ReportDocument {
  const facts: ReportFacts = { ...reportFactsOf({ days: 60, tradesEvery: 0 }), fills: [...fills] };
  const input = { facts, factsSha256: factsHash(facts, sha256), start: `${year}-01-01`, end: `${year}-12-31` };
  return settlementReport.build(input);
}

function rows(document: ReportDocument, id: string): readonly (readonly Cell[])[] {
  const blocks = document.sections.flatMap((section) => section.blocks);
  const found = blocks.find((block) => block.kind === "table" && block.id === id);
  return found?.kind === "table" ? found.rows : [];
}

const figure = (document: ReportDocument, id: string) => document.metrics.find((metric) => metric.id === id)?.value;

describe("dates", () => {
  it("go by the market: an evening trade in New York is of that day, not of UTC's next one", () => {
    const [row] = rows(made([fillAt("2025-11-21T01:30:00Z", "BUY", "100")]), "statement");
    expect(row?.slice(0, 3)).toEqual(["2025-11-20", "2025-11-21", "T+1"]);
  });
  it("count settlement days: on Veterans Day the exchange trades and nothing settles", () => {
    const document = made([
      fillAt("2025-11-10T15:00:00Z", "BUY", "100"),
      fillAt("2025-11-11T15:00:00Z", "SELL", "101"),
    ]);
    expect(rows(document, "statement").map((row) => row.slice(0, 2))).toEqual([
      ["2025-11-10", "2025-11-12"],
      ["2025-11-11", "2025-11-12"],
    ]);
    expect(rows(document, "settlement_dates")).toEqual([
      ["2025-11-12", "2025-11-10, 2025-11-11", 2, "-1001", "1009", "8"],
    ]);
    // Bought on Monday, sold on Tuesday, paid for on Wednesday.
    expect(rows(document, "free_riding_lots").map((row) => row.at(-1))).toEqual(["settles 2025-11-12"]);
  });
  it("put gains into the year of the trade and cash into that of the settlement", () => {
    const fills = [fillAt("2025-12-30T15:00:00Z", "BUY", "100"), fillAt("2025-12-31T15:00:00Z", "SELL", "90")];
    expect(figure(made(fills), "short_term_net")).toBe("-102");
    expect(rows(made(fills, "2026"), "settlement_dates").map((row) => row.slice(0, 2))).toEqual([
      ["2026-01-02", "2025-12-31"],
    ]);
    expect(figure(made(fills, "2026"), "short_term_net")).toBe("0");
  });
});

describe("lots", () => {
  it("are long-term only after more than a year, by market dates", () => {
    const sold = (at: string) => made([fillAt("2024-11-19T15:00:00Z", "BUY", "100"), fillAt(at, "SELL", "110")]);
    // 01:00 UTC on the 20th is still the anniversary in New York.
    expect(figure(sold("2025-11-20T01:00:00Z"), "long_term_net")).toBe("0");
    expect(figure(sold("2025-11-20T15:00:00Z"), "long_term_net")).toBe("98");
  });
  it("with a loss are flagged when the symbol was bought within 30 days, before or after, but not for their own purchase", () => {
    const loss = [fillAt("2025-11-03T15:00:00Z", "BUY", "100"), fillAt("2025-11-10T15:00:00Z", "SELL", "90")];
    expect(figure(made(loss), "wash_sale_flags")).toBe(0);
    expect(figure(made([...loss, fillAt("2025-12-10T15:00:00Z", "BUY", "95")]), "wash_sale_flags")).toBe(1);
    expect(figure(made([...loss, fillAt("2025-12-11T15:00:00Z", "BUY", "95")]), "wash_sale_flags")).toBe(0);
    expect(figure(made([...loss, fillAt("2025-12-10T15:00:00Z", "BUY", "95", "BBB")]), "wash_sale_flags")).toBe(0);
  });
});

it("says what is pending at that moment", () => {
  const facts = reportFactsOf({ days: 20, tradesEvery: 4 });
  const input = { facts, factsSha256: factsHash(facts, sha256), start: "2025-01-01", end: "2025-12-31" };
  const document = settlementReport.build(input);
  // The last trades are of 2025-12-01, the day of the last value, and settle on the 2nd.
  expect(rows(document, "pending_trades").map((row) => row[1])).toEqual(["2025-12-02", "2025-12-02"]);
});
