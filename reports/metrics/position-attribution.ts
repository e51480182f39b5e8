// What each position earned in a day, in exact money: the move of what was held at the open, the move of its currency, what was traded during the day
// marked to the close, fees, and income. The sum over positions is the day's change of NAV before flows.
import * as decimal from "../../contracts/src/decimal.ts";
import { sum } from "../../core/stats/moments.ts";
import { compounded, linkingFactors } from "./linking.ts";

type Decimal = decimal.Decimal;

interface DayTrade {
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fee: Decimal;
  /** What a split brought or took is no trade: with the move of the price it is what it was. */
  readonly isSplit?: boolean;
}

export interface PositionDay {
  readonly symbol: string;
  /** Signed, before the day's trades. */
  readonly openQuantity: Decimal;
  readonly openPrice: Decimal;
  readonly closePrice: Decimal;
  /** The fund's currency per unit of the instrument's. */
  readonly openRate: Decimal;
  readonly closeRate: Decimal;
  readonly trades: readonly DayTrade[];
  /** Dividends, borrow and funding, in the instrument's currency; above zero is received. */
  readonly income: Decimal;
  readonly multiplier: Decimal;
}

export interface PositionProfit {
  readonly symbol: string;
  readonly price: Decimal;
  readonly currency: Decimal;
  readonly trading: Decimal;
  /** Zero or below. */
  readonly fees: Decimal;
  readonly income: Decimal;
  readonly total: Decimal;
}

const product = (...factors: readonly Decimal[]): Decimal =>
  factors.reduce((result, factor) => decimal.multiply(result, factor, "half-even"), decimal.one);
const totalOf = (amounts: readonly Decimal[]): Decimal => amounts.reduce(decimal.add, decimal.zero);

function positionProfit(day: PositionDay): PositionProfit {
  const { openQuantity, openPrice, closePrice, openRate, closeRate, multiplier } = day;
  const marked = (trades: readonly DayTrade[]): Decimal =>
    totalOf(
      trades.map((trade) => product(trade.quantity, decimal.subtract(closePrice, trade.price), closeRate, multiplier)),
    );
  const split = marked(day.trades.filter(({ isSplit }) => isSplit === true));
  const moved = product(openQuantity, decimal.subtract(closePrice, openPrice), openRate, multiplier);
  const price = decimal.add(moved, split);
  const currency = product(openQuantity, closePrice, decimal.subtract(closeRate, openRate), multiplier);
  const trading = marked(day.trades.filter(({ isSplit }) => isSplit !== true));
  const fees = decimal.negate(totalOf(day.trades.map((trade) => product(trade.fee, closeRate))));
  const income = product(day.income, closeRate);
  return {
    symbol: day.symbol,
    price,
    currency,
    trading,
    fees,
    income,
    total: totalOf([price, currency, trading, fees, income]),
  };
}

export interface DayProfit {
  readonly positions: readonly PositionProfit[];
  readonly total: Decimal;
  readonly openNav: Decimal;
  readonly closeNav: Decimal;
  /** Null where there was no value to earn on. */
  readonly return: number | null;
}

export function dayProfit(openNav: Decimal, positions: readonly PositionDay[]): DayProfit {
  const profits = positions.map(positionProfit);
  const total = totalOf(profits.map((each) => each.total));
  return {
    positions: profits,
    total,
    openNav,
    closeNav: decimal.add(openNav, total),
    return: contribution(total, openNav),
  };
}

export const contribution = (amount: Decimal, openNav: Decimal): number | null =>
  openNav > 0n ? decimal.toNumber(amount) / decimal.toNumber(openNav) : null;

interface LinkedContributions {
  readonly total: number;
  readonly bySymbol: ReadonlyMap<string, number>;
  readonly sum: number;
}

/** Contributions over all days, which sum to the compounded return. Null where a day has no return, or after a total loss. */
export function linkedContributions(days: readonly DayProfit[]): LinkedContributions | null {
  const returns = days.flatMap((day) => (day.return === null ? [] : [day.return]));
  const factors = returns.length === days.length ? linkingFactors(returns) : null;
  if (factors === null) return null;
  const rows = new Map<string, number[]>();
  for (const [index, day] of days.entries()) {
    for (const each of day.positions) {
      const row = rows.get(each.symbol) ?? [];
      row.push((contribution(each.total, day.openNav) ?? 0) * (factors[index] ?? 0));
      rows.set(each.symbol, row);
    }
  }
  const bySymbol = new Map([...rows].map(([symbol, row]) => [symbol, sum(row)]));
  return { total: compounded(returns), bySymbol, sum: sum([...bySymbol.values()]) };
}
