// How fast a strategy and its fund ask for new risk: the moments of the last second, exactly.
import type { Instant } from "../../contracts/src/instant.ts";
import { microsecondsPerSecond } from "../../contracts/src/instant.ts";
import { type AddedInstant, addCounted, countWithin, removeInstant } from "../state/instant-ring.ts";
import type { FundBook, StrategyBook } from "../state/records.ts";

/** What must be known to take a counted order back. */
export interface CountedOrder {
  readonly at: Instant;
  readonly ofStrategy: AddedInstant;
  readonly ofFund: AddedInstant;
}

export function ordersInSecond({ pace }: FundBook | StrategyBook, at: Instant): number {
  return pace.size === 0 ? 0 : countWithin(pace, at, microsecondsPerSecond);
}

/** Counts an order that got past the static gate; before it there were so many within the second, as `ordersInSecond` has just reported. */
export function countOrder(
  fund: FundBook,
  strategy: StrategyBook,
  at: Instant,
  ofFundBefore: number,
  ofStrategyBefore: number,
): CountedOrder {
  const ofStrategy = addCounted(strategy.pace, at, microsecondsPerSecond, ofStrategyBefore);
  return { at, ofStrategy, ofFund: addCounted(fund.pace, at, microsecondsPerSecond, ofFundBefore) };
}

export function uncountOrder(fund: FundBook, strategy: StrategyBook, counted: CountedOrder): void {
  removeInstant(strategy.pace, counted.at, counted.ofStrategy);
  removeInstant(fund.pace, counted.at, counted.ofFund);
}
