// What one line adds to a fund's sums, in the worst case over its open orders.

import type { Amount } from "../money/amount.ts";
import * as amounts from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { type Notional, zeroNotional } from "../money/exact.ts";
import { pendingBuyAt, pendingSellAt, positionAt } from "../state/fund-state.ts";
import type { FundBook } from "../state/records.ts";

/** What the line adds to the sums if every pending buy fills and no sell does, the other way round, and at worst. */
export interface LineValue {
  high: Notional;
  low: Notional;
  gross: Notional;
}

/** The values of a fund's line at that value of a unit; all zero without one. */
export function lineValue(fund: FundBook, row: number, unitValue: Amount | undefined, into: LineValue): void {
  if (unitValue === undefined) {
    into.high = zeroNotional;
    into.low = zeroNotional;
    into.gross = zeroNotional;
    return;
  }
  const position = positionAt(fund, row);
  into.high = exact.product(amounts.plus(position, pendingBuyAt(fund, row)), unitValue);
  into.low = exact.product(amounts.minus(position, pendingSellAt(fund, row)), unitValue);
  into.gross = exact.larger(exact.magnitude(into.high), exact.magnitude(into.low));
}
