// The skill of a signal by horizon, from what it said after each close and what came after: IC(h) pairs the signal of a day with the return from that
// close to the one h days later. Means of overlapping returns get errors that know the overlap.
import { acrossSymbols, type RealisedSignal } from "../../core/stats/information-coefficient.ts";
import { leastSquares, neweyWestErrors } from "../../core/stats/linear-regression.ts";
import { mean, standardDeviation } from "../../core/stats/moments.ts";
import { rankCorrelation } from "../../core/stats/rank-correlation.ts";

const skillHorizons: readonly number[] = [1, 2, 3, 5, 8, 13, 21];

export interface SignalDay {
  readonly day: string;
  /** By symbol. */
  readonly values: ReadonlyMap<string, number>;
}

export interface HorizonSkill {
  readonly horizon: number;
  readonly mean: number | null;
  readonly n: number;
  /** Mean over an error that counts neighbours up to the horizon; null where there is none. */
  readonly t: number | null;
  /** Of the forward returns, over all days and symbols. */
  readonly deviation: number | null;
}

/** `axis` is every day with closes, ascending; a day without the close h days later is left out. */
export function skillByHorizon(
  signals: readonly SignalDay[],
  axis: readonly string[],
  closes: ReadonlyMap<string, ReadonlyMap<string, number>>,
): readonly HorizonSkill[] {
  const places = new Map(axis.map((day, index) => [day, index]));
  return skillHorizons.map((horizon) => {
    const forward: number[] = [];
    const daily = signals.flatMap(({ day, values }) => {
      const later = axis[(places.get(day) ?? Number.NaN) + horizon];
      if (later === undefined) return [];
      const moment = [...values].flatMap(([symbol, value]): RealisedSignal[] => {
        const [now, then] = [closes.get(symbol)?.get(day), closes.get(symbol)?.get(later)];
        if (now === undefined || then === undefined || !(now > 0)) return [];
        forward.push(then / now - 1);
        return [{ symbol, value, realised: then / now - 1 }];
      });
      const found = acrossSymbols(moment);
      return found === null ? [] : [found];
    });
    return {
      horizon,
      mean: mean(daily),
      n: daily.length,
      t: meanT(daily, horizon),
      deviation: standardDeviation(forward),
    };
  });
}

/** Of every h-th value: those do not overlap. Null of fewer than three. */
export function meanT(values: readonly number[], horizon: number): number | null {
  if (horizon > 1) {
    const apart = values.filter((_each, index) => index % horizon === 0);
    return meanT(apart, 1);
  }
  const fit = values.length < 3 ? null : leastSquares([values.map(() => 1)], values);
  const error = fit === null ? 0 : (neweyWestErrors(fit)[0] ?? 0);
  return error > 0 ? (fit?.coefficients[0] ?? 0) / error : null;
}

/** Rank correlation of what was said on neighbouring days, averaged; and the share of the better half that left it. */
export function signalTurnover(signals: readonly SignalDay[]): {
  readonly autocorrelation: number | null;
  readonly turnover: number | null;
} {
  const correlations: number[] = [];
  const left: number[] = [];
  for (const [index, today] of signals.entries()) {
    const before = signals[index - 1];
    if (before === undefined) continue;
    const shared = [...today.values.keys()].filter((symbol) => before.values.has(symbol));
    const [then, now] = [
      shared.map((symbol) => before.values.get(symbol) ?? 0),
      shared.map((symbol) => today.values.get(symbol) ?? 0),
    ];
    const found = shared.length < 3 ? null : rankCorrelation(then, now);
    if (found !== null) correlations.push(found);
    const [was, is] = [betterHalf(before), betterHalf(today)];
    if (is.size > 0) left.push([...is].filter((symbol) => !was.has(symbol)).length / is.size);
  }
  return { autocorrelation: mean(correlations), turnover: mean(left) };
}

function betterHalf({ values }: SignalDay): ReadonlySet<string> {
  const ranked = [...values].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return new Set(ranked.slice(0, Math.floor(ranked.length / 2)).map(([symbol]) => symbol));
}

/** One name has no order across symbols, whatever its backtest has. */
export const isSingle = (signals: readonly { readonly symbol: string }[] | undefined): boolean =>
  new Set(signals?.map(({ symbol }) => symbol)).size === 1;
