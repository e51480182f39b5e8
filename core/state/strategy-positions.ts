// What each strategy of a fund holds, by the fills that name it, and what its own open orders may still trade: under a strategy's halt an exit must
// reduce what that strategy holds, not what another one of the fund does. The fund's sums are exposure.ts's; nothing here adds to them.
//
// Invariants (strategy-positions.test.ts names them):
//  1. A strategy's quantity is the sum of its fills; without a cross the sum over a fund's strategies is the fund's position, and a cross adds nothing to it.
//  2. What is pending is the sum over its open orders of what is reserved for them.
//  3. What is nothing in every respect is not kept.
import { type Amount, isNothing, nothing, plus } from "../money/amount.ts";

interface StrategyPosition {
  /** Negative when short. */
  quantity: Amount;
  pendingBuy: Amount;
  pendingSell: Amount;
}

/** By fund, then by strategy, then by symbol. */
export type StrategyPositions = Map<string, Map<string, Map<string, StrategyPosition>>>;

/** Absent when the strategy neither holds nor may trade anything of the symbol. */
export function strategyPositionOf(
  positions: StrategyPositions,
  fundId: string,
  strategyId: string,
  symbol: string,
): Readonly<StrategyPosition> | undefined {
  return positions.get(fundId)?.get(strategyId)?.get(symbol);
}

export function moveStrategyPosition(
  positions: StrategyPositions,
  fundId: string,
  strategyId: string,
  symbol: string,
  change: Amount,
): void {
  const position = positionFor(positions, fundId, strategyId, symbol);
  position.quantity = plus(position.quantity, change);
  forgetNothing(positions, fundId, strategyId, symbol, position);
}

export function moveStrategyPending(
  positions: StrategyPositions,
  fundId: string,
  strategyId: string,
  symbol: string,
  direction: 1 | -1,
  change: Amount,
): void {
  const position = positionFor(positions, fundId, strategyId, symbol);
  if (direction === 1) position.pendingBuy = plus(position.pendingBuy, change);
  else position.pendingSell = plus(position.pendingSell, change);
  forgetNothing(positions, fundId, strategyId, symbol, position);
}

function positionFor(
  positions: StrategyPositions,
  fundId: string,
  strategyId: string,
  symbol: string,
): StrategyPosition {
  let ofFund = positions.get(fundId);
  if (ofFund === undefined) {
    ofFund = new Map();
    positions.set(fundId, ofFund);
  }
  let ofStrategy = ofFund.get(strategyId);
  if (ofStrategy === undefined) {
    ofStrategy = new Map();
    ofFund.set(strategyId, ofStrategy);
  }
  let position = ofStrategy.get(symbol);
  if (position === undefined) {
    position = { quantity: nothing, pendingBuy: nothing, pendingSell: nothing };
    ofStrategy.set(symbol, position);
  }
  return position;
}

/** Invariant 3: a marked exit may name a strategy that nobody knows, so names must not add up. */
function forgetNothing(
  positions: StrategyPositions,
  fundId: string,
  strategyId: string,
  symbol: string,
  { quantity, pendingBuy, pendingSell }: StrategyPosition,
): void {
  if (!isNothing(pendingBuy) || !isNothing(pendingSell) || !isNothing(quantity)) return;
  const ofFund = positions.get(fundId);
  const ofStrategy = ofFund?.get(strategyId);
  ofStrategy?.delete(symbol);
  if (ofStrategy?.size === 0) ofFund?.delete(strategyId);
  if (ofFund?.size === 0) positions.delete(fundId);
}

/** What is held, sorted: for the snapshot and for whoever compares. */
export function heldByStrategies(
  positions: StrategyPositions,
): readonly { readonly fundId: string; readonly strategyId: string; readonly symbol: string; quantity: Amount }[] {
  const held = [...positions].flatMap(([fundId, ofFund]) =>
    [...ofFund].flatMap(([strategyId, ofStrategy]) =>
      [...ofStrategy]
        .filter(([, { quantity }]) => !isNothing(quantity))
        .map(([symbol, { quantity }]) => ({ fundId, strategyId, symbol, quantity })),
    ),
  );
  const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
  return held.sort(
    (left, right) =>
      byText(left.fundId, right.fundId) ||
      byText(left.strategyId, right.strategyId) ||
      byText(left.symbol, right.symbol),
  );
}
