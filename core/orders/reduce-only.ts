// Which resting exits are too large for what is left of the position: together they may never close more than there is. The newest give way
// first, because the oldest stand first in the market's line.

import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Side } from "../../contracts/src/records/values.ts";
import { signedQuantity } from "../ledger/position.ts";

export interface RestingExit {
  readonly orderId: string;
  readonly side: Side;
  /** What may still trade. */
  readonly remaining: Decimal;
}

interface Shrunk {
  readonly orderId: string;
  /** Zero: it has to go. */
  readonly remaining: Decimal;
}

/** Oldest first in; only those that have to change come out. */
export function shrinkExits(position: Decimal, exits: readonly RestingExit[]): readonly Shrunk[] {
  const shrunk: Shrunk[] = [];
  let left = decimal.abs(position);
  for (const { orderId, side, remaining } of exits) {
    const closes = decimal.sign(signedQuantity(side, remaining)) === -decimal.sign(position);
    const allowed = closes ? decimal.min(remaining, left) : decimal.zero;
    if (closes) left = decimal.subtract(left, allowed);
    if (allowed < remaining) shrunk.push({ orderId, remaining: allowed });
  }
  return shrunk;
}
