// The normal, Student's t, chi-squared and Poisson distributions to 1e-9 and better, in both tails. elementary.ts has a coarser normal that
// paper prices hang on.
import { betaBelow, gammaAbove, gammaBelow, logGamma } from "./gamma.ts";

const rootOfTwo = Math.SQRT2;
const halfLogPi = 0.572_364_942_924_700_1;

export const normalDensity = (x: number): number => Math.exp(-(x * x) / 2) / Math.sqrt(2 * Math.PI);

/** P(X < x) of a standard normal number. */
export function normalCdf(x: number): number {
  const half = (x / rootOfTwo) ** 2;
  return x < 0 ? gammaAbove(0.5, half) / 2 : (1 + gammaBelow(0.5, half)) / 2;
}

/** P(X > x). */
export const normalSf = (x: number): number => normalCdf(-x);

export function normalQuantile(p: number): number {
  if (p > 0.5) return -normalQuantile(1 - p);
  if (p === 0.5) return 0;
  if (p === 0) return Number.NEGATIVE_INFINITY;
  // Below the root of the tail's bound exp(-x^2 / 2).
  return solve(normalCdf, normalDensity, p, -Math.sqrt(-2 * Math.log(checked(p))) - 1, 0);
}

/** P(T < t) with so many degrees of freedom, which need not be whole. */
export function studentCdf(t: number, freedom: number): number {
  const square = t * t;
  const tail = betaBelow(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square)) / 2;
  return t < 0 ? tail : 1 - tail;
}

function studentDensity(t: number, freedom: number): number {
  const front = logGamma((freedom + 1) / 2) - logGamma(freedom / 2) - Math.log(freedom) / 2 - halfLogPi;
  return Math.exp(front - ((freedom + 1) / 2) * Math.log1p((t * t) / freedom));
}

export function studentQuantile(p: number, freedom: number): number {
  if (p > 0.5) return -studentQuantile(1 - p, freedom);
  if (p === 0.5) return 0;
  if (p === 0) return Number.NEGATIVE_INFINITY;
  checkFreedom(freedom);
  let low = -2;
  while (studentCdf(low, freedom) > checked(p)) low *= 2;
  return solve(
    (t) => studentCdf(t, freedom),
    (t) => studentDensity(t, freedom),
    p,
    low,
    0,
  );
}

const chiSquaredCdf = (x: number, freedom: number): number => gammaBelow(freedom / 2, x / 2);
export const chiSquaredSf = (x: number, freedom: number): number => gammaAbove(freedom / 2, x / 2);

export function chiSquaredQuantile(p: number, freedom: number): number {
  checkFreedom(freedom);
  if (p === 0) return 0;
  if (p === 1) return Number.POSITIVE_INFINITY;
  let high = freedom + 1;
  while (chiSquaredSf(high, freedom) > 1 - checked(p)) high *= 2;
  const density = (x: number): number =>
    Math.exp((freedom / 2 - 1) * Math.log(x / 2) - x / 2 - logGamma(freedom / 2)) / 2;
  return solve((x) => chiSquaredCdf(x, freedom), density, p, 0, high);
}

/** log10 P(X >= count) of a Poisson number; it stays finite where the probability itself would be zero. */
export function poissonLog10Sf(count: number, mean: number): number | null {
  if (!(mean > 0)) return null;
  if (count <= 0) return 0;
  // P(X >= k) = P(k, mean), the incomplete gamma function.
  if (count <= mean) return Math.log10(gammaBelow(count, mean));
  // The leading term times a series that converges because count > mean.
  let term = 1;
  let sum = 1;
  for (let k = count + 1; term > sum * 1e-17; k += 1) {
    term *= mean / k;
    sum += term;
  }
  return (count * Math.log(mean) - mean - logGamma(count + 1) + Math.log(sum)) / Math.LN10;
}

function checked(p: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`A quantile is asked at a probability from 0 to 1, not ${p}.`);
  return p;
}

/** Without it the search for a bracket would not end. */
function checkFreedom(freedom: number): void {
  if (!(freedom > 0 && freedom < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`A distribution has more than 0 degrees of freedom, not ${freedom}.`);
  }
}

/** Newton's steps inside a bracket; a step that would leave it is halved towards the middle instead. */
function solve(
  cdf: (x: number) => number,
  density: (x: number) => number,
  p: number,
  from: number,
  to: number,
): number {
  let [low, high] = [from, to];
  let x = (low + high) / 2;
  for (let round = 0; round < 1000; round += 1) {
    const miss = cdf(x) - p;
    if (miss === 0) return x;
    if (miss < 0) low = x;
    else high = x;
    const newton = x - miss / density(x);
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (next === x || high - low <= 4e-16 * Math.max(Math.abs(low), Math.abs(high))) return next;
    if (Math.abs(next - x) <= 1e-15 * Math.abs(x)) return next;
    x = next;
  }
  return x;
}
