// Approvals that nobody used. Whoever asked may have crashed before sending, and nobody would ever tell the end of such an order: its exposure
// would be held for ever. So an approval of which nothing shows that it was sent runs out. When it does is the shell's to say, because only
// that knows whether everything was heard; here is which orders they are and what happens to them.
//
// Invariants (unsent-approvals.test.ts names them):
//  1. Only what nothing shows to be sent expires: an order as a whole, or amendments of an order that was sent.
//  2. An expired order holds nothing and is remembered: what shows later that it was sent reserves it again. One that somebody released is
//     remembered as that.
//  3. Expiring can be taken back as if it had not been, for a journal that could not be written.
//  4. Past its `valid_until`, and once everything said of orders until then was heard, an unsent approval no longer counts against the proof that an
//     exit reduces; its exposure counts until it expires.
import type { Instant } from "../../contracts/src/instant.ts";
import type { Amount } from "../money/amount.ts";
import * as amounts from "../money/amount.ts";
import type { Books, FundBook, SymbolBook } from "../state/records.ts";
import type { Amended, OpenOrder } from "./open-order.ts";
import { noAmendments, type OrderBook, reserveAgain, settle } from "./reservations.ts";

/** An open order with an approval of which nothing shows that it was sent. */
interface UnsentApproval {
  readonly orderId: string;
  /** The whole order, or only amendments of it. */
  readonly what: "ORDER" | "AMENDMENT";
  /** The oldest of their `valid_until`. */
  readonly validUntil: Instant;
}

/** What expired, as it must be known to tell it and to take it back. */
export interface Expiry {
  readonly order: OpenOrder;
  readonly what: UnsentApproval["what"];
  readonly released: Amount;
  readonly amendments: readonly Amended[];
  readonly before: Pick<OpenOrder, "expiredOnce" | "dropped">;
}

/** Expired orders that are remembered, and amendments of one order. */
const expiredMax = 16_384;
const droppedMax = 16;

const isUnsent = (until: number, through: number): boolean => until <= through;

/** Those of its approvals that nothing shows to be sent, if their time ran out by then; undefined when there are none. */
function unsentOf(order: OpenOrder, through: Instant): UnsentApproval | undefined {
  if (order.awaitsVerdict) return undefined;
  const { id: orderId, unsentUntil, amendments } = order;
  if (!Number.isNaN(unsentUntil)) {
    if (!isUnsent(unsentUntil, through)) return undefined;
    return { orderId, what: "ORDER", validUntil: unsentUntil as Instant };
  }
  let oldest = Number.POSITIVE_INFINITY;
  for (const waiting of amendments) if (waiting.unsentUntil < oldest) oldest = waiting.unsentUntil;
  if (!isUnsent(oldest, through)) return undefined;
  return { orderId, what: "AMENDMENT", validUntil: oldest as Instant };
}

/** Everything of an order that nothing shows to be sent. */
export interface Unsent {
  readonly what: UnsentApproval["what"];
  /** The newest of their `valid_until`. */
  readonly through: Instant;
  /** The idempotency keys of its amendments among them; undefined for one that stands for two. */
  readonly keys: readonly (string | undefined)[];
}

/** Undefined when nothing of the order is unsent. */
export function allUnsent(orders: OrderBook, orderId: string): Unsent | undefined {
  const order = orders.open.get(orderId);
  if (order === undefined || order.awaitsVerdict) return undefined;
  const waiting = order.amendments.filter(({ unsentUntil }) => !Number.isNaN(unsentUntil));
  const keys = waiting.map(({ key }) => key);
  if (!Number.isNaN(order.unsentUntil)) return { what: "ORDER", through: order.unsentUntil as Instant, keys };
  if (waiting.length === 0) return undefined;
  const newest = Math.max(...waiting.map(({ unsentUntil }) => unsentUntil));
  return { what: "AMENDMENT", through: newest as Instant, keys };
}

/** How an unsent approval ends: its time ran out, or somebody released it before. */
export type UnsentEnd = "EXPIRED" | "RELEASED";

/** Invariants 1 and 2. Undefined when nothing of the order is unsent and ran out by then. */
export function expire(
  books: Books,
  orders: OrderBook,
  orderId: string,
  through: Instant,
  end: UnsentEnd = "EXPIRED",
): Expiry | undefined {
  const order = orders.open.get(orderId);
  const unsent = order === undefined ? undefined : unsentOf(order, through);
  if (order === undefined || unsent === undefined) return undefined;
  const held = order.remaining;
  const { expiredOnce, dropped } = order;
  const { what } = unsent;
  let ranOut = noAmendments;
  if (what === "ORDER") {
    order.expired = true;
    order.released = end === "RELEASED";
    order.expiredOnce = true;
    orders.expired.set(order.id, order);
    if (orders.expired.size > expiredMax) forgetOldest(orders);
  } else {
    ranOut = order.amendments.filter((waiting) => isUnsent(waiting.unsentUntil, through));
    order.amendments = order.amendments.filter((waiting) => !ranOut.includes(waiting));
    order.dropped = [...dropped, ...ranOut].slice(-droppedMax);
  }
  settle(books, orders, order);
  const released = amounts.minus(held, order.remaining);
  return { order, what, released, amendments: ranOut, before: { expiredOnce, dropped } };
}

function forgetOldest({ expired }: OrderBook): void {
  for (const oldest of expired.keys()) {
    expired.delete(oldest);
    return;
  }
}

/** Invariant 3; what was heard of the order since then stays. */
export function unexpire(books: Books, orders: OrderBook, { order, what, amendments, before }: Expiry): void {
  if (what === "ORDER") {
    if (orders.expired.get(order.id) !== order) return;
    order.expiredOnce = before.expiredOnce;
    reserveAgain(books, orders, order);
    return;
  }
  if (orders.open.get(order.id) !== order) return;
  const own = amendments.filter((ranOut) => order.dropped.includes(ranOut));
  order.dropped = before.dropped;
  order.amendments = [...own, ...order.amendments];
  settle(books, orders, order);
}

/** What became of an order that its owner says was sent. */
export type Confirmed = "noted" | "known" | "reserved again" | "ended";

/** Undefined for an order that is not known, or not approved. */
export function confirmSent(books: Books, orders: OrderBook, orderId: string): Confirmed | undefined {
  const order = orders.open.get(orderId) ?? orders.expired.get(orderId);
  if (order === undefined) return orders.open.hasEnded(orderId) ? "ended" : undefined;
  if (order.awaitsVerdict) return undefined;
  const ranOut = order.dropped;
  const isKnown =
    !order.expired &&
    ranOut.length === 0 &&
    Number.isNaN(order.unsentUntil) &&
    order.amendments.every((waiting) => Number.isNaN(waiting.unsentUntil));
  if (isKnown) return "known";
  const isAgain = order.expired || ranOut.length > 0;
  order.amendments = [...ranOut, ...order.amendments];
  order.dropped = noAmendments;
  order.sent = true;
  order.unsentUntil = Number.NaN;
  for (const waiting of order.amendments) waiting.unsentUntil = Number.NaN;
  if (order.expired) reserveAgain(books, orders, order);
  else settle(books, orders, order);
  return isAgain ? "reserved again" : "noted";
}

/** One stretch of a sweep over all open orders. */
export interface Swept {
  readonly unsent: readonly UnsentApproval[];
  /** Where the next stretch begins; 0 when this was the last. */
  readonly next: number;
}

/** A sweep that is under way, for the index of what may have lapsed. */
interface SweepState {
  readonly found: Map<SymbolBook, Map<FundBook, OpenOrder[]>>;
}

export const noSweep = (): SweepState => ({ found: new Map() });

/** Open orders whose unsent approvals ran out by then, a moment up to which everything was heard; from a place on, so many places at most. */
export function sweepUnsent(
  orders: OrderBook,
  sweep: SweepState,
  through: Instant,
  from: number,
  countMax: number,
): Swept {
  const unsent: UnsentApproval[] = [];
  if (from === 0) sweep.found.clear();
  const next = orders.open.visit(from, countMax, (order) => {
    const approval = unsentOf(order, through);
    if (approval === undefined) return;
    unsent.push(approval);
    const funds = sweep.found.get(order.book) ?? new Map<FundBook, OpenOrder[]>();
    const others = funds.get(order.fund);
    if (others !== undefined) others.push(order);
    else sweep.found.set(order.book, funds.set(order.fund, [order]));
  });
  if (next === 0) orders.lapsing = new Map(sweep.found);
  return { unsent, next };
}

/**
 * Invariant 4: how much of what is pending on a line in that direction does not count, one order left out; of all strategies, or of one. It goes
 * through every lapsed order of the line, so ask only for an order that has something to close.
 */
export function lapsedQuantity(
  { lapsing }: OrderBook,
  fund: FundBook,
  book: SymbolBook,
  direction: 1 | -1,
  except: OpenOrder | undefined,
  at: Instant,
  strategyId?: string,
): Amount {
  let lapsed = amounts.nothing;
  for (const order of lapsing.get(book)?.get(fund) ?? []) {
    if (order === except || order.direction !== direction) continue;
    if (strategyId !== undefined && order.strategyId !== strategyId) continue;
    lapsed = amounts.plus(lapsed, lapsedOf(order, at));
  }
  return lapsed;
}

function lapsedOf(order: OpenOrder, at: Instant): Amount {
  if (order.expired || order.ended || order.awaitsVerdict) return amounts.nothing;
  if (at > order.unsentUntil) return order.remaining;
  if (order.amendments.length === 0 || !Number.isNaN(order.unsentUntil)) return amounts.nothing;
  let counts = order.quantity;
  for (const { quantity, unsentUntil } of order.amendments) {
    if (!(at > unsentUntil)) counts = amounts.larger(counts, quantity);
  }
  const left = amounts.isMore(counts, order.filled) ? amounts.minus(counts, order.filled) : amounts.nothing;
  return amounts.minus(order.remaining, left);
}
