// What a portfolio may lose in a day, in three ways, whose parts add up; and whether past limits held. Losses are above zero.
import { chiSquaredSf, normalDensity, normalQuantile } from "../../core/stats/distributions.ts";
import { dot } from "../../core/stats/linear-regression.ts";
import { covariance, isConstant, mean, populationShape, standardDeviation, sum } from "../../core/stats/moments.ts";
import { historicalShortfall, historicalVar } from "../../core/stats/performance.ts";

export interface PortfolioRisk {
  /** Null with fewer than two days, like everything that is made of it. */
  readonly deviation: number | null;
  /** Normal, mean taken as zero. */
  readonly parametricVar: number | null;
  /** Per position; they sum to the parametric VaR. Null when the portfolio never moves: there is nothing to share. */
  readonly components: readonly number[] | null;
  readonly marginals: readonly number[] | null;
  readonly historicalVar: number;
  readonly historicalShortfall: number;
  /** At 97.5 %, normal, mean taken as zero. */
  readonly parametricShortfall: number | null;
  /** The normal quantile corrected for skewness and tails. */
  readonly cornishFisherQuantile: number | null;
  readonly cornishFisherVar: number | null;
  readonly gross: number;
  readonly net: number;
  readonly diversificationRatio: number | null;
  /** Herfindahl's index of the shares of gross exposure. */
  readonly concentration: number | null;
}

const shortfallConfidence = 0.975;

/** Null without a day. Rows are days, columns positions; weights are fractions of NAV, signed. */
export function portfolioRisk(
  returns: readonly (readonly number[])[],
  weights: readonly number[],
  confidence: number,
): PortfolioRisk | null {
  const columns = weights.map((_weight, index) => returns.map((row) => row[index] ?? 0));
  const matrix = columns.map((one) => columns.map((other) => covariance(one, other) ?? 0));
  const exposed = matrix.map((row) => dot(row, weights));
  const own = returns.map((row) => dot(row, weights));
  const deviation = deviationOf(own, dot(weights, exposed));
  const [worst, shortfall] = [historicalVar(own, confidence), historicalShortfall(own, confidence)];
  if (worst === null || shortfall === null) return null;
  const z = normalQuantile(confidence);
  const perDeviation = (value: number): number => value / (deviation ?? 0);
  const moves = deviation !== null && deviation > 0;
  const gross = sum(weights.map(Math.abs));
  const singles = weights.map((weight, index) => Math.abs(weight) * Math.sqrt(matrix[index]?.[index] ?? 0));
  const corrected = cornishFisher(own, 1 - confidence);
  return {
    deviation,
    parametricVar: deviation === null ? null : z * deviation,
    components: moves ? weights.map((weight, index) => perDeviation(weight * (exposed[index] ?? 0) * z)) : null,
    marginals: moves ? exposed.map((each) => perDeviation(each * z)) : null,
    // From zero, so that no loss is 0 and not -0.
    historicalVar: 0 - worst,
    historicalShortfall: 0 - shortfall,
    parametricShortfall:
      deviation === null
        ? null
        : (deviation * normalDensity(normalQuantile(shortfallConfidence))) / (1 - shortfallConfidence),
    cornishFisherQuantile: corrected?.quantile ?? null,
    cornishFisherVar: corrected === null ? null : -corrected.value,
    gross,
    net: sum(weights),
    diversificationRatio: moves ? perDeviation(sum(singles)) : null,
    concentration: gross === 0 ? null : sum(weights.map((weight) => (weight / gross) ** 2)),
  };
}

/** Exactly zero for a row that never moves, also where positions cancel and rounding would leave a trace. */
function deviationOf(returns: readonly number[], variance: number): number | null {
  if (returns.length < 2) return null;
  return isConstant(returns) ? 0 : Math.sqrt(Math.max(0, variance));
}

/** With the shape over n; the quantile of the corrected distribution and the return there. */
function cornishFisher(
  returns: readonly number[],
  p: number,
): { readonly quantile: number; readonly value: number } | null {
  const [shape, middle, deviation] = [populationShape(returns), mean(returns), standardDeviation(returns)];
  if (shape === null || middle === null || deviation === null) return null;
  const z = normalQuantile(p);
  const excess = shape.kurtosis - 3;
  const quantile =
    z +
    ((z ** 2 - 1) * shape.skewness) / 6 +
    ((z ** 3 - 3 * z) * excess) / 24 -
    ((2 * z ** 3 - 5 * z) * shape.skewness ** 2) / 36;
  return { quantile, value: middle + quantile * deviation };
}

export type BaselZone = "green" | "yellow" | "red";

export interface VarBacktest {
  readonly exceptions: number;
  readonly kupiec: number;
  readonly kupiecP: number;
  readonly independence: number;
  readonly independenceP: number;
  readonly coverage: number;
  readonly coverageP: number;
  readonly zone: BaselZone;
}

/** Whether losses went past the VaR as often as they should (Kupiec) and independently of the day before (Christoffersen). Null of nothing. */
export function varBacktest(exceeded: readonly boolean[], level: number): VarBacktest | null {
  const count = exceeded.length;
  if (count === 0) return null;
  const exceptions = exceeded.filter(Boolean).length;
  const expected = 1 - level;
  const kupiec = likelihoodRatio(
    logLikelihood(exceptions, count, expected),
    logLikelihood(exceptions, count, exceptions / count),
  );
  const independence = independenceRatio(exceeded);
  return {
    exceptions,
    kupiec,
    kupiecP: chiSquaredSf(kupiec, 1),
    independence,
    independenceP: chiSquaredSf(independence, 1),
    coverage: kupiec + independence,
    coverageP: chiSquaredSf(kupiec + independence, 2),
    zone: baselZone(exceptions, count, expected),
  };
}

const likelihoodRatio = (restricted: number, free: number): number => Math.max(0, -2 * (restricted - free));

/** Of so many hits among so many, each with that probability; 0 ln 0 is 0. */
function logLikelihood(hits: number, count: number, p: number): number {
  const part = (times: number, chance: number): number => (times === 0 ? 0 : times * Math.log(chance));
  return part(hits, p) + part(count - hits, 1 - p);
}

function independenceRatio(exceeded: readonly boolean[]): number {
  const counts = { calm: { all: 0, hits: 0 }, after: { all: 0, hits: 0 } };
  for (let index = 1; index < exceeded.length; index += 1) {
    const from = exceeded[index - 1] === true ? counts.after : counts.calm;
    from.all += 1;
    if (exceeded[index] === true) from.hits += 1;
  }
  const { calm, after } = counts;
  const all = calm.all + after.all;
  if (all === 0) return 0;
  const share = ({ hits, all: of }: { readonly hits: number; readonly all: number }): number =>
    of === 0 ? 0 : hits / of;
  return likelihoodRatio(
    logLikelihood(calm.hits + after.hits, all, (calm.hits + after.hits) / all),
    logLikelihood(calm.hits, calm.all, share(calm)) + logLikelihood(after.hits, after.all, share(after)),
  );
}

/**
 * The Basel committee's zones: yellow begins where so many exceptions or fewer have a probability of 95 %, red where it is 99.99 %. For 250 days at
 * 99 % these are 5 and 10.
 */
export function baselZone(exceptions: number, count: number, p: number): BaselZone {
  const below = binomialCdf(exceptions, count, p);
  if (below < 0.95) return "green";
  return below < 0.9999 ? "yellow" : "red";
}

function binomialCdf(hits: number, count: number, p: number): number {
  let log = count * Math.log1p(-p);
  let total = Math.exp(log);
  for (let k = 1; k <= hits; k += 1) {
    log += Math.log((count - k + 1) / k) + Math.log(p) - Math.log1p(-p);
    total += Math.exp(log);
  }
  return Math.min(1, total);
}
