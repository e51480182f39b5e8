// A strategy whose symbols are called otherwise by now: it goes on thinking in the names that it was written with, and everybody else hears the new ones.
import type { Strategy, StrategyInput } from "./shape.ts";

/** From the name that the strategy was written with to the name of now. */
export type Names = ReadonlyMap<string, string>;

export function renamedStrategy(strategy: Strategy, names: Names): Strategy {
  if (names.size === 0) return strategy;
  const now = (symbol: string): string => names.get(symbol) ?? symbol;
  const written = new Map([...names].map(([before, after]) => [after, before]));
  const then = (symbol: string): string => written.get(symbol) ?? symbol;
  const inOldNames = <Value>(values: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> =>
    new Map([...values].map(([symbol, value]) => [then(symbol), value]));
  const oldInstruments = (instruments: StrategyInput["instruments"]): StrategyInput["instruments"] =>
    new Map(
      [...instruments.values()].map((one) => {
        const { underlying } = one;
        const renamed = { ...one, symbol: then(one.symbol) };
        return [renamed.symbol, underlying === undefined ? renamed : { ...renamed, underlying: then(underlying) }];
      }),
    );
  return {
    ...strategy,
    watches: (instruments) => strategy.watches(oldInstruments(instruments)).map(now),
    signalled: strategy.signalled.map(now),
    judge(input) {
      const { signals, targets } = strategy.judge({
        ...input,
        closes: inOldNames(input.closes),
        prices: inOldNames(input.prices),
        positions: inOldNames(input.positions),
        instruments: oldInstruments(input.instruments),
      });
      return {
        signals: signals.map((one) => ({ ...one, symbol: now(one.symbol) })),
        targets: targets.map((one) => ({ ...one, symbol: now(one.symbol) })),
      };
    },
  };
}
