// How fast a signal loses its skill: over the horizon of its forecast, over its own memory, and over the calendar.
import { studentQuantile } from "../../core/stats/distributions.ts";
import { leastSquares, neweyWestErrors, plainErrors } from "../../core/stats/linear-regression.ts";
import { autocovariance, neweyWestLag } from "../../core/stats/long-run-variance.ts";
import { isConstant, mean } from "../../core/stats/moments.ts";
import { correlation } from "../../core/stats/rank-correlation.ts";

/** Fewer horizons have no curve. */
const horizonsMin = 3;

type DecayStatus = "DECAY" | "NO_DECAY" | "INSUFFICIENT_DATA";

interface HorizonDecay {
  readonly status: DecayStatus;
  readonly usedHorizons: readonly number[];
  /** Horizons whose coefficient is undefined, zero or below: there is no logarithm of it. */
  readonly dropped: number;
  readonly initial: number | null;
  readonly rate: number | null;
  readonly rateError: number | null;
  readonly r2: number | null;
  /** Null without decay. */
  readonly halfLife: number | null;
  /** 95 %; the upper end is infinite where no decay lies within the interval of the rate. */
  readonly halfLifeInterval: readonly [number, number] | null;
}

/** ln IC(h) = ln IC(0) - rate h, by least squares on the horizons with skill above zero. */
export function horizonDecay(horizons: readonly number[], coefficients: readonly (number | null)[]): HorizonDecay {
  const used = horizons.flatMap((horizon, index) => {
    const skill = coefficients[index] ?? 0;
    return skill > 0 ? [{ horizon, log: Math.log(skill) }] : [];
  });
  const usedHorizons = used.map(({ horizon }) => horizon);
  const logs = used.map(({ log }) => log);
  const rest = { usedHorizons, dropped: horizons.length - used.length };
  const nothing = { initial: null, rate: null, rateError: null, r2: null, halfLife: null, halfLifeInterval: null };
  const fit = used.length < horizonsMin ? null : leastSquares([logs.map(() => 1), usedHorizons], logs);
  if (fit === null) return { status: "INSUFFICIENT_DATA", ...rest, ...nothing };
  // Equal coefficients leave a slope of rounding errors, and the half-life of that would be a number.
  const isFlat = isConstant(logs);
  const rate = isFlat ? 0 : -(fit.coefficients[1] ?? 0);
  const rateError = isFlat ? 0 : (plainErrors(fit)[1] ?? 0);
  const related = correlation(usedHorizons, logs);
  const figures = {
    ...rest,
    initial: Math.exp(fit.coefficients[0] ?? 0),
    rate,
    rateError,
    r2: related === null ? null : related * related,
  };
  if (!(rate > 0)) return { status: "NO_DECAY", ...figures, halfLife: null, halfLifeInterval: null };
  const reach = studentQuantile(0.975, used.length - 2) * rateError;
  return {
    status: "DECAY",
    ...figures,
    halfLife: Math.LN2 / rate,
    halfLifeInterval: [Math.LN2 / (rate + reach), rate > reach ? Math.LN2 / (rate - reach) : Number.POSITIVE_INFINITY],
  };
}

interface CurveFit {
  readonly initial: number;
  readonly rate: number;
  readonly halfLife: number | null;
}

/** IC(h) = IC(0) exp(-rate h) by unweighted least squares on every horizon, from the logarithms' fit on; null where that one has none. */
export function curveFit(horizons: readonly number[], coefficients: readonly number[]): CurveFit | null {
  const start = horizonDecay(horizons, coefficients);
  if (start.initial === null || start.rate === null) return null;
  let [initial, rate] = [start.initial, start.rate];
  let damping = 1e-3;
  let squares = curveSquares(horizons, coefficients, initial, rate);
  for (let round = 0; round < 500 && damping < 1e12; round += 1) {
    const step = curveStep(horizons, coefficients, initial, rate, damping);
    const next = curveSquares(horizons, coefficients, initial + step[0], rate + step[1]);
    if (!(next <= squares)) {
      damping *= 10;
      continue;
    }
    [initial, rate] = [initial + step[0], rate + step[1]];
    squares = next;
    damping /= 10;
    if (Math.abs(step[0]) <= 1e-14 * Math.abs(initial) && Math.abs(step[1]) <= 1e-14 * Math.abs(rate)) break;
  }
  return { initial, rate, halfLife: rate > 0 ? Math.LN2 / rate : null };
}

function curveSquares(
  horizons: readonly number[],
  coefficients: readonly number[],
  initial: number,
  rate: number,
): number {
  return horizons.reduce(
    (total, horizon, index) => total + ((coefficients[index] ?? 0) - initial * Math.exp(-rate * horizon)) ** 2,
    0,
  );
}

/** One step of Levenberg and Marquardt. */
function curveStep(
  horizons: readonly number[],
  coefficients: readonly number[],
  initial: number,
  rate: number,
  damping: number,
): readonly [number, number] {
  let [aa, ab, bb, ga, gb] = [0, 0, 0, 0, 0];
  for (const [index, horizon] of horizons.entries()) {
    const curve = Math.exp(-rate * horizon);
    const slope = -initial * horizon * curve;
    const miss = (coefficients[index] ?? 0) - initial * curve;
    aa += curve * curve;
    ab += curve * slope;
    bb += slope * slope;
    ga += curve * miss;
    gb += slope * miss;
  }
  const [left, right] = [aa * (1 + damping), bb * (1 + damping)];
  const determinant = left * right - ab * ab;
  if (determinant === 0) return [0, 0];
  return [(right * ga - ab * gb) / determinant, (left * gb - ab * ga) / determinant];
}

interface SignalMemory {
  readonly lagCorrelation: number | null;
  /** Autocorrelations at lags from 1 on, each over the variance of the whole row; null at a lag that the row does not reach. */
  readonly autocorrelations: readonly (number | null)[];
  readonly slope: number | null;
  /** Periods until half of a value is forgotten: null for a slope of zero or below, infinite for one or more. */
  readonly halfLife: number | null;
}

/** Null when the signal is too short or never moves. */
export function signalMemory(signal: readonly number[], lagMax: number): SignalMemory | null {
  const middle = mean(signal);
  if (middle === null || signal.length < 3 || isConstant(signal)) return null;
  const deviations = signal.map((each) => each - middle);
  const variance = autocovariance(deviations, 0);
  const [before, after] = [signal.slice(0, -1), signal.slice(1)];
  const fit = leastSquares([before.map(() => 1), before], after);
  const slope = fit?.coefficients[1] ?? null;
  return {
    lagCorrelation: correlation(before, after),
    autocorrelations: Array.from({ length: lagMax }, (_, index) =>
      index + 1 < signal.length ? autocovariance(deviations, index + 1) / variance : null,
    ),
    slope,
    halfLife: slope === null ? null : memoryHalfLife(slope),
  };
}

function memoryHalfLife(slope: number): number | null {
  if (slope <= 0) return null;
  // A straight line has a slope of one up to rounding.
  return slope >= 1 - 1e-12 ? Number.POSITIVE_INFINITY : -Math.LN2 / Math.log(slope);
}

interface CalendarTrend {
  readonly slope: number;
  readonly intercept: number;
  readonly lag: number;
  /** By Newey and West's errors: neighbouring values of a rolling figure overlap, and a plain t would be far too large. */
  readonly t: number | null;
  readonly firstHalf: number;
  readonly secondHalf: number;
}

/** Null with too few values for a line. */
export function calendarTrend(values: readonly number[]): CalendarTrend | null {
  const fit = leastSquares([values.map(() => 1), values.map((_value, index) => index)], values);
  const half = Math.floor(values.length / 2);
  const [firstHalf, secondHalf] = [mean(values.slice(0, half)), mean(values.slice(half))];
  if (fit === null || firstHalf === null || secondHalf === null) return null;
  // A row that never moves has no trend; rounding would leave a slope, and a t that looks like one.
  const flat = isConstant(values);
  const slope = flat ? 0 : (fit.coefficients[1] ?? 0);
  const error = flat ? 0 : (neweyWestErrors(fit)[1] ?? 0);
  return {
    slope,
    intercept: flat ? firstHalf : (fit.coefficients[0] ?? 0),
    lag: neweyWestLag(values.length),
    t: error > 0 ? slope / error : null,
    firstHalf,
    secondHalf,
  };
}
