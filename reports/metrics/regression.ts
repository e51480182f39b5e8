// What factors explain of a row of returns: coefficients with errors that stand neighbouring days' likeness, what each contributed to the mean, and
// each one's share of the variance. Columns that depend on each other are refused with their rank.
import { studentCdf } from "../../core/stats/distributions.ts";
import {
  dot,
  type Fit,
  leastSquares,
  neweyWestErrors,
  orthogonalBasis,
  plainErrors,
} from "../../core/stats/linear-regression.ts";
import { neweyWestLag } from "../../core/stats/long-run-variance.ts";
import { covariance, isConstant, mean } from "../../core/stats/moments.ts";

export interface Errors {
  readonly errors: readonly number[];
  /** Null where the error is zero: there is nothing to measure the coefficient by. */
  readonly t: readonly (number | null)[];
}

export interface FactorFit {
  readonly rankDeficient: false;
  /** The constant first, then the factors. */
  readonly coefficients: readonly number[];
  readonly plain: Errors;
  readonly lag: number;
  readonly neweyWest: Errors;
  /** Two-sided, of Newey and West's t with n - k degrees of freedom. */
  readonly p: readonly (number | null)[];
  readonly r2: number | null;
  readonly adjustedR2: number | null;
  readonly durbinWatson: number | null;
  readonly alphaAnnual: number;
  /** The constant, then coefficient times mean per factor; they sum to the mean of y. */
  readonly contributions: readonly number[];
  readonly mean: number;
  readonly varianceSystematic: number;
  readonly varianceSpecific: number;
  readonly varianceTotal: number;
  /** Null where y never moves. */
  readonly varianceShares: readonly (number | null)[];
}

export interface NoFit {
  readonly rankDeficient: boolean;
  /** Of the factors and the constant. */
  readonly rank: number;
  readonly reason: "RANK_DEFICIENT" | "INSUFFICIENT_DATA";
}

/** Rows are periods, columns factors. */
export function factorFit(
  y: readonly number[],
  factors: readonly (readonly number[])[],
  periodsPerYear: number,
): FactorFit | NoFit {
  const width = factors[0]?.length ?? 0;
  const columns = Array.from({ length: width }, (_, index) => factors.map((row) => row[index] ?? 0));
  const withConstant = [y.map(() => 1), ...columns];
  const { rank } = orthogonalBasis(withConstant);
  if (rank < width + 1) return { rankDeficient: true, rank, reason: "RANK_DEFICIENT" };
  const flat = isConstant(y);
  const fit = flat ? flatFit(withConstant, y) : leastSquares(withConstant, y);
  const middle = flat ? (y[0] ?? null) : mean(y);
  if (fit === null || middle === null) return { rankDeficient: false, rank, reason: "INSUFFICIENT_DATA" };
  const { coefficients, residuals } = fit;
  const freedom = y.length - width - 1;
  const squares = dot(residuals, residuals);
  const spread = y.reduce((total, each) => total + (each - middle) ** 2, 0);
  const ratio = (errors: readonly number[]): Errors => ({
    errors,
    t: errors.map((error, index) => (error > 0 ? (coefficients[index] ?? 0) / error : null)),
  });
  const neweyWest = ratio(neweyWestErrors(fit));
  const betas = coefficients.slice(1);
  const shares = columns.map((one, index) => {
    const together = columns.map((other) => covariance(one, other) ?? 0);
    return (betas[index] ?? 0) * dot(together, betas);
  });
  const varianceTotal = flat ? 0 : (covariance(y, y) ?? 0);
  return {
    rankDeficient: false,
    coefficients,
    plain: ratio(plainErrors(fit)),
    lag: neweyWestLag(y.length),
    neweyWest,
    p: neweyWest.t.map((t) => (t === null ? null : 2 * studentCdf(-Math.abs(t), freedom))),
    r2: spread > 0 ? 1 - squares / spread : null,
    adjustedR2: spread > 0 ? 1 - (squares / freedom / spread) * (y.length - 1) : null,
    durbinWatson: squares > 0 ? durbinWatson(residuals) / squares : null,
    alphaAnnual: (coefficients[0] ?? 0) * periodsPerYear,
    contributions: [coefficients[0] ?? 0, ...columns.map((column, index) => (betas[index] ?? 0) * (mean(column) ?? 0))],
    mean: middle,
    varianceSystematic: shares.reduce((total, each) => total + each, 0),
    varianceSpecific: covariance(residuals, residuals) ?? 0,
    varianceTotal,
    varianceShares: shares.map((each) => (varianceTotal > 0 ? each / varianceTotal : null)),
  };
}

/** Of a row that never moves: the constant alone, exactly. Rounding would leave coefficients that look like findings. */
function flatFit(columns: readonly (readonly number[])[], y: readonly number[]): Fit | null {
  const fit = leastSquares(columns, y);
  if (fit === null) return null;
  return {
    ...fit,
    coefficients: columns.map((_column, index) => (index === 0 ? (y[0] ?? 0) : 0)),
    residuals: y.map(() => 0),
  };
}

const durbinWatson = (residuals: readonly number[]): number =>
  residuals.slice(1).reduce((total, each, index) => total + (each - (residuals[index] ?? 0)) ** 2, 0);

export interface HoldingsAttribution {
  /** Per period and factor. */
  readonly exposures: readonly (readonly number[])[];
  readonly byFactor: readonly (readonly number[])[];
  readonly common: readonly number[];
  readonly specific: readonly number[];
  readonly tilt: readonly number[];
  readonly timing: readonly number[];
}

/** From holdings and loadings instead of a regression: what the exposures earned, the rest, and the part of the exposures' mean. */
export function holdingsAttribution(
  weights: readonly (readonly number[])[],
  loadings: readonly (readonly number[])[],
  factorReturns: readonly (readonly number[])[],
  returns: readonly number[],
): HoldingsAttribution {
  const width = loadings[0]?.length ?? 0;
  const exposures = weights.map((row) =>
    Array.from({ length: width }, (_, factor) =>
      row.reduce((total, weight, asset) => total + weight * (loadings[asset]?.[factor] ?? 0), 0),
    ),
  );
  const byFactor = exposures.map((row, period) =>
    row.map((exposure, factor) => exposure * (factorReturns[period]?.[factor] ?? 0)),
  );
  const common = byFactor.map((row) => row.reduce((total, each) => total + each, 0));
  const averages = Array.from({ length: width }, (_, factor) => mean(exposures.map((row) => row[factor] ?? 0)) ?? 0);
  const tilt = exposures.map((_row, period) => dot(averages, factorReturns[period] ?? []));
  return {
    exposures,
    byFactor,
    common,
    specific: common.map((each, period) => (returns[period] ?? 0) - each),
    tilt,
    timing: common.map((each, period) => each - (tilt[period] ?? 0)),
  };
}
