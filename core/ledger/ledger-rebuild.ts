// The ledger's sums made anew from its entries, pure, and where they differ from what is kept along the way.
//
//  1. Entries that were booked one after the other, in any order, keep exactly these sums.
//  2. What is kept plus the correction is what the entries add up to.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import { movesOf } from "./ledger.ts";

export interface Sums {
  readonly balances: readonly { readonly account: string; readonly currency: string; readonly amount: Decimal }[];
  readonly holdings: readonly { readonly symbol: string; readonly quantity: Decimal }[];
  readonly strategyHoldings: readonly {
    readonly strategyId: string;
    readonly symbol: string;
    readonly quantity: Decimal;
  }[];
}

/** What was kept and is not the sum of the entries; the symbol of cash and of balances is the currency. */
export interface SumDifference {
  readonly record: "BALANCE" | "HOLDING" | "STRATEGY_HOLDING";
  readonly account?: string;
  readonly strategyId?: string;
  readonly symbol: string;
  readonly kept: Decimal;
  readonly rebuilt: Decimal;
}

const separator = "\0";

/** Of the entries of one fund; nothing is listed that comes to zero. */
export function addUp(entries: readonly LedgerEntry[]): Sums {
  const balances = new Map<string, Decimal>();
  const holdings = new Map<string, Decimal>();
  const made = new Map<string, Decimal>();
  for (const entry of entries) {
    for (const { account, currency, amount } of entry.postings) addTo(balances, [account, currency], amount);
    for (const { symbol, quantity } of movesOf(entry)) {
      addTo(holdings, [symbol], quantity);
      if (entry.strategyId !== undefined) addTo(made, [entry.strategyId, symbol], quantity);
    }
  }
  return {
    balances: listed(balances, ([account = "", currency = ""], amount) => ({ account, currency, amount })),
    holdings: listed(holdings, ([symbol = ""], quantity) => ({ symbol, quantity })),
    strategyHoldings: listed(made, ([strategyId = "", symbol = ""], quantity) => ({ strategyId, symbol, quantity })),
  };
}

/** Balances first, each kind in its order. */
export function differencesOf(added: Sums, kept: Sums): readonly SumDifference[] {
  const found: SumDifference[] = [];
  const compare = <Row>(
    pair: readonly [readonly Row[], readonly Row[]],
    keyOf: (row: Row) => string,
    amountOf: (row: Row) => Decimal,
    shown: (row: Row) => Omit<SumDifference, "kept" | "rebuilt">,
  ): void => {
    const [rebuilt, before] = pair.map((rows) => new Map(rows.map((row) => [keyOf(row), row] as const)));
    const keys = [...new Set([...(rebuilt?.keys() ?? []), ...(before?.keys() ?? [])])].sort();
    for (const key of keys) {
      const row = rebuilt?.get(key) ?? before?.get(key);
      if (row === undefined) continue;
      const is = amountIn(before?.get(key), amountOf);
      const should = amountIn(rebuilt?.get(key), amountOf);
      if (is !== should) found.push({ ...shown(row), kept: is, rebuilt: should });
    }
  };
  compare(
    [added.balances, kept.balances],
    ({ account, currency }) => account + separator + currency,
    ({ amount }) => amount,
    ({ account, currency }) => ({ record: "BALANCE", account, symbol: currency }),
  );
  compare(
    [added.holdings, kept.holdings],
    ({ symbol }) => symbol,
    ({ quantity }) => quantity,
    ({ symbol }) => ({ record: "HOLDING", symbol }),
  );
  compare(
    [added.strategyHoldings, kept.strategyHoldings],
    ({ strategyId, symbol }) => strategyId + separator + symbol,
    ({ quantity }) => quantity,
    ({ strategyId, symbol }) => ({ record: "STRATEGY_HOLDING", strategyId, symbol }),
  );
  return found;
}

/** What has to be added to what is kept. */
export function correctionsOf(differences: readonly SumDifference[]): Sums {
  const by = ({ kept, rebuilt }: SumDifference): Decimal => decimal.subtract(rebuilt, kept);
  const of = (record: SumDifference["record"]): readonly SumDifference[] =>
    differences.filter((one) => one.record === record);
  return {
    balances: of("BALANCE").map((one) => ({ account: one.account ?? "", currency: one.symbol, amount: by(one) })),
    holdings: of("HOLDING").map((one) => ({ symbol: one.symbol, quantity: by(one) })),
    strategyHoldings: of("STRATEGY_HOLDING").map((one) => ({
      strategyId: one.strategyId ?? "",
      symbol: one.symbol,
      quantity: by(one),
    })),
  };
}

function amountIn<Row>(row: Row | undefined, amountOf: (row: Row) => Decimal): Decimal {
  return row === undefined ? decimal.zero : amountOf(row);
}

function addTo(sums: Map<string, Decimal>, parts: readonly string[], amount: Decimal): void {
  const key = parts.join(separator);
  sums.set(key, decimal.add(sums.get(key) ?? decimal.zero, amount));
}

function listed<Row>(
  sums: ReadonlyMap<string, Decimal>,
  make: (parts: readonly string[], amount: Decimal) => Row,
): readonly Row[] {
  const kept = [...sums].filter(([, amount]) => amount !== decimal.zero);
  kept.sort(([one], [other]) => (one < other ? -1 : 1));
  return kept.map(([key, amount]) => make(key.split(separator), amount));
}
