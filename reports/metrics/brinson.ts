// Brinson and Fachler's split of what a portfolio earned beyond its benchmark: being in the right sectors, holding the right names in them, and both
// at once. Weights are those at the BEGIN of a period; cash is a sector.
//
//  1. A sector that the benchmark lacks counts with the benchmark's whole return, so being there is no allocation.
//  2. A sector that is not held counts with the benchmark's return of it, so there is no selection.
//  3. The effects sum to the active return, over one period and, linked, over many.
import { dot } from "../../core/stats/linear-regression.ts";
import { sum } from "../../core/stats/moments.ts";
import { activeLinkingFactors, compounded } from "./linking.ts";

interface SectorPeriod {
  readonly portfolioWeights: readonly number[];
  readonly benchmarkWeights: readonly number[];
  readonly portfolioReturns: readonly number[];
  readonly benchmarkReturns: readonly number[];
}

interface SectorEffects {
  readonly portfolio: number;
  readonly benchmark: number;
  readonly active: number;
  readonly allocation: readonly number[];
  readonly selection: readonly number[];
  readonly interaction: readonly number[];
  readonly sum: number;
}

export function sectorEffects(period: SectorPeriod): SectorEffects {
  const { portfolioWeights, benchmarkWeights } = period;
  const at = (row: readonly number[], index: number): number => row[index] ?? 0;
  const benchmark = dot(benchmarkWeights, period.benchmarkReturns);
  const sectors = portfolioWeights.map((held, index) => {
    const weight = at(benchmarkWeights, index);
    const expected = weight === 0 ? benchmark : at(period.benchmarkReturns, index);
    const earned = held === 0 ? expected : at(period.portfolioReturns, index);
    return {
      allocation: (held - weight) * (expected - benchmark),
      selection: weight * (earned - expected),
      interaction: (held - weight) * (earned - expected),
      earned: held * earned,
    };
  });
  const portfolio = sum(sectors.map(({ earned }) => earned));
  const [allocation, selection, interaction] = [
    sectors.map((each) => each.allocation),
    sectors.map((each) => each.selection),
    sectors.map((each) => each.interaction),
  ];
  return {
    portfolio,
    benchmark,
    active: portfolio - benchmark,
    allocation,
    selection,
    interaction,
    sum: sum([...allocation, ...selection, ...interaction]),
  };
}

interface LinkedEffects {
  readonly periods: readonly SectorEffects[];
  readonly portfolio: number;
  readonly benchmark: number;
  readonly active: number;
  readonly factors: readonly number[];
  readonly allocation: readonly number[];
  readonly selection: readonly number[];
  readonly interaction: readonly number[];
  readonly sum: number;
}

/** Null where nothing can be linked: after a total loss. */
export function linkedEffects(periods: readonly SectorPeriod[]): LinkedEffects | null {
  const effects = periods.map(sectorEffects);
  const [own, other] = [effects.map((each) => each.portfolio), effects.map((each) => each.benchmark)];
  const factors = activeLinkingFactors(own, other);
  if (factors === null) return null;
  const linked = (name: "allocation" | "selection" | "interaction"): readonly number[] =>
    (effects[0]?.[name] ?? []).map((_sector, index) =>
      sum(effects.map((each, period) => (each[name][index] ?? 0) * (factors[period] ?? 0))),
    );
  const [allocation, selection, interaction] = [linked("allocation"), linked("selection"), linked("interaction")];
  const [portfolio, benchmark] = [compounded(own), compounded(other)];
  return {
    periods: effects,
    portfolio,
    benchmark,
    active: portfolio - benchmark,
    factors,
    allocation,
    selection,
    interaction,
    sum: sum([...allocation, ...selection, ...interaction]),
  };
}
