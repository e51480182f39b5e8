// What an order's own system tells about it, step by step, and what each step does to its reservation (the invariants are those of
// reservations.ts).
import * as instant from "../../contracts/src/instant.ts";
import type { OrderTransition } from "../../contracts/src/records/order.ts";
import * as amounts from "../money/amount.ts";
import { type Amount, parseAmount } from "../money/amount.ts";
import type { Books } from "../state/records.ts";
import { endByWord, noteEnd, noteReport, rememberedOrder, worksAgain } from "./ended-orders.ts";
import type { Amended, OpenOrder } from "./open-order.ts";
import { noAmendments, noteSending, type OrderBook, reserveAgain, settle, settleEnded } from "./reservations.ts";

const endings: ReadonlySet<string> = new Set(["REJECTED", "CANCELLED", "EXPIRED", "FILLED"]);
/** States that only an order has that reached a broker. */
const withBroker: ReadonlySet<string> = new Set(["ROUTED", "WORKING", "PARTIALLY_FILLED", "CANCEL_PENDING"]);
/** What only an order reports that is in the market. */
const showsWork: ReadonlySet<string> = new Set(["WORKING", "PARTIALLY_FILLED"]);
/** States that only an order has that was sent, or may have been. */
const showsSending: ReadonlySet<string> = new Set([...withBroker, "UNKNOWN"]);

/** What a transition does besides what it says. */
export interface TransitionEffect {
  /** The order, or terms of it, had expired unsent, and count again. */
  readonly reservedAgain: boolean;
  /** Its end was reported before, and it works after that. */
  readonly worksAgain: boolean;
}

const nothingMore: TransitionEffect = { reservedAgain: false, worksAgain: false };

/** Invariants 3 to 5, 8 and 9. A transition of an order that is not open says nothing about exposure. */
export function applyTransition(books: Books, orders: OrderBook, transition: OrderTransition): TransitionEffect {
  const order = orders.open.get(transition.order_id) ?? rememberedOrder(orders, transition.order_id);
  if (order === undefined || order.fund.id !== transition.fund_id) return nothingMore;
  const isExpired = order.expired;
  const didWorkAgain = worksAgain(order);
  let isTermsAgain = false;
  const at = instant.parse(transition.at);
  if (withBroker.has(transition.to)) order.sent = true;
  if (transition.dropped_amendment_key !== undefined) dropAmendment(order, transition.dropped_amendment_key);
  if (endings.has(transition.to)) {
    noteEnd(order, at);
    order.filledReported = amounts.larger(order.filledReported, parseAmount(transition.filled_quantity));
    // What it tells to have traded and no fill has reported yet must have been sent.
    noteSending(order, at);
  } else {
    if (showsSending.has(transition.to)) noteSending(order, at);
    if (showsWork.has(transition.to)) {
      noteReport(order, at, transition.filled_quantity, transition.remaining_quantity);
    }
    if (!order.ended && transition.quantity !== undefined) {
      isTermsAgain = tellTerms(order, parseAmount(transition.quantity), at);
    }
    // Merely accepted is what it was when its approval ran out.
    if (isExpired && !Number.isNaN(order.unsentUntil)) return nothingMore;
  }
  if (isExpired) reserveAgain(books, orders, order);
  else if (orders.unfilled.get(order.id) === order) settleEnded(books, orders, order);
  else settle(books, orders, order);
  const isReserved = !amounts.isNothing(order.remaining);
  return {
    reservedAgain: (isExpired || isTermsAgain) && isReserved,
    worksAgain: !didWorkAgain && worksAgain(order) && isReserved,
  };
}

/** An operator's word, whatever its source reported until then; of one that waits for the risk officer nobody can say that. */
export function endOrder(books: Books, orders: OrderBook, orderId: string, at: number): void {
  const order = orders.open.get(orderId);
  if (order === undefined || order.awaitsVerdict) return;
  endByWord(order, at);
  order.unsentUntil = Number.NaN;
  settle(books, orders, order);
}

/** Invariant 9. Also one that had run out unsent: nobody will tell of it any more. */
function dropAmendment(order: OpenOrder, key: string): void {
  const isOther = (amended: Amended): boolean => amended.key !== key;
  order.amendments = order.amendments.filter(isOther);
  order.dropped = order.dropped.filter(isOther);
}

/**
 * The quantity in force is known now; of the amendments that waited, those up to the one that it tells of are settled. Whether it tells of one
 * that had run out unsent.
 */
function tellTerms(order: OpenOrder, quantity: Amount, at: number): boolean {
  if (at < order.termsAt) return false;
  const isAnother = !amounts.isEqual(order.quantity, quantity);
  order.termsAt = at;
  order.quantity = quantity;
  const index = order.amendments.findIndex((waiting) => amounts.isEqual(waiting.quantity, quantity));
  const reported = order.amendments[index];
  if (reported !== undefined) {
    order.terms = reported.terms;
    order.amendments = index === order.amendments.length - 1 ? noAmendments : order.amendments.slice(index + 1);
    return false;
  }
  const late = order.dropped.find((ranOut) => amounts.isEqual(ranOut.quantity, quantity));
  if (!isAnother || late === undefined) return false;
  order.terms = late.terms;
  order.dropped = order.dropped.filter((ranOut) => ranOut !== late);
  return true;
}
