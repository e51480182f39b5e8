// How far a compounded row of returns lay below its highest level so far. The start counts as a level: a loss on the first day is a drawdown.

/** The level after each return, from 1. */
export function levels(returns: readonly number[]): readonly number[] {
  let level = 1;
  return returns.map((each) => {
    level *= 1 + each;
    return level;
  });
}

/** Zero or below, after each return. */
export function drawdowns(returns: readonly number[]): readonly number[] {
  let peak = 1;
  return levels(returns).map((level) => {
    peak = Math.max(peak, level);
    return level / peak - 1;
  });
}

export const maxDrawdown = (returns: readonly number[]): number =>
  drawdowns(returns).reduce((deepest, each) => Math.min(deepest, each), 0);

/** The root of the mean square of the drawdowns, over all n. Null of nothing. */
export function ulcerIndex(returns: readonly number[]): number | null {
  if (returns.length === 0) return null;
  const squares = drawdowns(returns).reduce((total, each) => total + each * each, 0);
  return Math.sqrt(squares / returns.length);
}

/** One fall from a peak. Indices are those of the returns; the peak before the first return is null, and so is a recovery that has not come. */
interface Drawdown {
  readonly peak: number | null;
  readonly valley: number;
  readonly recovery: number | null;
  readonly depth: number;
  readonly periodsPeakToValley: number;
  readonly periodsValleyToRecovery: number | null;
  /** Periods that ended below the peak. */
  readonly periodsUnderwater: number;
}

/** Every fall, deepest first; equal ones in their order. */
export function drawdownTable(returns: readonly number[]): readonly Drawdown[] {
  const depths = drawdowns(returns);
  const found: Drawdown[] = [];
  for (let from = 0; from < depths.length; from += 1) {
    if (!isBelow(depths[from])) continue;
    let to = from;
    let valley = from;
    for (; to < depths.length && isBelow(depths[to]); to += 1) {
      if ((depths[to] ?? 0) < (depths[valley] ?? 0)) valley = to;
    }
    const recovery = to < depths.length ? to : null;
    found.push({
      peak: from === 0 ? null : from - 1,
      valley,
      recovery,
      depth: depths[valley] ?? 0,
      periodsPeakToValley: valley - from + 1,
      periodsValleyToRecovery: recovery === null ? null : recovery - valley,
      periodsUnderwater: to - from,
    });
    from = to;
  }
  return found.sort((one, other) => one.depth - other.depth);
}

const isBelow = (depth: number | undefined): boolean => depth !== undefined && depth < 0;
