// What must be reserved and what may be on its way, as core/books.ts numbers it; the rest is shown on PostgreSQL by adapters/postgres/books-queries.test.ts.
import { describe, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import { parse } from "../contracts/src/instant.ts";
import type { BelievedLine, BooksLook, LiveOrder } from "../contracts/src/records/books.ts";
import { addLook, type BookTotals, compareBooks, noTotals } from "./books.ts";

const amount = decimal.parse;
const of = ["alpha", "AAPL"];
const empty: BooksLook = {
  marks: noTotals.marks,
  since: {
    fills: [],
    entries: [],
    foreignEntries: [],
    postings: [],
    journal: [{ of, amount: amount("10") }],
    foreignJournal: [{ of, amount: amount("10") }],
    rowCount: 0,
  },
  positions: [],
  liveOrders: [],
  holdings: [],
  strategyHoldings: [],
  balances: [],
  navs: [],
  newestEntries: [],
  instruments: [],
  newestJournal: [],
  unbooked: [],
  unheard: [],
  unbalanced: [],
  unequal: [],
};
const order = (orderId: string, remaining: string, isBuy = true): LiveOrder => ({
  orderId,
  fundId: "alpha",
  symbol: "AAPL",
  isBuy,
  remaining: amount(remaining),
});
const line = (quantity: string, pendingBuy = "0", pendingSell = "0"): BelievedLine => ({
  fundId: "alpha",
  symbol: "AAPL",
  quantity,
  pendingBuy,
  pendingSell,
});

function exposure(differs: Partial<BooksLook>, believed: BelievedLine, liveBefore: readonly LiveOrder[] = []) {
  const look = { ...empty, ...differs };
  const totals: BookTotals = addLook(noTotals, look);
  const moment = { at: parse("2026-11-15T12:00:00Z"), ledgerBefore: [] };
  const compared = compareBooks({ totals, look, believed: [believed], liveBefore, late: new Set(), ...moment });
  const { differences } = compared.exposure;
  return differences.map(({ sentence }) => sentence);
}

describe("5: exposure", () => {
  it("may be as it was before any of the newest trades, and nothing else", () => {
    const newestJournal = ["3", "-1", "4"].map((text) => ({ of, amount: amount(text) }));
    for (const behind of ["10", "6", "7", "4"]) expect(exposure({ newestJournal }, line(behind)), behind).toEqual([]);
    for (const wrong of ["3", "9", "13"]) {
      expect(exposure({ newestJournal }, line(wrong))).toEqual([
        `The risk engine believes alpha AAPL to be ${wrong}, and its record says 10.`,
      ]);
    }
  });

  it("is reserved for what was in the market before the engine spoke and still is, at the least of both", () => {
    const before = [order("a", "5"), order("b", "2", false), order("gone", "100")];
    const liveOrders = [order("a", "3"), order("b", "9", false), order("new", "100")];
    expect(exposure({ liveOrders }, line("10", "3", "2"), before)).toEqual([]);
    expect(exposure({ liveOrders }, line("10", "2.9", "1"), before)).toEqual([
      "Of alpha AAPL buy 2.9 is reserved and 3 may still trade.",
      "Of alpha AAPL sell 1 is reserved and 2 may still trade.",
    ]);
  });
});
