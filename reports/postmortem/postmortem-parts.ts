// What a fall was made of, from below: every position's price move is split by its own loadings into market, factors and what is the position's own; trades,
// fees, funding and positions without a price are counted from fills, ledger and marks. None of them is the rest of the others: what they do not explain
// stays a finding.
import * as decimal from "../../contracts/src/decimal.ts";
import type { BookDay } from "../books/books.ts";
import { factorsOf } from "../factors.ts";
import type { ReportFacts } from "../facts.ts";
import { marketAxis, returnsOn } from "../market-days.ts";
import { factorFit } from "../metrics/regression.ts";
import { type AttributedDay, fundLine } from "../position-days.ts";

type Decimal = decimal.Decimal;

export const partNames = ["market", "factor", "selection", "slippage", "fees", "funding", "data_ops"] as const;
export type PartName = (typeof partNames)[number];

export interface FallParts {
  readonly parts: ReadonlyMap<PartName, Decimal>;
  /** Price moves by position, the largest loss first. */
  readonly bySymbol: readonly { readonly symbol: string; readonly amount: Decimal }[];
  /** Symbols without loadings: all of their move is their own. */
  readonly unloaded: readonly string[];
}

const perFactorMin = 10;
const toCents = (value: number): Decimal => decimal.parse(value.toFixed(2));

export function fallParts(
  facts: ReportFacts,
  books: readonly BookDay[],
  days: readonly AttributedDay[],
  start: string,
): FallParts {
  const factors = factorsOf(facts);
  const loadings = loadingsOf(facts, books, start);
  const sums = new Map<PartName, Decimal>(partNames.map((name) => [name, decimal.zero]));
  const add = (name: PartName, amount: Decimal) => sums.set(name, decimal.add(sums.get(name) ?? decimal.zero, amount));
  const symbols = new Map<string, Decimal>();
  for (const [index, book] of books.entries()) {
    const opened = new Map(book.openLines.map((line) => [line.symbol, line]));
    const closed = new Map(book.lines.map((line) => [line.symbol, line]));
    for (const each of days[index]?.positions ?? []) {
      add("slippage", each.trading);
      add("fees", each.fees);
      add("funding", each.income);
      if (each.symbol === fundLine) continue;
      symbols.set(each.symbol, decimal.add(symbols.get(each.symbol) ?? decimal.zero, each.price));
      const line = opened.get(each.symbol);
      if (line?.price === null || closed.get(each.symbol)?.price === null) {
        add("data_ops", each.price);
        continue;
      }
      const loading = loadings.get(each.symbol);
      const value = decimal.toNumber(line?.value ?? decimal.zero);
      const explained = factors.map((factor, at) =>
        toCents(value * (loading?.[at] ?? 0) * (factor.returns.get(book.day) ?? 0)),
      );
      const [market = decimal.zero, ...others] = explained;
      const factor = others.reduce(decimal.add, decimal.zero);
      add("market", market);
      add("factor", factor);
      // The position's own move: its prices against its own loadings, whatever NAV says.
      add("selection", decimal.subtract(decimal.subtract(each.price, market), factor));
    }
  }
  return {
    parts: sums,
    bySymbol: [...symbols]
      .map(([symbol, amount]) => ({ symbol, amount }))
      .sort((one, other) => decimal.compare(one.amount, other.amount)),
    // What was held at no open has no move of its own to split.
    unloaded: [...new Set(books.flatMap(({ openLines }) => openLines.map((line) => line.symbol)))].filter(
      (symbol) => !loadings.has(symbol),
    ),
  };
}

/** From closes before the fall where there are enough of them: it must not explain itself. */
function loadingsOf(
  facts: ReportFacts,
  books: readonly BookDay[],
  start: string,
): ReadonlyMap<string, readonly number[]> {
  const factors = factorsOf(facts);
  const axis = marketAxis(facts);
  const found = new Map<string, readonly number[]>();
  for (const symbol of new Set(books.flatMap(({ openLines }) => openLines.map((line) => line.symbol)))) {
    const known = [...returnsOn(axis, facts.closes[symbol] ?? [])].filter(([day]) =>
      factors.every(({ returns }) => returns.has(day)),
    );
    const before = known.filter(([day]) => day < start);
    const kept = before.length >= perFactorMin * factors.length ? before : known;
    if (factors.length === 0 || kept.length < perFactorMin * factors.length) continue;
    const rows = kept.map(([day]) => factors.map(({ returns }) => returns.get(day) ?? 0));
    const fit = factorFit(
      kept.map(([, each]) => each),
      rows,
      1,
    );
    if ("coefficients" in fit) found.set(symbol, fit.coefficients.slice(1));
  }
  return found;
}
