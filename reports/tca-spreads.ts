// What the quotes at fills and 300 seconds later say: spreads over orders, and the fills that have none, with why.
import * as decimal from "../contracts/src/decimal.ts";
import { millisecondsBetween, parse } from "../contracts/src/instant.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import type { OrderFact, QuoteFact, ReportFacts } from "./facts.ts";
import type { OrderCost } from "./metrics/tca.ts";

/** Of bid and ask. */
export const middle = (quote: QuoteFact): decimal.Decimal =>
  decimal.divide(decimal.add(decimal.parse(quote.bid), decimal.parse(quote.ask)), decimal.parse("2"), "half-even");

export interface CostedOrder {
  readonly fills: readonly Fill[];
  readonly order: OrderFact;
  readonly cost: OrderCost;
}

/** The average over orders that have it, by what each filled at its arrival price, and how many they are. */
export function spreadOf(
  costed: readonly CostedOrder[],
  which: "effectiveSpreadBps" | "realisedSpreadBps",
): readonly [number | null, number] {
  const known = costed.flatMap(({ cost }) => {
    const spread = cost[which];
    return spread === null ? [] : [{ spread, weight: decimal.toNumber(cost.arrivalNotional) }];
  });
  const weight = known.reduce((sum, one) => sum + one.weight, 0);
  if (weight === 0) return [null, 0];
  return [known.reduce((sum, one) => sum + one.spread * one.weight, 0) / weight, known.length];
}

const laterMs = 300_000;

/** Fills of costed orders that no spread is known of, and why. */
export function unquotedFills(facts: ReportFacts, costed: readonly CostedOrder[]) {
  const ids = new Set(costed.flatMap(({ fills }) => fills.map(({ fill_id }) => fill_id)));
  const fills = facts.fills.filter(({ fill_id }) => ids.has(fill_id));
  const quotesOf = (fill: Fill) => facts.fill_quotes?.[fill.fill_id];
  const isLater = (fill: Fill): boolean => millisecondsBetween(parse(fill.filled_at), parse(facts.as_of)) > laterMs;
  const without = fills.filter((fill) => !quotesOf(fill)?.at_fill).length;
  const unheard = fills.filter((fill) => isLater(fill) && !quotesOf(fill)?.after_300s).length;
  const ahead = fills.filter((fill) => !isLater(fill)).length;
  const line = (count: number, what: string, why: string) =>
    count === 0 ? [] : [{ what, detail: `${count} of ${fills.length} fills: ${why}` }];
  return [
    ...line(without, "No quote at the fill", "none was known then, so they are in no spread."),
    ...line(unheard, "No quote 300 s after the fill", "none was known then, so they are in no realised spread."),
    ...line(ahead, "300 s after the fill lies ahead", "they are in no realised spread yet."),
  ];
}
