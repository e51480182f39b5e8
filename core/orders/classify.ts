// What an order does to the position, proven and not believed: the side alone never makes a reduction, and neither does a claim.
//
// Invariants (classify.test.ts names them):
//  1. What other open orders may still close counts as closed: two orders can never both prove to close the same holding. An approval that
//     was not sent within its time does not count here.
//  2. A REDUCE, filled whole after all of those, never crosses zero.
//  3. The same of the strategy: `reducesStrategy`, filled whole after the strategy's other orders, its own position never crosses zero.
//  4. Closing and opening quantity add up to what the order would have open, and the closing part is never above what can be closed.

import {
  type Amount,
  isIdentical,
  isMore,
  isNegative,
  isPositive,
  larger,
  minus,
  negated,
  nothing,
} from "../money/amount.ts";
import type { FundView } from "../state/view.ts";

/** Sets classification, closing and opening quantity; undefined and zero when the order names no side or no quantity. */
export function classify(view: FundView): void {
  const { direction } = view.terms;
  const open = openQuantity(view);
  view.closingQuantity = nothing;
  view.openingQuantity = nothing;
  view.classification = undefined;
  view.reducesStrategy = false;
  if (direction === 0 || open === undefined) return;

  view.reducesStrategy = reducesStrategy(view, direction, open);
  const closable = closableQuantity(view, direction);
  const opposite = direction === 1 ? isNegative(view.position) : isPositive(view.position);
  if (opposite && !isMore(open, closable)) {
    view.classification = "REDUCE";
    view.closingQuantity = open;
  } else if (isPositive(closable)) {
    view.classification = "FLIP";
    view.closingQuantity = closable;
    view.openingQuantity = minus(open, closable);
  } else {
    view.classification = "INCREASE";
    view.openingQuantity = open;
  }
}

/** What an order in that direction could close: the position less what other open orders against it may close first. */
function closableQuantity(view: FundView, direction: 1 | -1): Amount {
  // Nothing to close is the common case, and worth not computing.
  if (direction === 1 ? !isNegative(view.position) : !isPositive(view.position)) return nothing;
  const held = direction === 1 ? negated(view.position) : view.position;
  const pending = direction === 1 ? view.pendingBuy : view.pendingSell;
  const left = minus(held, minus(pending, view.lapsed ?? nothing));
  return isPositive(left) ? left : nothing;
}

/** Invariant 3. */
function reducesStrategy(view: FundView, direction: 1 | -1, open: Amount): boolean {
  const { strategyPosition: held } = view;
  return (direction === 1 ? isNegative(held) : isPositive(held)) && !isMore(open, ownClosable(view, direction));
}

/** The closing part, as far as the order's own strategy holds it. */
export function ownClosing(view: FundView): Amount {
  const { closingQuantity, closesForFund } = view;
  const own = closesForFund === true ? closingQuantity : ownClosable(view, view.terms.direction === 1 ? 1 : -1);
  return isMore(own, closingQuantity) ? closingQuantity : own;
}

/** What an order in that direction could close of what its strategy itself holds, beyond what the strategy's other open orders may close first. */
export function ownClosable({ strategyPosition, strategyPending }: FundView, direction: 1 | -1): Amount {
  const left = minus(direction === 1 ? negated(strategyPosition) : strategyPosition, strategyPending);
  return isPositive(left) ? left : nothing;
}

/** What the order would have open: all of a new one; of an amended one what its new quantity leaves after its fills, at least zero. */
function openQuantity(view: FundView): Amount | undefined {
  const { quantity } = view.terms;
  // A new order has filled nothing.
  if (quantity === undefined || isIdentical(view.ownFilled, nothing)) return quantity;
  return isMore(quantity, view.ownFilled) ? minus(quantity, view.ownFilled) : nothing;
}

/** The most that may still fill: until an amendment is confirmed the old quantity may as well. */
export function openQuantityMax(view: FundView): Amount {
  return larger(openQuantity(view) ?? nothing, view.ownRemaining);
}
