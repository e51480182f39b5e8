// Weights of Brinson's split are those at the open: a position that doubled during the day counts with what it was when the day began.
import { expect, it } from "vitest";
import { reportFactsOf } from "../testkit/report-facts.ts";
import { booksOf } from "./books/books.ts";
import { brinsonSection } from "./brinson-section.ts";
import type { ReportFacts } from "./facts.ts";
import { attributedDays } from "./position-days.ts";

it("takes the weights at the open of the day, not those at its close", () => {
  const base = reportFactsOf({ days: 2, tradesEvery: 0, moves: 0 });
  const [first, second, third] = base.navs;
  if (first === undefined || second === undefined || third === undefined) throw new Error("no values");
  const closesOf = (...closes: readonly string[]) =>
    [first, second, third].map(({ day }, index) => ({ day, close: closes[index] ?? "" }));
  const valued = (nav: typeof first, positions: string) => ({
    ...nav,
    prices: null,
    cash: "900000",
    positions_value: positions,
    nav: String(900_000 + Number(positions)),
  });
  const facts: ReportFacts = {
    ...base,
    navs: [first, valued(second, "100000"), valued(third, "200000")],
    closes: { AAA: closesOf("100", "100", "200"), BBB: closesOf("100", "100", "100") },
    fills: [
      {
        fill_id: "f",
        order_id: "o",
        fund_id: "alpha",
        strategy_id: "s",
        symbol: "AAA",
        side: "BUY",
        quantity: "1000",
        price: "100",
        filled_at: `${second.day}T15:00:00Z`,
      },
    ],
  };
  const books = booksOf(facts, third.day, third.day).days;
  const sectorOf = (symbol: string): string => (symbol === "AAA" ? "technology" : "energy");
  const { section, active } = brinsonSection(facts, books, attributedDays(facts, books), sectorOf);
  const [table] = section.blocks;
  const row = table?.kind === "table" ? table.rows.find(([sector]) => sector === "technology") : undefined;
  // A tenth at the open against half of the universe, in a sector that did better by a half: (0.1 - 0.5) x (1 - 0.5).
  expect(row?.[1]).toBeCloseTo(-0.2, 12);
  expect(active).toBeCloseTo(0.1 - 0.5, 12);
});
