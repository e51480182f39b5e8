// Mean and spread of a sample. What a sample is too small for is null, never zero.

export function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return sum(values) / values.length;
}

/** The sample's standard deviation: n - 1 in the denominator, in two passes. Exactly zero for a row that did not move. */
export function standardDeviation(values: readonly number[]): number | null {
  const middle = mean(values);
  if (middle === null || values.length < 2) return null;
  if (isConstant(values)) return 0;
  let squares = 0;
  for (const value of values) squares += (value - middle) * (value - middle);
  return Math.sqrt(squares / (values.length - 1));
}

/** Whether a row did not move: equal values leave rounding errors in a mean, and a deviation of 1e-19 must not become a ratio. */
export function isConstant(values: readonly number[]): boolean {
  let [lowest, highest, reach] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const value of values) {
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
    reach = Math.max(reach, Math.abs(value));
  }
  return highest - lowest <= reach * 1e-14;
}

/** The sample covariance, n - 1 in the denominator; null with fewer than two pairs. */
export function covariance(left: readonly number[], right: readonly number[]): number | null {
  const [leftMean, rightMean] = [mean(left), mean(right)];
  if (leftMean === null || rightMean === null || left.length < 2 || left.length !== right.length) return null;
  const products = left.map((each, index) => (each - leftMean) * ((right[index] ?? 0) - rightMean));
  return sum(products) / (left.length - 1);
}

/** The moments of shape over n, as an estimate of a distribution: third and fourth moment in units of the deviation. Null when nothing moved. */
export function populationShape(
  values: readonly number[],
): { readonly skewness: number; readonly kurtosis: number } | null {
  if (values.length < 2 || isConstant(values)) return null;
  const [second, third, fourth] = centralMoments(values);
  return { skewness: third / second ** 1.5, kurtosis: fourth / (second * second) };
}

/** Neumaier's sum: what the running sum loses is kept beside it. */
export function sum(values: readonly number[]): number {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

/** The adjusted skewness G1; null with fewer than three values or when nothing moved. */
export function skewness(values: readonly number[]): number | null {
  const count = values.length;
  if (count < 3 || isConstant(values)) return null;
  const [second, third] = centralMoments(values);
  return (third / second ** 1.5) * (Math.sqrt(count * (count - 1)) / (count - 2));
}

/** The adjusted excess kurtosis G2; null with fewer than four values or when nothing moved. */
export function excessKurtosis(values: readonly number[]): number | null {
  const count = values.length;
  if (count < 4 || isConstant(values)) return null;
  const [second, , fourth] = centralMoments(values);
  const biased = fourth / (second * second) - 3;
  return ((count - 1) / ((count - 2) * (count - 3))) * ((count + 1) * biased + 6);
}

/** The second, third and fourth moment about the mean, over n. */
function centralMoments(values: readonly number[]): readonly [number, number, number] {
  const middle = mean(values) ?? 0;
  const power = (exponent: number): number => sum(values.map((value) => (value - middle) ** exponent)) / values.length;
  return [power(2), power(3), power(4)];
}

/** Sums of the last `width` values; null until there are so many. */
export function rollingSums(values: readonly number[], width: number): readonly (number | null)[] {
  return values.map((_value, index) => (index + 1 < width ? null : sum(values.slice(index + 1 - width, index + 1))));
}
