// The return that the money in a fund earned, which deposits before a good day raise: the rate at which the opening value and all flows grow to the closing
// value, and the estimate that checks it.
import { dayNumber } from "./dates.ts";

interface DatedFlow {
  readonly day: string;
  /** Above zero for a deposit; at the end of its day. */
  readonly amount: number;
}

/** Over the whole period, not annualised; null where no rate above -100 % fits. Both days count at their end. */
export function moneyWeighted(
  opening: number,
  closing: number,
  flows: readonly DatedFlow[],
  from: string,
  to: string,
): number | null {
  const length = dayNumber(to) - dayNumber(from);
  if (length <= 0 || !(opening > 0)) return null;
  const parts = [
    { share: 1, amount: opening },
    ...flows.map(({ day, amount }) => ({ share: (dayNumber(to) - dayNumber(day)) / length, amount })),
  ];
  const missing = (rate: number): number =>
    parts.reduce((total, { share, amount }) => total + amount * (1 + rate) ** share, 0) - closing;
  let [low, high] = [-0.999_999, 1];
  while (missing(high) < 0 && high < 1e6) high *= 10;
  if (missing(low) > 0 || missing(high) < 0) return null;
  for (let round = 0; round < 200; round += 1) {
    const middle = (low + high) / 2;
    if (missing(middle) > 0) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}

export function modifiedDietz(
  opening: number,
  closing: number,
  flows: readonly DatedFlow[],
  from: string,
  to: string,
): number | null {
  const length = dayNumber(to) - dayNumber(from);
  if (length <= 0) return null;
  const total = flows.reduce((sum, { amount }) => sum + amount, 0);
  const weighted = flows.reduce(
    (sum, { day, amount }) => sum + (amount * (dayNumber(to) - dayNumber(day))) / length,
    0,
  );
  const base = opening + weighted;
  return base > 0 ? (closing - opening - total) / base : null;
}
