// When a fall began, and what it was made of. Every part is computed from below; what they do not explain is a finding of its own and is never folded
// into one of them.
import * as decimal from "../../contracts/src/decimal.ts";

type Decimal = decimal.Decimal;

interface Onset {
  /** Page's sum after each observation. */
  readonly sums: readonly number[];
  /** The first observation with the sum above the limit; null without one. */
  readonly alarm: number | null;
  /** Where the sum last left zero before the alarm. */
  readonly onset: number | null;
}

/**
 * S = max(0, S - x - slack) for a fall, S = max(0, S + x - slack) for a rise, of standardised observations. One that is no number leaves the sum as it is:
 * added, it would hide every later fall.
 */
export function onset(values: readonly number[], slack: number, limit: number, side: "low" | "high" = "low"): Onset {
  let level = 0;
  const sums = values.map((value) => {
    if (Number.isFinite(value)) level = Math.max(0, level + (side === "low" ? -value : value) - slack);
    return level;
  });
  const alarm = sums.findIndex((each) => each > limit);
  if (alarm === -1) return { sums, alarm: null, onset: null };
  let from = alarm;
  while (from > 0 && (sums[from - 1] ?? 0) > 0) from -= 1;
  return { sums, alarm, onset: from };
}

interface Waterfall {
  readonly explained: Decimal;
  readonly unexplained: Decimal;
  /** Of the profit or loss without sign; null when there was none. */
  readonly unexplainedFraction: number | null;
  readonly accepted: boolean;
  /** The largest loss first; equal ones in the order given. */
  readonly ranked: readonly string[];
  /** Of the sum of all losing parts; zero for a part that gained. Null when nothing lost. */
  readonly shareOfLoss: ReadonlyMap<string, number | null>;
}

export function waterfall(actual: Decimal, parts: ReadonlyMap<string, Decimal>, unexplainedMax: number): Waterfall {
  const entries = [...parts];
  const explained = entries.reduce((total, [, amount]) => decimal.add(total, amount), decimal.zero);
  const unexplained = decimal.subtract(actual, explained);
  const lost = entries.reduce((total, [, amount]) => (amount < 0n ? decimal.add(total, amount) : total), decimal.zero);
  const fraction =
    actual === 0n ? null : decimal.toNumber(decimal.abs(unexplained)) / decimal.toNumber(decimal.abs(actual));
  const share = (amount: Decimal): number | null => {
    if (lost === 0n) return null;
    return amount < 0n ? decimal.toNumber(amount) / decimal.toNumber(lost) : 0;
  };
  return {
    explained,
    unexplained,
    unexplainedFraction: fraction,
    accepted: fraction === null ? unexplained === 0n : fraction <= unexplainedMax,
    ranked: [...entries].sort((one, other) => decimal.compare(one[1], other[1])).map(([name]) => name),
    shareOfLoss: new Map(entries.map(([name, amount]) => [name, share(amount)])),
  };
}
