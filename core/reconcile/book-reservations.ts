// What the risk engine has reserved, held against what may still trade: the other way round than core/reconcile/books.ts, which asks whether enough is
// reserved. Exposure that is held for nothing keeps out orders that should pass.
//
//  1. What is reserved for an order of ours is at most what that order may still trade, but for what is on its way: the caller says since when.
//  2. An approval that nobody sent is gone after its time; while the engine's time stands still it is not, but never for long.
// An order that order management never had is somebody else's: its own system tells of it, and nothing here can know better.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { BelievedApproval, KnownOrder } from "../../contracts/src/records/books.ts";
import type { BookDifference } from "./book-difference.ts";

/** A sweep of the engine may be late by so much, and its time may stand still for so long, before it is a difference. */
const sweepMsMax = 10_000;
const standstillMsMax = 300_000;

/** Invariant 1: orders for which more is reserved than may trade, by their ids. */
export function overReserved(
  approvals: readonly BelievedApproval[],
  known: readonly KnownOrder[],
): ReadonlyMap<string, BookDifference> {
  const mayTrade = new Map(known.map((order) => [order.orderId, order.mayTrade]));
  return new Map(
    approvals.flatMap((approval) => {
      const most = mayTrade.get(approval.orderId);
      const isMore = approval.unsent === undefined && most !== undefined && approval.reserved > most;
      return isMore ? [[approval.orderId, difference(approval, `and ${decimal.format(most)} may still trade`)]] : [];
    }),
  );
}

/** Invariant 2. */
export function unsentTooLong(approvals: readonly BelievedApproval[], at: Instant): readonly BookDifference[] {
  return approvals.flatMap((approval) => {
    const { unsent } = approval;
    if (unsent === undefined) return [];
    const isLate =
      millisecondsBetween(unsent.expiresAt, at) > sweepMsMax ||
      millisecondsBetween(unsent.validUntil, at) > standstillMsMax;
    return isLate ? [difference(approval, `which nobody sent by ${format(unsent.validUntil)}`)] : [];
  });
}

function difference({ orderId, fundId, symbol, reserved }: BelievedApproval, why: string): BookDifference {
  const held = `${decimal.format(reserved)} ${symbol} of ${fundId} is reserved for the order ${orderId}`;
  return { about: `held ${orderId}`, sentence: `${held}, ${why}.` };
}
