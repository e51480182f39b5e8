// In which kind of market each day of a period lies, by the volatility of the days before it: one answer for every report that asks.
import type { ReportFacts } from "./facts.ts";
import { type DatedReturns, marketAxis, returnsOn } from "./market-days.ts";
import { type Regime, volatilityRegimes } from "./metrics/regimes.ts";

export const volatilityWindow = 20;
/** As many volatilities before the period as its cuts may be taken from. */
const cutsMin = 60;

export const labelNames: Readonly<Record<Regime, string>> = {
  low: "calm",
  mid: "middle",
  high: "turbulent",
  warmup: "no label",
};

export interface Labels {
  readonly labels: readonly Regime[];
  readonly cuts: readonly [number, number] | null;
  readonly from: "before the period" | "the period itself";
}

/** Terciles of the volatility before the period, where there is enough of it. */
export function volatilityLabels(facts: ReportFacts, days: readonly string[], start: string): Labels {
  const { periods_per_year: perYear } = facts.fund;
  const axis = marketAxis(facts);
  const market: DatedReturns = facts.benchmark === null ? new Map() : returnsOn(axis, facts.benchmark.closes);
  const known = axis.filter((day) => market.has(day));
  const row = known.map((day) => market.get(day) ?? 0);
  const past = row.slice(0, known.filter((day) => day < start).length);
  const before = volatilityRegimes(past, volatilityWindow, perYear);
  const isEnough = past.length - volatilityWindow >= cutsMin && before.cuts !== null;
  const own = volatilityRegimes(row.slice(Math.max(0, past.length - volatilityWindow)), volatilityWindow, perYear);
  const cuts = isEnough ? before.cuts : own.cuts;
  const { labels } = volatilityRegimes(row, volatilityWindow, perYear, cuts ?? undefined);
  const byDay = new Map(known.map((day, index) => [day, labels[index] ?? "warmup"]));
  return {
    labels: days.map((day): Regime => (cuts === null ? "warmup" : (byDay.get(day) ?? "warmup"))),
    cuts,
    from: isEnough ? "before the period" : "the period itself",
  };
}
