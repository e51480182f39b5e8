// What must be reserved and what may be on its way, as core/reconcile/books.ts numbers it; the rest is shown on PostgreSQL by adapters/postgres/queries/books-queries.test.ts.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { parse } from "../../contracts/src/instant.ts";
import type { BelievedApproval, BelievedLine, BooksLook, LiveOrder } from "../../contracts/src/records/books.ts";
import { addLook, type BookTotals, type Comparison, compareBooks, noTotals } from "./books.ts";

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
  knownOrders: [],
  holdings: [],
  strategyHoldings: [],
  balances: [],
  navs: [],
  newestEntries: [],
  due: [],
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

function exposure(
  differs: Partial<BooksLook>,
  believed: BelievedLine,
  liveBefore: readonly LiveOrder[] = [],
  engine: Pick<Comparison, "approvals" | "overReserved"> = { approvals: [], overReserved: new Set() },
) {
  const look = { ...empty, ...differs };
  const totals: BookTotals = addLook(noTotals, look);
  const moment = { at: parse("2026-11-15T12:00:00Z"), ledgerBefore: [], late: new Set<string>() };
  const compared = compareBooks({ totals, look, believed: [believed], liveBefore, ...engine, ...moment });
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

describe("22.2: what is reserved for nothing", () => {
  const held = (orderId: string, reserved: string, more: Partial<BelievedApproval> = {}): BelievedApproval => ({
    orderId,
    fundId: "alpha",
    strategyId: "alpha-momentum",
    symbol: "AAPL",
    reserved: amount(reserved),
    state: "SENT",
    askedBy: undefined,
    isExit: false,
    unsent: undefined,
    ...more,
  });
  const unsent = (validUntil: string, expiresAt: string) => ({
    unsent: { validUntil: parse(`2026-11-15T${validUntil}Z`), expiresAt: parse(`2026-11-15T${expiresAt}Z`) },
  });
  const judged = (approval: BelievedApproval, mayTrade: string | undefined, lasts = true) =>
    exposure(
      { knownOrders: mayTrade === undefined ? [] : [{ orderId: approval.orderId, mayTrade: amount(mayTrade) }] },
      line("10"),
      [],
      { approvals: [approval], overReserved: new Set(lasts ? [approval.orderId] : []) },
    );

  it("is a difference when the order has ended or may trade less, and that lasts", () => {
    expect(judged(held("a", "5"), "5")).toEqual([]);
    expect(judged(held("a", "5"), "0")).toEqual([
      "5 AAPL of alpha is reserved for the order a, and 0 may still trade.",
    ]);
    expect(judged(held("a", "5"), "4.9")).toHaveLength(1);
    expect(judged(held("a", "5"), "0", false)).toEqual([]);
  });

  it("is none for somebody else's order, which only its own system knows", () => {
    expect(judged(held("foreign", "5"), undefined)).toEqual([]);
  });

  it("is a difference for an approval that nobody sent, after the engine's own time and at the latest after five minutes", () => {
    expect(judged(held("a", "5", unsent("11:59:20", "11:59:51")), undefined)).toEqual([]);
    expect(judged(held("a", "5", unsent("11:59:19", "11:59:49")), undefined)).toEqual([
      "5 AAPL of alpha is reserved for the order a, which nobody sent by 2026-11-15T11:59:19.000000Z.",
    ]);
    // Its time stands still, because the engine does not hear of orders.
    expect(judged(held("a", "5", unsent("11:55:01", "12:00:30")), undefined)).toEqual([]);
    expect(judged(held("a", "5", unsent("11:54:59", "12:00:30")), undefined)).toHaveLength(1);
  });
});
