// What a fund's position in a symbol would be without the fills that nobody vouches for. A fill that may be untrue is, for every limit, an open order the other
// way: it may turn out that it never was. So it stands beside the pending quantities of its line, every sum takes the worse end by itself, and a fund of which
// nothing is open costs nothing. Exits are proven against what is booked (decision 0071), so whoever proves one leaves these out again.
//
// Invariants (doubts.test.ts compares them with every subset of what is open):
//  1. The two ends of a line are the ends over every set of open fills that may be untrue, together with every set of open orders that may fill.
//  2. A leg of a cross, which moves no position of the fund, may be a trade: it is an open order in its own direction.
//  3. What has ended leaves no trace.
import type { RiskBlock } from "../../contracts/src/records/block.ts";
import * as amounts from "../money/amount.ts";
import { type Amount, nothing, parseAmount } from "../money/amount.ts";
import { type Books, type FundBook, fundBookOf, symbolBookOf } from "../state/records.ts";
import { directionOf } from "../state/terms.ts";
import { movePending } from "./exposure.ts";

/** By how much a line's pending quantities are higher than those of its open orders. */
interface Doubt {
  readonly buys: Amount;
  readonly sells: Amount;
}

const none: Doubt = { buys: nothing, sells: nothing };

export function doubtOf({ doubts }: FundBook, slot: number): Doubt {
  return doubts?.get(slot) ?? none;
}

/** A block was opened, or ended. Blocks from before a fill's quantity was kept doubt nothing. */
export function moveDoubt(books: Books, { fund_id: fundId, symbol, fill }: RiskBlock, sign: 1 | -1): void {
  const { side, quantity: text, kind = "TRADE" } = fill ?? {};
  if (symbol === undefined || side === undefined || text === undefined) return;
  const direction = directionOf(side);
  if (direction === 0) return;
  const fund = fundBookOf(books, fundId);
  const book = symbolBookOf(books, symbol);
  const isBuy = kind === "CROSS" ? direction === 1 : direction === -1;
  const quantity = parseAmount(text);
  const change = sign === 1 ? quantity : amounts.negated(quantity);
  movePending(books, fund, book, isBuy ? 1 : -1, change);
  const { buys, sells } = doubtOf(fund, book.slot);
  const after = isBuy ? { buys: amounts.plus(buys, change), sells } : { buys, sells: amounts.plus(sells, change) };
  fund.doubts ??= new Map();
  if (amounts.isNothing(after.buys) && amounts.isNothing(after.sells)) fund.doubts.delete(book.slot);
  else fund.doubts.set(book.slot, after);
  if (fund.doubts.size === 0) fund.doubts = undefined;
}
