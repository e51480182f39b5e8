// Spearman's rank correlation: how alike two orders are, from -1 to 1. Ties share the average of their ranks. A side that never changes has
// no order, so there is no answer.
import { isConstant, mean } from "./moments.ts";

export function rankCorrelation(left: readonly number[], right: readonly number[]): number | null {
  if (left.length !== right.length || left.length < 2) return null;
  return correlation(ranks(left), ranks(right));
}

/** From 1 on; those that are equal get the mean of their places. */
export function ranks(values: readonly number[]): readonly number[] {
  const order = values.map((value, place) => ({ value, place })).sort((one, other) => one.value - other.value);
  const ranked = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && order[to]?.value === order[from]?.value) to += 1;
    for (const { place } of order.slice(from, to)) ranked[place] = (from + 1 + to) / 2;
    from = to;
  }
  return ranked;
}

/** Pearson's correlation; null when one side never changes. */
export function correlation(left: readonly number[], right: readonly number[]): number | null {
  // Not from the squares: the mean of equal values may be off by a rounding, and that would be a correlation.
  if (isConstant(left) || isConstant(right)) return null;
  const leftMean = mean(left) ?? 0;
  const rightMean = mean(right) ?? 0;
  let together = 0;
  let leftSquares = 0;
  let rightSquares = 0;
  for (const [place, one] of left.entries()) {
    const other = (right[place] ?? 0) - rightMean;
    together += (one - leftMean) * other;
    leftSquares += (one - leftMean) * (one - leftMean);
    rightSquares += other * other;
  }
  if (leftSquares === 0 || rightSquares === 0) return null;
  return Math.max(-1, Math.min(1, together / Math.sqrt(leftSquares * rightSquares)));
}
