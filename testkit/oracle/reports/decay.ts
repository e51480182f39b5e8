// alpha_decay: how fast a signal's skill goes, over horizons, over its own memory and over the calendar.
import { mean } from "../../../core/stats/moments.ts";
import { calendarTrend, curveFit, horizonDecay, signalMemory } from "../../../reports/metrics/decay.ts";
import { rolling, rollingWindow } from "../../../reports/metrics/performance.ts";
import { numbers, numbersOrNull, type Solver, sameLength, solver } from "./solver.ts";

/** Two fits have inputs of one shape, and get both. Of the one name that both have, half_life, the case's name says whose is meant. */
const horizons = solver({ horizon: numbers, ic: numbersOrNull }, ({ horizon, ic }, name) => {
  sameLength({ horizon, ic });
  const known = horizon.flatMap((each, index) => {
    const skill = ic[index] ?? null;
    return skill === null ? [] : [{ horizon: each, skill }];
  });
  const curve = curveFit(
    known.map((each) => each.horizon),
    known.map(({ skill }) => skill),
  );
  const decay = horizonDecay(horizon, ic);
  return {
    ic0: curve?.initial ?? null,
    lambda: curve?.rate ?? null,
    status: decay.status,
    used_horizons: decay.usedHorizons,
    dropped: decay.dropped,
    loglinear_ic0: decay.initial,
    loglinear_lambda: decay.rate,
    lambda_se: decay.rateError,
    r2: decay.r2,
    half_life: /nls|nonlinear/i.test(name) ? (curve?.halfLife ?? null) : decay.halfLife,
    half_life_95ci: decay.halfLifeInterval,
  };
});

const memory = solver({ signal: numbers }, ({ signal }) => {
  const found = signalMemory(signal, 5);
  return {
    lag1_pearson: found?.lagCorrelation ?? null,
    lag1_acf: found?.autocorrelations[0] ?? null,
    ar1_slope: found?.slope ?? null,
    half_life_ar1: found?.halfLife ?? null,
    acf_1_to_5: found?.autocorrelations ?? null,
  };
});

const trend = solver({ rolling_ic: numbers }, ({ rolling_ic }) => {
  const found = calendarTrend(rolling_ic);
  return {
    slope_per_period: found?.slope ?? null,
    intercept: found?.intercept ?? null,
    nw_lag: found?.lag ?? null,
    nw_t_slope: found?.t ?? null,
    first_half_mean: found?.firstHalf ?? null,
    second_half_mean: found?.secondHalf ?? null,
    rolling63_last: rolling(rolling_ic, rollingWindow, mean).at(-1) ?? null,
  };
});

export const decaySolvers: readonly Solver[] = [horizons, memory, trend];
