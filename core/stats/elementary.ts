// Exponential, logarithm and the normal distribution from additions, multiplications, divisions and roots alone. Those are rounded alike on every
// machine, which the functions of the language need not be; so prices that are computed here are the same everywhere.

const ln2High = 0.693_147_180_369_123_8;
const ln2Low = 1.908_214_929_270_588e-10;
const ln2 = ln2High + ln2Low;

/** e to the x, to about the last digit; 0 and the largest number at the ends. */
export function exp(x: number): number {
  if (x < -700) return 0;
  const powers = Math.round(Math.min(x, 700) / ln2);
  const rest = Math.min(x, 700) - powers * ln2High - powers * ln2Low;
  let sum = 1;
  for (let degree = 16; degree >= 1; degree -= 1) sum = 1 + (sum * rest) / degree;
  return sum * powerOfTwo(powers);
}

function powerOfTwo(whole: number): number {
  let power = 1;
  for (let step = 0; step < Math.abs(whole); step += 1) power *= 2;
  return whole < 0 ? 1 / power : power;
}

/** The natural logarithm of a number above zero. */
export function log(x: number): number {
  if (!(x > 0) || x === Number.POSITIVE_INFINITY) throw new RangeError(`there is no logarithm of ${x} here`);
  let mantissa = x;
  let powers = 0;
  while (mantissa >= 1.5) {
    mantissa /= 2;
    powers += 1;
  }
  while (mantissa < 0.75) {
    mantissa *= 2;
    powers -= 1;
  }
  const ratio = (mantissa - 1) / (mantissa + 1);
  const square = ratio * ratio;
  let sum = 0;
  for (let degree = 35; degree >= 1; degree -= 2) sum = sum * square + 1 / degree;
  return 2 * ratio * sum + powers * ln2;
}

const rootOfTwoPi = 2.506_628_274_631_000_7;

export function normalDensity(x: number): number {
  return exp(-(x * x) / 2) / rootOfTwoPi;
}

/** How likely a standard normal number is below x; within 0.0000001 (Abramowitz and Stegun, 26.2.17). */
export function normalBelow(x: number): number {
  if (x < 0) return 1 - normalBelow(-x);
  const t = 1 / (1 + 0.231_641_9 * x);
  const polynomial =
    t * (0.319_381_53 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
  return 1 - normalDensity(x) * polynomial;
}
