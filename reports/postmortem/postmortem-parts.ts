// What a fall was made of, from below: every position's price move is split by its own loadings into market, factors and what is the position's own; trades,
// fees, funding and positions without a price are counted from fills, ledger and marks. None of them is the rest of the others: what they do not explain
// stays a finding. A trade slipped by what its price differed from the middle of bid and ask at that moment; what its price did afterwards, until the day was
// valued, is a move of the position like any other.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { type BookDay, signedQuantity } from "../books/books.ts";
import { factorsOf } from "../factors.ts";
import type { ReportFacts } from "../facts.ts";
import { marketAxis, returnsOn } from "../market-days.ts";
import { factorFit } from "../metrics/regression.ts";
import { type AttributedDay, fundLine } from "../position-days.ts";
import { middle } from "../tca-spreads.ts";

type Decimal = decimal.Decimal;

export const partNames = ["market", "factor", "selection", "slippage", "fees", "funding", "data_ops"] as const;
export type PartName = (typeof partNames)[number];

export interface FallParts {
  readonly parts: ReadonlyMap<PartName, Decimal>;
  /** Price moves by position, what was traded from its trade on; the largest loss first. */
  readonly bySymbol: readonly { readonly symbol: string; readonly amount: Decimal }[];
  /** Symbols without loadings: all of their move is their own. */
  readonly unloaded: readonly string[];
  /** Trades without a kept quote, of which nobody can say how much of their effect was slippage. */
  readonly unquoted: number;
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
  const moved = (symbol: string, amount: Decimal) =>
    symbols.set(symbol, decimal.add(symbols.get(symbol) ?? decimal.zero, amount));
  const multipliers = new Map(facts.instruments.map((each) => [each.symbol, decimal.parse(each.multiplier)]));
  let unquoted = 0;
  for (const [index, book] of books.entries()) {
    const opened = new Map(book.openLines.map((line) => [line.symbol, line]));
    const closed = new Map(book.lines.map((line) => [line.symbol, line]));
    for (const each of days[index]?.positions ?? []) {
      add("fees", each.fees);
      add("funding", each.income);
      if (each.symbol === fundLine) continue;
      const line = opened.get(each.symbol);
      if (line?.price === null || closed.get(each.symbol)?.price === null) {
        moved(each.symbol, decimal.add(each.price, each.trading));
        add("data_ops", decimal.add(each.price, each.trading));
        continue;
      }
      const trades = book.fills.filter(({ symbol, kind }) => symbol === each.symbol && kind !== "CORPORATE_ACTION");
      const slipped = slippageOf(facts, trades, multipliers.get(each.symbol) ?? decimal.one);
      const afterwards = decimal.subtract(each.trading, slipped.amount);
      unquoted += slipped.unquoted;
      add("slippage", slipped.amount);
      add("selection", afterwards);
      moved(each.symbol, decimal.add(each.price, afterwards));
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
    unquoted,
  };
}

/** Below zero where trades were dearer than the middle of bid and ask. */
function slippageOf(facts: ReportFacts, trades: readonly Fill[], multiplier: Decimal) {
  let [amount, unquoted] = [decimal.zero, 0];
  for (const trade of trades) {
    const quote = facts.fill_quotes?.[trade.fill_id]?.at_fill;
    if (quote === undefined || quote === null) {
      unquoted += 1;
      continue;
    }
    const better = decimal.subtract(middle(quote), decimal.parse(trade.price));
    const quantity = decimal.multiply(signedQuantity(trade), multiplier, "half-even");
    amount = decimal.add(amount, decimal.multiply(quantity, better, "half-even"));
  }
  return { amount, unquoted };
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
