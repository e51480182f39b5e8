// That the second bookkeeping can count, and that it notices.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Entry, exact, keepSecondBooks, type ReportedValue, text, wrongWithValue } from "./second-books.ts";

const instruments = [
  { symbol: "AAPL", currency: "USD", multiplier: "1" },
  { symbol: "SPY 281215C00650000", currency: "USD", multiplier: "100" },
  { symbol: "SAP", currency: "EUR", multiplier: "1" },
];
const about = { fund_id: "alpha", strategy_id: "s" };
const entries: readonly Entry[] = [
  { kind: "cash", reported: { entry_id: "c", fund_id: "alpha", currency: "USD", amount: "1000.10" } },
  {
    kind: "fill",
    reported: { ...about, fill_id: "1", symbol: "AAPL", side: "BUY", quantity: "3", price: "10.05", fee: "0.01" },
  },
  {
    kind: "fill",
    reported: { ...about, fill_id: "1", symbol: "AAPL", side: "BUY", quantity: "3", price: "10.05", fee: "0.01" },
  },
  {
    kind: "fill",
    reported: {
      ...about,
      fill_id: "2",
      symbol: "SPY 281215C00650000",
      side: "SELL_SHORT",
      quantity: "1",
      price: "2.5",
    },
  },
  { kind: "fill", reported: { ...about, fill_id: "3", symbol: "SAP", side: "BUY", quantity: "2", price: "100.5" } },
  { kind: "exchange", from: "AAPL", to: "AAPL", times: "4", per: "1" },
];
const right: ReportedValue = {
  fund_id: "alpha",
  nav: "1232.38",
  currency: "USD",
  // 1000.10 - 30.15 - 0.01 + 250, and 201 euros at 1.1.
  cash: "998.84",
  positions_value: "233.54",
  prices: {
    AAPL: { quantity: "12", price: "2.52" },
    "SPY 281215C00650000": { quantity: "-1", price: "0.2" },
    SAP: { quantity: "2", price: "101.5" },
  },
  rates: { EUR: { rate: "1.1" } },
};

describe("the second bookkeeping", () => {
  it("imports nothing", () => {
    const source = readFileSync(new URL("./second-books.ts", import.meta.url), "utf8");
    expect(source).not.toMatch(/\bimport\b[^\w ]|from "|require\(/);
  });

  it("counts trades once, fees, multipliers, currencies and an exchange of shares", () => {
    const books = keepSecondBooks(instruments, entries);
    expect(Object.fromEntries(books.positions)).toEqual({
      "alpha AAPL": "12",
      "alpha SPY 281215C00650000": "-1",
      "alpha SAP": "2",
    });
    expect(Object.fromEntries(books.cash)).toEqual({ "alpha USD": "1219.94", "alpha EUR": "-201" });
  });

  it("finds nothing wrong with a value that is right", () => {
    const books = keepSecondBooks(instruments, entries);
    expect(wrongWithValue(instruments, right, books)).toEqual([]);
  });

  it.each<[string, Partial<ReportedValue>, RegExp]>([
    ["the last digit of the cash", { cash: "998.85", nav: "1232.39" }, /cash was reported as 998.85 and is 998.84/],
    ["a sum", { nav: "1232.39" }, /nav was reported as/],
    ["a price", { prices: { ...right.prices, SAP: { quantity: "2", price: "101.51" } } }, /positions_value/],
    ["a quantity", { prices: { ...right.prices, AAPL: { quantity: "13", price: "2.52" } } }, /the position in AAPL/],
    [
      "a position that is left out",
      { prices: { AAPL: right.prices["AAPL"] ?? { quantity: "", price: "" } } },
      /leaves them out/,
    ],
  ])("notices %s", (_what, changed, sentence) => {
    const wrong = wrongWithValue(instruments, { ...right, ...changed }, keepSecondBooks(instruments, entries));
    expect(wrong.join(" ")).toMatch(sentence);
  });

  it("writes numbers as they are", () => {
    for (const same of ["0", "-0.05", "123.4", "100000000000000000000.000000000000000001"]) {
      expect(text(exact(same))).toBe(same);
    }
    expect(() => exact("1e5")).toThrow("no decimal number");
  });
});
