// Carino's linking: contributions of single periods, scaled so that over all periods they add up to the compounded return. Their plain sums would not.

/** ln(1 + R) / R, and its limit 1 where nothing was earned. */
export const carino = (total: number): number => (total === 0 ? 1 : Math.log1p(total) / total);

/** (ln(1 + a) - ln(1 + b)) / (a - b), and its limit 1 / (1 + a) where they are equal. */
export function activeCarino(portfolio: number, benchmark: number): number {
  const difference = portfolio - benchmark;
  return difference === 0 ? 1 / (1 + portfolio) : Math.log1p(difference / (1 + benchmark)) / difference;
}

export const compounded = (returns: readonly number[]): number =>
  returns.reduce((level, each) => level * (1 + each), 1) - 1;

/** The factor of each period: its coefficient over that of the whole. Null after a total loss, which no factor can link. */
export function linkingFactors(returns: readonly number[]): readonly number[] | null {
  const whole = compounded(returns);
  if (!(whole > -1) || returns.some((each) => !(each > -1))) return null;
  return returns.map((each) => carino(each) / carino(whole));
}

export function activeLinkingFactors(
  portfolio: readonly number[],
  benchmark: readonly number[],
): readonly number[] | null {
  const [whole, other] = [compounded(portfolio), compounded(benchmark)];
  if (!(whole > -1) || !(other > -1) || [...portfolio, ...benchmark].some((each) => !(each > -1))) return null;
  return portfolio.map((each, index) => activeCarino(each, benchmark[index] ?? 0) / activeCarino(whole, other));
}
