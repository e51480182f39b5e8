// What a strategy may do now: what people set, and what watchdogs restrict of it. The allocation is the base times every open factor, computed anew each
// time, so that nothing is applied twice, endings commute and an operator's change is the new base. The status is the stricter one.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import type { StrategyStatus } from "../../contracts/src/records/values.ts";

export interface BaseStrategy {
  readonly strategyId: string;
  readonly fundId: string;
  readonly status: StrategyStatus;
  readonly allocationPct: number;
}

export interface EffectiveStrategy {
  readonly status: StrategyStatus;
  readonly allocationPct: number;
  /** A watchdog shadows what people have live: only reductions are handed in and kept. */
  readonly onlyReduces: boolean;
  /** What restricts it, oldest first. */
  readonly restrictionIds: readonly string[];
}

export function effectiveStrategy(base: BaseStrategy, open: readonly Restriction[]): EffectiveStrategy {
  const covering = open.filter(
    ({ kind, fundId, strategyId }) =>
      (kind === "ALLOCATION" || kind === "SHADOW") &&
      fundId === base.fundId &&
      (strategyId === undefined || strategyId === base.strategyId),
  );
  const onlyReduces = base.status === "live" && covering.some(({ kind }) => kind === "SHADOW");
  // Rounded in one order, so that the same restrictions give the same allocation.
  const factors = covering.flatMap(({ factor }) => factor ?? []).sort(decimal.compare);
  const allocation = factors.reduce(
    (product, factor) => decimal.multiply(product, factor, "down"),
    decimal.fromNumber(base.allocationPct),
  );
  return {
    status: onlyReduces ? "shadow" : base.status,
    allocationPct: factors.length === 0 ? base.allocationPct : decimal.toNumber(allocation),
    onlyReduces,
    restrictionIds: covering.map(({ restrictionId }) => restrictionId),
  };
}

/** Those that bring the strategy's own position towards zero and not beyond it. */
export function reductionsOf<Of extends Pick<Order, "symbol" | "side" | "quantity">>(
  orders: readonly Of[],
  positions: ReadonlyMap<string, decimal.Decimal>,
): readonly Of[] {
  return orders.filter(({ symbol, side, quantity }) => {
    const held = positions.get(symbol) ?? decimal.zero;
    const buys = side === "BUY" || side === "BUY_TO_COVER";
    const closable = buys ? decimal.negate(held) : held;
    return decimal.compare(decimal.parse(quantity), closable) <= 0;
  });
}

/** What is left of the targets when nothing may grow: each lies between zero and what is held, and the others stay as they are. */
export function reducingTargets<Of extends { readonly symbol: string; readonly quantity: decimal.Decimal }>(
  targets: readonly Of[],
  positions: ReadonlyMap<string, decimal.Decimal>,
): readonly Of[] {
  return targets.flatMap((target) => {
    const held = positions.get(target.symbol) ?? decimal.zero;
    const [least, most] = decimal.sign(held) < 0 ? [held, decimal.zero] : [decimal.zero, held];
    const quantity = decimal.min(most, decimal.max(least, target.quantity));
    return quantity === held ? [] : [{ ...target, quantity }];
  });
}
