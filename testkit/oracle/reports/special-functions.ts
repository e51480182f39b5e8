// special_functions: distributions, quantiles, moments and ranks.
import { z } from "zod";
import {
  chiSquaredQuantile,
  chiSquaredSf,
  normalCdf,
  normalQuantile,
  normalSf,
  studentCdf,
  studentQuantile,
} from "../../../core/stats/distributions.ts";
import { excessKurtosis, mean, skewness, standardDeviation } from "../../../core/stats/moments.ts";
import { median, nearestRank, quantile, scaledMad } from "../../../core/stats/quantiles.ts";
import { rankCorrelation, ranks } from "../../../core/stats/rank-correlation.ts";
import { numbers, probability, type Solver, sameLength, solver } from "./solver.ts";

const rows = (df: readonly number[], columns: readonly number[], figure: (each: number, df: number) => number) =>
  df.map((freedom) => columns.map((each) => figure(each, freedom)));

/** Two cases have inputs of one shape, and get both distributions. */
const freedom = solver({ df: numbers, p: numbers, x: numbers }, ({ df, p, x }) => ({
  t_ppf: rows(df, p, studentQuantile),
  t_cdf: rows(df, x, studentCdf),
  chi2_ppf: rows(df, p, chiSquaredQuantile),
  chi2_sf: rows(df, x, chiSquaredSf),
}));

const normal = solver({ x: numbers, p: numbers }, ({ x, p }) => ({
  norm_cdf: x.map(normalCdf),
  norm_sf: x.map(normalSf),
  norm_ppf: p.map(normalQuantile),
}));

const moments = solver({ x: numbers, q: z.array(probability) }, ({ x, q }) => {
  const deviation = standardDeviation(x);
  return {
    quantile_type7_linear: q.map((each) => quantile(x, each)),
    quantile_nearest_rank: q.map((each) => nearestRank(x, each)),
    mean: mean(x),
    std_ddof1: deviation,
    std_ddof0: x.length === 1 ? 0 : deviation === null ? null : deviation * Math.sqrt((x.length - 1) / x.length),
    skew_unbiased_G1: skewness(x),
    kurt_excess_unbiased_G2: excessKurtosis(x),
    median: median(x),
    "mad_scaled_1.4826": scaledMad(x),
  };
});

const ranked = solver({ x: numbers, y: numbers }, ({ x, y }) => {
  sameLength({ x, y });
  return { ranks_average_x: ranks(x), spearman: rankCorrelation(x, y) };
});

const cancellation = solver({ x: numbers }, ({ x }) => {
  const deviation = standardDeviation(x);
  return { mean: mean(x), var_ddof1: deviation === null ? null : deviation * deviation };
});

export const specialFunctions: readonly Solver[] = [freedom, normal, moments, ranked, cancellation];
