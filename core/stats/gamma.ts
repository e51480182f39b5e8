// The gamma function's logarithm and the regularised incomplete gamma and beta functions, to about 1e-14: every distribution beside them is
// made of these.
const iterationsMax = 100_000;
const smallest = 1e-300;

const halfLogTwoPi = 0.918_938_533_204_672_8;
/** Of Stirling's series: Bernoulli numbers over 2k (2k - 1). */
const stirling = [
  1 / 12,
  -1 / 360,
  1 / 1260,
  -1 / 1680,
  1 / 1188,
  -691 / 360_360,
  1 / 156,
  -3617 / 122_400,
  43_867 / 244_188,
] as const;

/** The logarithm of gamma, of a number above zero. */
export function logGamma(x: number): number {
  if (!(x > 0)) throw new RangeError(`The logarithm of gamma is defined here above zero; it was asked of ${x}.`);
  // Stirling's series needs a large argument: below it, gamma(x) = gamma(x + n) / (x (x + 1) ... (x + n - 1)).
  let product = 1;
  let shifted = x;
  while (shifted < 12) {
    product *= shifted;
    shifted += 1;
  }
  const inverse = 1 / shifted;
  let series = 0;
  for (let index = stirling.length - 1; index >= 0; index -= 1) {
    series = series * inverse * inverse + (stirling[index] ?? 0);
  }
  return (shifted - 0.5) * Math.log(shifted) - shifted + halfLogTwoPi + series * inverse - Math.log(product);
}

/** P(a, x): the lower regularised incomplete gamma function. */
export function gammaBelow(a: number, x: number): number {
  if (x <= 0) return 0;
  if (x === Number.POSITIVE_INFINITY) return 1;
  return x < a + 1 ? gammaSeries(a, x) : 1 - gammaFraction(a, x);
}

/** Q(a, x) = 1 - P(a, x), without the loss of digits where it is small. */
export function gammaAbove(a: number, x: number): number {
  if (x <= 0) return 1;
  if (x === Number.POSITIVE_INFINITY) return 0;
  return x < a + 1 ? 1 - gammaSeries(a, x) : gammaFraction(a, x);
}

const gammaFactor = (a: number, x: number): number => Math.exp(a * Math.log(x) - x - logGamma(a));

function gammaSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < iterationsMax; n += 1) {
    term *= x / (a + n);
    sum += term;
    if (term < sum * 1e-17) return sum * gammaFactor(a, x);
  }
  throw new RangeError(`The incomplete gamma function did not converge at a = ${a}, x = ${x}.`);
}

/** Legendre's continued fraction by Lentz's method. */
function gammaFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1 / smallest;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < iterationsMax; n += 1) {
    const numerator = -n * (n - a);
    b += 2;
    d = 1 / awayFromZero(numerator * d + b);
    c = awayFromZero(b + numerator / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) return fraction * gammaFactor(a, x);
  }
  throw new RangeError(`The incomplete gamma function did not converge at a = ${a}, x = ${x}.`);
}

const awayFromZero = (value: number): number => (Math.abs(value) < smallest ? smallest : value);

/** I_x(a, b); `complement` is 1 - x, handed in because it may have digits that 1 - x has lost. */
export function betaBelow(a: number, b: number, x: number, complement: number): number {
  if (x <= 0) return 0;
  if (complement <= 0) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(complement));
  if (x < (a + 1) / (a + b + 2)) return (front * betaFraction(a, b, x)) / a;
  return 1 - (front * betaFraction(b, a, complement)) / b;
}

function betaFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let n = 1; n < iterationsMax; n += 1) {
    const even = (n * (b - n) * x) / ((a + 2 * n - 1) * (a + 2 * n));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + n) * (a + b + n) * x) / ((a + 2 * n) * (a + 2 * n + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) return fraction;
  }
  throw new RangeError(`The incomplete beta function did not converge at a = ${a}, b = ${b}, x = ${x}.`);
}
