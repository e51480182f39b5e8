// What positions come to together: by strategy, by symbol and in all. Longs and shorts stand against each other in a value and add up in gross. Amounts are
// exact; a position without a value is in no sum, and the sum names its symbol.
import * as decimal from "../../contracts/src/decimal.ts";
import { sum } from "../stats/moments.ts";

export interface HeldCell {
  readonly strategyId: string;
  readonly symbol: string;
  readonly quantity: decimal.Decimal;
  /** In the fund's currency; absent when nobody knows. */
  readonly worth?: { readonly value: decimal.Decimal; readonly unrealisedPnl: decimal.Decimal };
}

export interface HeldSum {
  /** Absent when something is held and nothing of it has a value. */
  readonly worth?: {
    readonly value: decimal.Decimal;
    readonly gross: decimal.Decimal;
    readonly unrealisedPnl: decimal.Decimal;
  };
  readonly quantity: decimal.Decimal;
  /** Symbols without a value, each once and in order. */
  readonly without: readonly string[];
}

export function sumOf(cells: readonly HeldCell[]): HeldSum {
  let [value, gross, unrealisedPnl, quantity] = [decimal.zero, decimal.zero, decimal.zero, decimal.zero];
  const without = new Set<string>();
  for (const cell of cells) {
    quantity = decimal.add(quantity, cell.quantity);
    if (cell.worth === undefined) {
      without.add(cell.symbol);
      continue;
    }
    value = decimal.add(value, cell.worth.value);
    gross = decimal.add(gross, decimal.abs(cell.worth.value));
    unrealisedPnl = decimal.add(unrealisedPnl, cell.worth.unrealisedPnl);
  }
  const isKnown = cells.length === 0 || cells.some(({ worth }) => worth !== undefined);
  return { ...(isKnown && { worth: { value, gross, unrealisedPnl } }), quantity, without: [...without].sort() };
}

/** In order of what they are summed by. */
export function sumsBy(
  cells: readonly HeldCell[],
  key: (cell: HeldCell) => string,
): readonly (readonly [string, HeldSum])[] {
  const byKey = new Map<string, HeldCell[]>();
  for (const cell of cells) {
    const of = byKey.get(key(cell));
    if (of === undefined) byKey.set(key(cell), [cell]);
    else of.push(cell);
  }
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, of]) => [name, sumOf(of)]);
}

/** Herfindahl's index of what is held by symbol, as reports have it: the sum of the squares of their shares of gross; undefined where there is none. */
export function concentrationOf(bySymbol: readonly HeldSum[]): number | undefined {
  const values = bySymbol.flatMap(({ worth }) =>
    worth === undefined ? [] : [decimal.toNumber(decimal.abs(worth.value))],
  );
  const gross = sum(values);
  return gross === 0 ? undefined : sum(values.map((value) => (value / gross) ** 2));
}
