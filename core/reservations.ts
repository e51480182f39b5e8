// Open orders and the exposure that is held for them, from the moment of approval until the order can no longer fill.
//
// Invariants (engine-traps.test.ts and the random lives of engine.test.ts hold them):
//  1. What is reserved is what may still fill: the largest quantity that may be in force less what has filled. It is a function of the
//     quantities, the fills and the ending, whatever came first, so fills and transitions may arrive in any order.
//  2. Fills always move the position: late, before the acknowledgement, beyond the quantity, or of an order that nobody asked about.
//  3. An ending frees what cannot fill any more. If it tells of more fills than were seen, the difference stays until they come.
//  4. UNKNOWN frees nothing. An ended order does not come back.
//  5. Until a transition tells the new quantity, an amended order may still fill its old one.
//  6. An order with nothing left to fill is gone.
//  7. Only an order that is known to be with a broker can be lowered, and only below every quantity that may be in force and under the same
//     terms: an approval that was never used must not be revived by asking for less.
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import * as instant from "../contracts/src/instant.ts";
import type { Fill, OrderTransition } from "../contracts/src/records/order.ts";
import * as amounts from "./amount.ts";
import { type Amount, parseAmount, toDecimal } from "./amount.ts";
import { type BoundedMap, boundedMap } from "./bounded-map.ts";
import { type Books, type FundBook, fundBookOf, type SymbolBook, symbolBookOf } from "./engine-books.ts";
import { movePending, movePosition } from "./exposure.ts";
import { positionAt, rowOf } from "./fund-sheet.ts";
import { createOpenOrders, type OpenOrders } from "./open-orders.ts";
import { areSameTerms, keptTerms, type OrderTerms } from "./order-terms.ts";
import { directionOf } from "./terms.ts";
import type { AmendRefusal } from "./view.ts";

export interface OpenOrder {
  readonly id: string;
  readonly fund: FundBook;
  readonly strategyId: string;
  readonly side: string;
  readonly direction: 1 | -1;
  book: SymbolBook;
  /** As it was approved first, or as a transition told last. */
  quantity: Amount;
  /** Under which it was approved first, or those of the amendment that a transition told last; undefined when they are not known. */
  terms: OrderTerms | undefined;
  /** Approved amendments that no transition has told yet, oldest first. */
  amendments: readonly Amended[];
  /** Whether a fill or a transition told that it is with a broker. */
  sent: boolean;
  filled: Amount;
  ended: boolean;
  /** What the ending said has filled. */
  filledTold: Amount;
  /** When the quantity was told last; NaN while it was not. */
  termsAt: number;
  /** Reserved, and not approved before the risk officer has answered. */
  awaitsVerdict: boolean;
  /** What may still fill; it is what the line holds for this order. */
  remaining: Amount;
}

/** What an amendment asked for. */
export interface Amended {
  readonly quantity: Amount;
  readonly terms: OrderTerms | undefined;
}

export interface OrderBook {
  readonly open: OpenOrders;
  /**
   * Orders that ended, while the journal is read back and only then. There a fill or an ending may stand before an amendment that was
   * approved without knowing of it, and the amendment must find the order that it belongs to.
   */
  ended: BoundedMap<string, OpenOrder> | undefined;
  /** Those of the newest order: most orders have the terms of the one before, and share them. */
  newestTerms: OrderTerms | undefined;
}

export function createOrderBook(): OrderBook {
  return { open: createOpenOrders(), ended: boundedMap(endedMax), newestTerms: undefined };
}

export interface FillEffect {
  /** Whether an open order was found that the fill belongs to. */
  readonly known: boolean;
  /** Whether that order is complete now. */
  readonly closed: boolean;
  /** By how much the fill went beyond what could still fill; zero when it did not. */
  readonly overfill: Decimal;
  /** The fund's position in the symbol after it. */
  readonly position: Decimal;
}

const noAmendments: readonly Amended[] = [];
const endedMax = 65_536;
/** Amendments that wait to be told; of more than these the largest stands for two. */
const amendmentsMax = 16;
const endings: ReadonlySet<string> = new Set(["REJECTED", "CANCELLED", "EXPIRED", "FILLED"]);
/** States that only an order has that reached a broker. */
const withBroker: ReadonlySet<string> = new Set(["ROUTED", "WORKING", "PARTIALLY_FILLED", "CANCEL_PENDING"]);

/** What may still fill (invariant 1). */
function remainingOf(order: OpenOrder): Amount {
  let atMost = order.ended ? order.filledTold : order.quantity;
  if (!order.ended) for (const { quantity } of order.amendments) atMost = amounts.larger(quantity, atMost);
  return amounts.isMore(atMost, order.filled) ? amounts.minus(atMost, order.filled) : amounts.nothing;
}

/** Moves the line to what the order needs now; an order that needs nothing leaves. */
function settle(books: Books, orders: OrderBook, order: OpenOrder): void {
  const remaining = remainingOf(order);
  const change = amounts.minus(remaining, order.remaining);
  order.remaining = remaining;
  if (!amounts.isNothing(change)) hold(books, order, change);
  if (amounts.isNothing(remaining)) leave(orders, order);
}

function leave(orders: OrderBook, order: OpenOrder): void {
  // An amendment that comes too late for it is no new order (invariant 4).
  orders.open.end(order.id);
  order.fund.openOrders -= 1;
  orders.ended?.set(order.id, order);
}

/** An order that ended, as an amendment of the journal finds it; it leaves again at once if there is still nothing to fill. */
export function reopen(books: Books, orders: OrderBook, orderId: string): OpenOrder | undefined {
  const order = orders.ended?.get(orderId);
  if (order === undefined) return undefined;
  orders.ended?.delete(orderId);
  order.book = symbolBookOf(books, order.book.symbol);
  orders.open.add(order);
  order.fund.openOrders += 1;
  return order;
}

function hold(books: Books, order: OpenOrder, change: Amount): void {
  movePending(books, order.fund, order.book, order.direction, change);
}

/** What a reservation needs to know of an order. */
export interface NewOrder {
  readonly order_id: string;
  readonly strategy_id: string;
  readonly side: string;
}

/** Holds a new order's whole quantity on its fund's line of that symbol. */
export function reserve(
  books: Books,
  orders: OrderBook,
  fund: FundBook,
  book: SymbolBook,
  asked: NewOrder,
  direction: 1 | -1,
  quantity: Amount,
): OpenOrder {
  const order: OpenOrder = {
    id: asked.order_id,
    fund,
    strategyId: asked.strategy_id,
    side: asked.side,
    direction,
    book,
    quantity,
    terms: undefined,
    amendments: noAmendments,
    sent: false,
    filled: amounts.nothing,
    ended: false,
    filledTold: amounts.nothing,
    termsAt: Number.NaN,
    awaitsVerdict: false,
    remaining: quantity,
  };
  orders.open.add(order);
  fund.openOrders += 1;
  hold(books, order, order.remaining);
  return order;
}

/** Keeps the terms of an order that was just reserved, or of an amendment. */
export function rememberTerms(orders: OrderBook, asked: OrderTerms): OrderTerms {
  orders.newestTerms = keptTerms(asked, orders.newestTerms);
  return orders.newestTerms;
}

/** Takes a reservation back as if it had never been. */
export function unreserve(books: Books, orders: OrderBook, order: OpenOrder): void {
  hold(books, order, amounts.negated(order.remaining));
  orders.open.delete(order.id);
  order.fund.openOrders -= 1;
}

/** Puts an order back to where its life had brought it. */
export function restoreOrder(
  books: Books,
  orders: OrderBook,
  order: OpenOrder,
  life: Pick<OpenOrder, "terms" | "amendments" | "sent" | "filled" | "ended" | "filledTold" | "termsAt">,
): void {
  Object.assign(order, life);
  settle(books, orders, order);
}

/** An approved amendment, as it must be known to take it back. */
export interface Amendment {
  readonly order: OpenOrder;
  readonly amended: Amended;
  readonly before: readonly Amended[];
  readonly after: readonly Amended[];
}

/** Lets an order also fill up to another quantity (invariant 5). */
export function amend(books: Books, orders: OrderBook, order: OpenOrder, amended: Amended): Amendment {
  const before = order.amendments;
  const [first, second, ...rest] = before;
  const after =
    before.length < amendmentsMax || first === undefined || second === undefined
      ? [...before, amended]
      : [both(first, second), ...rest, amended];
  order.amendments = after;
  settle(books, orders, order);
  return { order, amended, before, after };
}

/** One amendment that stands for two. */
function both(first: Amended, second: Amended): Amended {
  const isSame = first.terms !== undefined && second.terms !== undefined && areSameTerms(first.terms, second.terms);
  return { quantity: amounts.larger(first.quantity, second.quantity), terms: isSame ? first.terms : undefined };
}

/** Takes an amendment back; what others did to the order since then stays. */
export function unamend(books: Books, orders: OrderBook, { order, amended, before, after }: Amendment): void {
  if (order.amendments === after) order.amendments = before;
  else order.amendments = order.amendments.filter((waiting) => waiting !== amended);
  settle(books, orders, order);
}

/** Why it may not ask to change that order; undefined when it may. */
export function amendRefusal(order: OpenOrder, asked: Parameters<typeof isSameOrder>[1]): AmendRefusal | undefined {
  if (!isSameOrder(order, asked)) return "another";
  if (order.ended) return "ended";
  return order.awaitsVerdict ? "unapproved" : undefined;
}

/** Whether an amendment can only take away from what may fill (invariant 7). The same lowering may be asked for twice. */
export function isLowered(order: OpenOrder, asked: OrderTerms, quantity: Amount): boolean {
  const { terms } = order;
  if (!order.sent || !amounts.isMore(order.quantity, quantity)) return false;
  if (terms === undefined || !areSameTerms(terms, asked)) return false;
  return order.amendments.every(
    (waiting) =>
      !amounts.isMore(quantity, waiting.quantity) && waiting.terms !== undefined && areSameTerms(waiting.terms, asked),
  );
}

/** Whether they are about the same: fund, strategy, symbol and side. */
export function isSameOrder(
  order: OpenOrder,
  asked: { fund_id: string; strategy_id: string; symbol: string; side: string },
): boolean {
  return (
    order.fund.id === asked.fund_id &&
    order.strategyId === asked.strategy_id &&
    order.book.symbol === asked.symbol &&
    order.side === asked.side
  );
}

/** Invariant 2. Whether the same fill came before is not asked here. */
export function applyFill(books: Books, orders: OrderBook, fill: Fill): FillEffect {
  const quantity = parseAmount(fill.quantity);
  const direction = directionOf(fill.side);
  const fund = fundBookOf(books, fill.fund_id);
  const book = symbolBookOf(books, fill.symbol);
  const change = direction === 1 ? quantity : amounts.negated(quantity);
  const position = toDecimal(amounts.plus(positionAt(fund, rowOf(fund, book.slot)), change));
  const order = orders.open.get(fill.order_id);
  // A fill that names an open order and contradicts it moves what it says, and leaves the order's reservation alone.
  const isOwn = order !== undefined && order.fund === fund && order.book === book && order.direction === direction;
  const isOver = isOwn && amounts.isMore(quantity, order.remaining);
  const overfill = isOver ? toDecimal(amounts.minus(quantity, order.remaining)) : decimal.zero;
  movePosition(books, fund, book, change);
  if (!isOwn) return { known: false, closed: false, overfill, position };
  order.filled = amounts.plus(order.filled, quantity);
  order.sent = true;
  settle(books, orders, order);
  return { known: true, closed: amounts.isNothing(order.remaining), overfill, position };
}

/** Invariants 3 to 5. A transition of an order that is not open says nothing about exposure. */
export function applyTransition(books: Books, orders: OrderBook, transition: OrderTransition): void {
  const order = orders.open.get(transition.order_id);
  if (order === undefined || order.fund.id !== transition.fund_id) return;
  if (withBroker.has(transition.to)) order.sent = true;
  if (endings.has(transition.to)) {
    order.ended = true;
    order.filledTold = amounts.larger(order.filledTold, parseAmount(transition.filled_quantity));
  } else if (!order.ended && transition.quantity !== undefined) {
    tellTerms(order, parseAmount(transition.quantity), instant.parse(transition.at));
  }
  settle(books, orders, order);
}

/** The quantity in force is known now; of the amendments that waited, those up to the one that it tells of are settled. */
function tellTerms(order: OpenOrder, quantity: Amount, at: number): void {
  if (at < order.termsAt) return;
  order.termsAt = at;
  order.quantity = quantity;
  const index = order.amendments.findIndex((waiting) => amounts.isEqual(waiting.quantity, quantity));
  const told = order.amendments[index];
  if (told === undefined) return;
  order.terms = told.terms;
  order.amendments = index === order.amendments.length - 1 ? noAmendments : order.amendments.slice(index + 1);
}
