// Lines that must tie: two amounts from two sources, and the difference that stamps a document when it is not zero.
import * as decimal from "../../contracts/src/decimal.ts";
import type { ReconciliationLine } from "../document.ts";

type Decimal = decimal.Decimal;

/** Two amounts that must be equal. */
export const tie = (name: string, left: Decimal, right: Decimal): ReconciliationLine => ({
  name,
  left: decimal.format(left),
  right: decimal.format(right),
  difference: decimal.format(decimal.subtract(left, right)),
});

export interface DayPair {
  readonly day: string;
  readonly left: Decimal;
  readonly right: Decimal;
}

export const sizeOf = ({ left, right }: { readonly left: Decimal; readonly right: Decimal }): Decimal =>
  decimal.abs(decimal.subtract(left, right));

/** The one that differs most, or the last one; none of nothing. */
export function worstPair<Pair extends { readonly left: Decimal; readonly right: Decimal }>(
  pairs: readonly Pair[],
): readonly Pair[] {
  const [first, ...rest] = [...pairs].reverse();
  if (first === undefined) return [];
  return [rest.reduce((largest, each) => (sizeOf(each) > sizeOf(largest) ? each : largest), first)];
}

/** Of a check of every day the worst one is shown: differences of two days must not cancel. None of nothing. */
export function worstDay(name: string, pairs: readonly DayPair[]): readonly ReconciliationLine[] {
  const [found] = worstPair(pairs);
  if (found === undefined) return [];
  const wrong = pairs.filter((pair) => sizeOf(pair) !== decimal.zero).length;
  const said =
    wrong === 0 ? `${pairs.length} days` : `${wrong} of ${pairs.length} days differ; the most on ${found.day}`;
  return [tie(`${name} (${said})`, found.left, found.right)];
}
