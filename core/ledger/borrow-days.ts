// What a fund had borrowed at the end of a day, and what that cost. Pure: the same trades are the same fees, whenever they are reckoned.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { borrowFeeOfDay, cost, sharesOf } from "./ledger.ts";

/** A quantity of a symbol that a strategy holds, or that it traded. */
interface StrategyQuantity {
  readonly strategyId: string;
  readonly symbol: string;
  readonly quantity: Decimal;
}

/** A short position of a fund, and the strategies that were short of it. */
export interface BorrowedSymbol {
  readonly symbol: string;
  /** Negative. */
  readonly quantity: Decimal;
  /** In order of their names. */
  readonly strategies: readonly { readonly strategyId: string; readonly quantity: Decimal }[];
}

interface BorrowTerms {
  readonly price: string;
  /** Yearly, as a fraction. */
  readonly fee_pct: string;
  readonly multiplier: string;
}

/** What the fund was short of before these trades, in order of symbol; the rest nets out within the fund's one account. */
export function borrowedAt(
  held: readonly StrategyQuantity[],
  tradedSince: readonly StrategyQuantity[],
): readonly BorrowedSymbol[] {
  const symbols = new Map<string, Map<string, Decimal>>();
  const add = ({ symbol, strategyId, quantity }: StrategyQuantity): void => {
    const of = symbols.get(symbol) ?? new Map<string, Decimal>();
    of.set(strategyId, decimal.add(of.get(strategyId) ?? decimal.zero, quantity));
    symbols.set(symbol, of);
  };
  for (const one of held) add(one);
  for (const one of tradedSince) add({ ...one, quantity: decimal.negate(one.quantity) });
  const borrowed: BorrowedSymbol[] = [];
  for (const [symbol, of] of symbols) {
    const quantity = [...of.values()].reduce<Decimal>(decimal.add, decimal.zero);
    if (quantity >= decimal.zero) continue;
    const strategies = [...of]
      .filter(([, own]) => own < decimal.zero)
      .map(([strategyId, own]) => ({ strategyId, quantity: own }))
      .sort((one, other) => (one.strategyId < other.strategyId ? -1 : 1));
    borrowed.push({ symbol, quantity, strategies });
  }
  return borrowed.sort((one, other) => (one.symbol < other.symbol ? -1 : 1));
}

/** Each strategy's share of one day's fee; those that come to nothing are left out. */
export function feesOfDay({ quantity, strategies }: BorrowedSymbol, terms: BorrowTerms): ReadonlyMap<string, Decimal> {
  const value = cost(quantity, terms.multiplier, decimal.parse(terms.price));
  const fee = borrowFeeOfDay(value, decimal.parse(terms.fee_pct));
  const shares = sharesOf(
    fee,
    strategies.map((one) => decimal.abs(one.quantity)),
  );
  const each = strategies.map(({ strategyId }, index) => [strategyId, shares[index] ?? decimal.zero] as const);
  return new Map(each.filter(([, share]) => share !== decimal.zero));
}
