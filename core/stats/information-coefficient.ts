// The skill of a signal: the rank correlation of what it said and what came after. Across symbols at one moment where there are enough of
// them; over time, symbol by symbol, where there are not.
import { mean } from "./moments.ts";
import { rankCorrelation } from "./rank-correlation.ts";

/** Fewer symbols than this have no order worth speaking of. */
export const symbolsMin = 5;
/** Over time: the newest so many moments count, and fewer than the least give no answer. */
export const momentsMax = 60;
const momentsMin = 20;

/** What a signal said of a symbol, and what the symbol returned afterwards. */
export interface RealisedSignal {
  readonly symbol: string;
  readonly value: number;
  readonly realised: number;
}

/** Of one moment, over its symbols; null with fewer than five or when one side is constant. */
export function acrossSymbols(moment: readonly RealisedSignal[]): number | null {
  if (moment.length < symbolsMin) return null;
  return rankCorrelation(
    moment.map(({ value }) => value),
    moment.map(({ realised }) => realised),
  );
}

/** Over the newest moments (oldest first), the mean over symbols; null while no symbol has enough of them. */
export function overTime(moments: readonly (readonly RealisedSignal[])[]): number | null {
  const bySymbol = new Map<string, RealisedSignal[]>();
  for (const moment of moments.slice(-momentsMax)) {
    for (const signal of moment) bySymbol.set(signal.symbol, [...(bySymbol.get(signal.symbol) ?? []), signal]);
  }
  const found = [...bySymbol.values()].flatMap((signals) => {
    if (signals.length < momentsMin) return [];
    const each = rankCorrelation(
      signals.map(({ value }) => value),
      signals.map(({ realised }) => realised),
    );
    return each === null ? [] : [each];
  });
  return mean(found);
}

/** The variant that fits a strategy with so many symbols. */
export function informationCoefficient(
  symbolCount: number,
  moments: readonly (readonly RealisedSignal[])[],
): number | null {
  return symbolCount < symbolsMin ? overTime(moments) : acrossSymbols(moments.at(-1) ?? []);
}
