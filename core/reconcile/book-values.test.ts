// A value is recomputed from the ledger and its prices, as book-values.ts numbers it.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { BooksLook, LedgerMark, NewestEntry, StoredNav } from "../../contracts/src/records/books.ts";
import { compareValues, valueAgeMsMax } from "./book-values.ts";

const amount = decimal.parse;
const asOf = parse("2026-11-15T12:00:00Z");
const held = (symbol: string, text: string) => ({ of: ["alpha", symbol], amount: amount(text) });
const priced = (symbol: string, quantity: string, price: string) => ({
  symbol,
  quantity: amount(quantity),
  price: amount(price),
});

/** 10 shares, 2 options of 100 in euros, and money in both currencies. */
const nav: StoredNav = {
  fundId: "alpha",
  currency: "USD",
  asOf,
  cash: amount("1110"),
  positionsValue: amount("3320"),
  nav: amount("4430"),
  prices: [priced("AAPL", "10", "200"), priced("CALL", "2", "6")],
  rates: new Map([["EUR", amount("1.1")]]),
};
const look = {
  navs: [nav],
  holdings: [held("AAPL", "10"), held("CALL", "2"), held("USD", "1000"), held("EUR", "100")],
  balances: ["USD", "EUR"].map((currency) => ({ of: ["alpha", "cash", currency], amount: decimal.zero })),
  instruments: [
    { symbol: "AAPL", currency: "USD", multiplier: "1" },
    { symbol: "CALL", currency: "EUR", multiplier: "100" },
  ],
  newestEntries: [] as readonly NewestEntry[],
  due: [],
} as unknown as BooksLook;

function compared(
  differs: Partial<StoredNav>,
  books: Partial<BooksLook> = {},
  ledgerBefore: readonly LedgerMark[] = [],
  ageMs = 500,
) {
  const given = { ...look, ...books, navs: [{ ...nav, ...differs }] };
  return compareValues({ look: given, at: plusMilliseconds(asOf, ageMs), ledgerBefore });
}
const sentences = (...given: Parameters<typeof compared>) =>
  compared(...given).differences.map(({ sentence }) => sentence);

describe("a fund's newest value", () => {
  it("1: is its parts, and its positions are what quantities and prices make", () => {
    expect(compared({})).toEqual({ compared: 1, differences: [], notCompared: [] });
    expect(sentences({ nav: amount("4430.000000000000000001") })).toEqual([
      "alpha is valued 4430.000000000000000001, its parts are 1110 + 3320 = 4430.",
    ]);
    // Everything at half its price, adding up all the same.
    expect(sentences({ positionsValue: amount("1660"), nav: amount("2770") })).toEqual([
      "alpha is valued with positions worth 1660, quantities and prices make 3320.",
    ]);
  });

  it("24: counts what is due of a dividend as cash from its going ex until it is paid, exactly", () => {
    const due = { fundId: "alpha", currency: "EUR", amount: amount("26.26"), paidAt: undefined };
    const owed = { ...due, currency: "USD", amount: amount("-10.53") };
    const other = { ...due, fundId: "beta" };
    const withDue = { cash: amount("1128.356"), nav: amount("4448.356") };
    expect(sentences(withDue, { due: [due, owed, other] })).toEqual([]);
    expect(sentences(withDue, { due: [] })[0]).toContain("cash of 1128.356, the ledger has 1110");
    expect(sentences({}, { due: [due] })[0]).toContain("cash of 1110, the ledger has 1138.886");
    // Paid since: the value of before has it as due, and the entry is undone; the value of after has it as cash.
    const holdings = [held("AAPL", "10"), held("CALL", "2"), held("USD", "989.47"), held("EUR", "100")];
    const entry = { fundId: "alpha", number: 8, moves: [{ symbol: "USD", amount: amount("-10.53") }] };
    const paid = { cash: amount("1099.47"), nav: amount("4419.47") };
    for (const ms of [-1, 1]) {
      const books = { holdings, newestEntries: [entry], due: [{ ...owed, paidAt: plusMilliseconds(asOf, ms) }] };
      expect(sentences(paid, books)).toEqual([]);
    }
  });

  it("2: is of what the ledger holds, or held before what was booked since, cash and quantities together", () => {
    const now = [held("AAPL", "12"), held("CALL", "2"), held("USD", "600"), held("EUR", "100")];
    const bought = {
      fundId: "alpha",
      number: 8,
      moves: [priced("AAPL", "2", "0"), priced("USD", "-400", "0")].map(({ symbol, quantity }) => ({
        symbol,
        amount: quantity,
      })),
    };
    expect(sentences({}, { holdings: now })).toEqual(["alpha is valued with 10 AAPL, the ledger has 12."]);
    expect(sentences({}, { holdings: now, newestEntries: [bought] })).toEqual([]);
    // Cash of one moment and quantities of another are no moment at all.
    expect(sentences({ cash: amount("710"), nav: amount("4030") }, { holdings: now, newestEntries: [bought] })).toEqual(
      ["alpha is valued with 10 AAPL, the ledger has 12."],
    );
    expect(sentences({ cash: amount("1110.01"), nav: amount("4430.01") })).toEqual([
      "alpha is valued with cash of 1110.01, the ledger has 1110.",
    ]);
    // What was booked more than a second before the value has to be in it.
    const marks = (beforeMs: number) => [{ at: plusMilliseconds(asOf, -beforeMs), entries: 8 }];
    expect(sentences({}, { holdings: now, newestEntries: [bought] }, marks(999))).toEqual([]);
    expect(sentences({}, { holdings: now, newestEntries: [bought] }, marks(1_000))).toHaveLength(1);
  });

  it("3: is not compared when it is old or came without its prices, and that is said", () => {
    const wrong = { positionsValue: amount("1660"), nav: amount("2770") };
    expect(compared(wrong, {}, [], valueAgeMsMax).differences).toHaveLength(1);
    expect(compared(wrong, {}, [], valueAgeMsMax + 1_000)).toEqual({
      compared: 0,
      differences: [],
      notCompared: ["The newest value of alpha is 11 s old."],
    });
    expect(compared({ ...wrong, prices: undefined }).notCompared).toEqual([
      "The newest value of alpha has no prices with it.",
    ]);
    expect(compared({ nav: amount("1") }, {}, [], valueAgeMsMax + 1_000).differences).toHaveLength(1);
  });
});
