// Orders whose end was reported and of which something later shows that they still work. Dates decide, never the order of arrival: whatever came first, the same
// reports make the same reservation.
//
// Invariants (ended-orders.test.ts names them):
//  1. A report that an order works, or a fill of it, dated more than 5 s after its end was reported, takes the end back: what it may still trade is reserved again.
//  2. That is what was approved less what has filled; where a report names a remainder, no more than that, counted from what it says has filled.
//  3. An end that is reported later than that frees it, and so does an operator's word.
//  4. The newest of the orders that ended before they were filled are remembered for this.
import * as amounts from "../money/amount.ts";
import { type Amount, parseAmount } from "../money/amount.ts";
import type { OpenOrder } from "./open-order.ts";

/** Of two clocks that disagree, and of a venue that tells of its end before its last fill. */
const afterEndUs = 5_000_000;
const rememberedMax = 16_384;

type Life = Pick<OpenOrder, "ended" | "endedAt" | "workedAt" | "worked">;

/** Invariant 1. */
export function worksAgain({ ended, endedAt, workedAt }: Life): boolean {
  return ended && workedAt > endedAt + afterEndUs;
}

/** Invariant 2: what it may trade in all; `approved` is the largest quantity that may be in force. Never less than what its end said has traded. */
export function workedTotal({ endedAt, worked, filledReported }: OpenOrder, approved: Amount): Amount {
  if (worked === undefined || !(worked.at > endedAt + afterEndUs)) return approved;
  const total = amounts.larger(worked.total, filledReported);
  return amounts.isMore(approved, total) ? total : approved;
}

/** Something of that date shows that it works. */
export function noteWork(order: OpenOrder, at: number): void {
  if (!(order.workedAt >= at)) order.workedAt = at;
}

/** A report of that date says so, and what is left. */
export function noteReport(order: OpenOrder, at: number, filled: string, remaining: string): void {
  noteWork(order, at);
  const total = amounts.plus(parseAmount(filled), parseAmount(remaining));
  const { worked } = order;
  const isNewer = worked === undefined || at > worked.at || (at === worked.at && amounts.isMore(total, worked.total));
  if (isNewer) order.worked = { at, total };
}

/** Its end was reported with that date. */
export function noteEnd(order: OpenOrder, at: number): void {
  order.ended = true;
  if (!(order.endedAt >= at)) order.endedAt = at;
}

/** Invariant 3: an operator says that it has ended, whatever was reported until then. */
export function endByWord(order: OpenOrder, at: number): void {
  noteEnd(order, Number.isNaN(order.workedAt) ? at : Math.max(at, order.workedAt));
  order.filledReported = order.filled;
}

/** Invariant 4: the oldest of too many are forgotten. */
export function remember(unfilled: Map<string, OpenOrder>, order: OpenOrder): void {
  unfilled.set(order.id, order);
  if (unfilled.size <= rememberedMax) return;
  for (const oldest of unfilled.keys()) {
    unfilled.delete(oldest);
    return;
  }
}

/** What is remembered of orders that are not open: those that ran out unsent, and those that ended before they were filled. */
export function rememberedOrder(
  { expired, unfilled }: Readonly<Record<"expired" | "unfilled", ReadonlyMap<string, OpenOrder>>>,
  orderId: string,
): OpenOrder | undefined {
  return expired.get(orderId) ?? unfilled.get(orderId);
}
