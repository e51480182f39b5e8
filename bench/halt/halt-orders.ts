// The orders of the halt bench: each buys a little of one thing, in one of ten funds with one strategy each, so that all of
// them add risk and whatever is denied is denied by a halt.
import { fundCount, fundOf, kind, type OrderKind } from "../check-order/orders.ts";

export const haltedSymbol = "AAPL";

export type HaltLevel = "FUND_HALT" | "STRATEGY_HALT";

export const haltCodes: Readonly<Record<HaltLevel, string>> = {
  FUND_HALT: "FUND_HALTED",
  STRATEGY_HALT: "STRATEGY_HALTED",
};

export function strategyOf(fund: number): string {
  return `${fundOf(fund)}-a`;
}

/** By fund. */
export const buys: readonly OrderKind[] = Array.from({ length: fundCount }, (_, fund) =>
  kind("", fund, 0, { symbol: haltedSymbol, order_type: "MARKET", limit_price: undefined }),
);
