// How alike two symbols moved: Pearson's correlation of their simple returns. Only days that both have are counted, and a return goes from one of these
// days to the next of them, so that both sides of a pair always span the same time: a market that rests on Sundays is compared from Friday to Monday, also
// with one that never rests.
import { correlation } from "./rank-correlation.ts";

/** By the day's beginning, oldest first. */
export type DailyCloses = ReadonlyMap<string, number>;

/** Fewer say nothing. */
const returnsMin = 20;

interface PairCorrelation {
  readonly a: string;
  readonly b: string;
  /** Null with a reason. */
  readonly r: number | null;
  /** Returns that both have. */
  readonly n: number;
  readonly reason?: "TOO_FEW" | "CONSTANT";
}

/** Every two of them once, in their order. */
export function pairCorrelations(closes: ReadonlyMap<string, DailyCloses>): readonly PairCorrelation[] {
  const symbols = [...closes.keys()];
  return symbols.flatMap((a, place) =>
    symbols.slice(place + 1).map((b) => ({ a, b, ...correlationOf(closes.get(a), closes.get(b)) })),
  );
}

function correlationOf(
  left: DailyCloses | undefined,
  right: DailyCloses | undefined,
): Pick<PairCorrelation, "r" | "n" | "reason"> {
  const [leftReturns, rightReturns]: [number[], number[]] = [[], []];
  let before: readonly [number, number] | undefined;
  for (const [day, leftClose] of left ?? []) {
    const rightClose = right?.get(day);
    if (rightClose === undefined) continue;
    // From nothing there is no return.
    if (before !== undefined && before[0] > 0 && before[1] > 0) {
      leftReturns.push(leftClose / before[0] - 1);
      rightReturns.push(rightClose / before[1] - 1);
    }
    before = [leftClose, rightClose];
  }
  const n = leftReturns.length;
  if (n < returnsMin) return { r: null, n, reason: "TOO_FEW" };
  const r = correlation(leftReturns, rightReturns);
  return r === null ? { r, n, reason: "CONSTANT" } : { r, n };
}
