// A view in which no halt, no condition and no missing or old price stands. Limits stay, and so do the restricted list, rates and borrow: those are what a dry run is about.

import { unitValueAt } from "../../exposure/valuation.ts";
import type { Amount } from "../../money/amount.ts";
import { isNothing, oneUnit } from "../../money/amount.ts";
import { noneStands } from "../../state/standing-condition.ts";
import type { FundView } from "../../state/view.ts";

/** Whether quantities say anything: without a price of what it does not hold only money can be counted, one unit of it for one of its currency. */
export function asIfNothingStood(view: FundView): boolean {
  Object.assign(view, { haltsKnown: true, halt: undefined, haltId: "", haltReason: "", strategyHalted: false });
  Object.assign(view, { conditions: noneStands, exitWaits: undefined });
  Object.assign(view, { navAgeMs: 0, oldestPriceAgeMs: 0 });
  if (view.unpricedRate === undefined) view.unpricedSymbol = undefined;
  if (view.option !== undefined) view.option = { ...view.option, deltaAgeMs: 0 };
  if (view.price !== undefined) {
    view.priceAgeMs = 0;
    return true;
  }
  if (view.instrument === undefined || view.fxRate === undefined || isHeld(view)) return true;
  const unitValue = unitValueAt(oneUnit, view.instrument, view.fxRate);
  Object.assign(view, { price: oneUnit, bid: undefined, ask: undefined, market: undefined, priceAgeMs: 0, unitValue });
  return false;
}

function isHeld({ position, pendingBuy, pendingSell }: FundView): boolean {
  return [position, pendingBuy, pendingSell].some((quantity: Amount) => !isNothing(quantity));
}
