// What every position earned on every day of a period, from the books: the parts of each day sum to the change of NAV before flows. Income and
// what borrowing cost are their position's; what a ledger has without a symbol is a line of its own.
import * as decimal from "../contracts/src/decimal.ts";
import type { BookDay, BookLine } from "./books/books.ts";
import { signedQuantity } from "./books/books.ts";
import type { ReportFacts } from "./facts.ts";
import { compareText } from "./metrics/dates.ts";
import { type DayProfit, dayProfit, type PositionDay, type PositionProfit } from "./metrics/position-attribution.ts";

type Decimal = decimal.Decimal;

/** No symbol is written so. */
export const fundLine = "(income and borrow)";

export interface AttributedDay extends DayProfit {
  readonly day: string;
  /** closing - opening - flows, as treasury valued it. */
  readonly changed: Decimal;
  readonly bySymbol: ReadonlyMap<string, PositionProfit>;
}

export function attributedDays(facts: ReportFacts, days: readonly BookDay[]): readonly AttributedDay[] {
  const multipliers = new Map(facts.instruments.map((each) => [each.symbol, decimal.parse(each.multiplier)]));
  return days.map((day) => {
    const opened = new Map(day.openLines.map((line) => [line.symbol, line]));
    const closed = new Map(day.lines.map((line) => [line.symbol, line]));
    const traded = day.fills.map(({ symbol }) => symbol);
    const symbols = [...new Set([...opened.keys(), ...closed.keys(), ...traded, ...day.incomeBySymbol.keys()])];
    const positions = symbols
      .sort(compareText)
      .map((symbol) => positionDay(day, symbol, opened.get(symbol), closed.get(symbol), multipliers));
    const own = [...day.incomeBySymbol.values()].reduce(decimal.add, decimal.zero);
    const income = decimal.subtract(decimal.subtract(day.income, day.borrowFees), own);
    const found = dayProfit(day.opening, [...positions, ...(income === decimal.zero ? [] : [incomeOf(income)])]);
    return {
      ...found,
      day: day.day,
      changed: decimal.subtract(decimal.subtract(day.closing, day.opening), day.flows),
      bySymbol: new Map(found.positions.map((each) => [each.symbol, each])),
    };
  });
}

/** A position that was closed has no price at the end; its last trade's stands in, and falls out of the sum. */
function positionDay(
  day: BookDay,
  symbol: string,
  opened: BookLine | undefined,
  closed: BookLine | undefined,
  multipliers: ReadonlyMap<string, Decimal>,
): PositionDay {
  const fills = day.fills.filter((fill) => fill.symbol === symbol);
  const lastTrade = fills.at(-1)?.price;
  const openPrice = opened?.price ?? decimal.zero;
  const closePrice =
    closed?.price ?? (closed !== undefined || lastTrade === undefined ? decimal.zero : decimal.parse(lastTrade));
  return {
    symbol,
    openQuantity: opened?.quantity ?? decimal.zero,
    openPrice,
    closePrice,
    openRate: decimal.one,
    closeRate: decimal.one,
    trades: fills.map((fill) => ({
      quantity: signedQuantity(fill),
      price: decimal.parse(fill.price),
      fee: decimal.parse(fill.fee ?? "0"),
      isSplit: fill.kind === "CORPORATE_ACTION",
    })),
    income: day.incomeBySymbol.get(symbol) ?? decimal.zero,
    multiplier: multipliers.get(symbol) ?? decimal.one,
  };
}

const incomeOf = (income: Decimal): PositionDay => ({
  symbol: fundLine,
  openQuantity: decimal.zero,
  openPrice: decimal.zero,
  closePrice: decimal.zero,
  openRate: decimal.one,
  closeRate: decimal.one,
  trades: [],
  income,
  multiplier: decimal.one,
});
