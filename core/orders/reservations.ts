// Open orders and the exposure that is held for them, from the moment of approval until the order can no longer fill.
//
// Invariants (engine-traps.test.ts and the random lives of engine.test.ts hold them):
//  1. What is reserved is what may still fill: the largest quantity that may be in force less what has filled. It is a function of the
//     quantities, the fills and the ending, whatever came first, so fills and transitions may arrive in any order.
//  2. Fills always move the position: late, before the acknowledgement, beyond the quantity, or of an order that nobody asked about.
//  3. An ending frees what cannot fill any more. If it tells of more fills than were seen, the difference stays until they come.
//  4. UNKNOWN frees nothing. An ended order does not come back, unless something shows that it worked after its end (ended-orders.ts).
//  5. Until a transition tells the new quantity, an amended order may still fill its old one.
//  6. An order with nothing left to fill is gone.
//  7. Only an order that is known to be with a broker can be lowered, and only below every quantity that may be in force and under the same
//     terms: an approval that was never used must not be revived by asking for less.
//  8. An approval counts until its time has run out and nothing has shown that it was sent; then it expires (unsent-approvals.ts). What shows
//     later that it was sent all the same reserves it again.
//  9. An amendment that its order management dropped holds nothing from then on; others that wait stay.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { movePending, movePosition } from "../exposure/exposure.ts";
import * as amounts from "../money/amount.ts";
import { type Amount, parseAmount, toDecimal } from "../money/amount.ts";
import { type BoundedMap, boundedMap } from "../state/bounded-map.ts";
import { positionAt, rowOf } from "../state/fund-state.ts";
import { type Books, type FundBook, fundBookOf, type SymbolBook, symbolBookOf } from "../state/records.ts";
import { moveStrategyPending, moveStrategyPosition } from "../state/strategy-positions.ts";
import { directionOf } from "../state/terms.ts";
import type { AmendRefusal } from "../state/view.ts";
import { noteBroker } from "./broker-holdings.ts";
import { noteWork, remember, rememberedOrder, workedTotal, worksAgain } from "./ended-orders.ts";
import type { Amended, OpenOrder } from "./open-order.ts";
import { createOpenOrders, type OpenOrders } from "./open-orders.ts";
import { areSameTerms, keptTerms, type OrderTerms } from "./order-terms.ts";

export interface OrderBook {
  readonly open: OpenOrders;
  /**
   * Orders that ended, while the journal is read back and only then. There a fill or an ending may stand before an amendment that was
   * approved without knowing of it, and the amendment must find the order that it belongs to.
   */
  ended: BoundedMap<string, OpenOrder> | undefined;
  /** Those of the newest order: most orders have the terms of the one before, and share them. */
  newestTerms: OrderTerms | undefined;
  /** Approvals that ran out unsent, oldest first; the oldest of too many are forgotten. */
  readonly expired: Map<string, OpenOrder>;
  /** Orders that ended before they were filled, oldest first; the oldest of too many are forgotten. */
  readonly unfilled: Map<string, OpenOrder>;
  /** Open orders that may be past an unsent approval's time, by symbol and fund, as the last sweep found them. */
  lapsing: ReadonlyMap<SymbolBook, ReadonlyMap<FundBook, readonly OpenOrder[]>>;
}

export function createOrderBook(): OrderBook {
  return {
    open: createOpenOrders(),
    ended: boundedMap(endedMax),
    newestTerms: undefined,
    expired: new Map(),
    unfilled: new Map(),
    lapsing: new Map(),
  };
}

export interface FillEffect {
  /** Whether an open order was found that the fill belongs to. */
  readonly known: boolean;
  /** Whether that order is complete now. */
  readonly closed: boolean;
  /** By how much the order's fills are now above the largest quantity that may be in force; zero when they are not. */
  readonly overfill: Decimal;
  /** Whether it names an open order of another fund, symbol or side. */
  readonly contradicts: boolean;
  /** Whether its order is a marked exit. */
  readonly isExit: boolean;
  /** Whether the order's approval had run out unsent, ever; and whether this fill reserves it again. */
  readonly afterExpiry: boolean;
  readonly reservedAgain: boolean;
  /** Whether its end was reported before, and this shows that it works. */
  readonly worksAgain: boolean;
  /** The fund's position in the symbol after it. */
  readonly position: Decimal;
  /** Where it is held; empty when nobody said. */
  readonly broker: string;
  /** When its order was asked about; NaN where no open order says. */
  readonly askedAt: number;
}

export const noAmendments: readonly Amended[] = [];
const endedMax = 65_536;
/** Amendments that wait to be reported; of more than these the largest stands for two. */
const amendmentsMax = 16;
/** What may still fill (invariant 1). */
function remainingOf(order: OpenOrder): Amount {
  if (order.expired) return amounts.nothing;
  const isAgain = worksAgain(order);
  const isOver = order.ended && !isAgain;
  const inForce = isOver ? order.filledReported : quantityInForce(order);
  const atMost = isAgain ? workedTotal(order, inForce) : inForce;
  // An ending tells what had traded by then, also what was busted; what may trade anew is what is not filled (busts.ts).
  const filled = isOver ? amounts.plus(order.filled, order.busted) : order.filled;
  return amounts.isMore(atMost, filled) ? amounts.minus(atMost, filled) : amounts.nothing;
}

/** The largest quantity under which it may be with a broker (invariant 5). */
function quantityInForce(order: OpenOrder): Amount {
  let atMost = order.quantity;
  for (const { quantity } of order.amendments) atMost = amounts.larger(quantity, atMost);
  return atMost;
}

/** Moves the line to what the order needs now; an order that needs nothing leaves. */
export function settle(books: Books, orders: OrderBook, order: OpenOrder): void {
  const remaining = remainingOf(order);
  const change = amounts.minus(remaining, order.remaining);
  order.remaining = remaining;
  if (!amounts.isNothing(change)) hold(books, order, change);
  if (amounts.isNothing(remaining)) leave(orders, order);
}

function leave(orders: OrderBook, order: OpenOrder): void {
  order.fund.openOrders -= 1;
  if (order.expired) {
    // It may be asked about again, as if it were new.
    orders.open.delete(order.id);
    return;
  }
  // An amendment that comes too late for it is no new order (invariant 4).
  orders.open.end(order.id);
  orders.ended?.set(order.id, order);
  if (order.ended && amounts.isMore(quantityInForce(order), order.filled)) remember(orders.unfilled, order);
}

/** Of an order that ended: it counts again when it may trade any more. */
export function settleEnded(books: Books, orders: OrderBook, order: OpenOrder): void {
  if (!amounts.isNothing(remainingOf(order))) reserveAgain(books, orders, order);
  else if (!amounts.isMore(quantityInForce(order), order.filled)) orders.unfilled.delete(order.id);
}

/** Invariant 8: counts again in full. */
export function reserveAgain(books: Books, orders: OrderBook, order: OpenOrder): void {
  orders.expired.delete(order.id);
  orders.unfilled.delete(order.id);
  order.expired = false;
  order.released = false;
  order.book = symbolBookOf(books, order.book.symbol);
  orders.open.add(order);
  order.fund.openOrders += 1;
  settle(books, orders, order);
}

/** Something of that date shows that the order was sent, and with it whatever was approved by then. */
export function noteSending(order: OpenOrder, at: number): void {
  order.unsentUntil = Number.NaN;
  if (!(order.evidenceAt >= at)) order.evidenceAt = at;
  for (const waiting of order.amendments) noteIfSent(order, waiting);
}

function noteIfSent({ evidenceAt }: OpenOrder, amended: Amended): void {
  if (evidenceAt >= amended.approvedAt) amended.unsentUntil = Number.NaN;
}

/** An order that ended, as an amendment of the journal finds it; it leaves again at once if there is still nothing to fill. */
export function reopen(books: Books, orders: OrderBook, orderId: string): OpenOrder | undefined {
  const order = orders.ended?.get(orderId);
  if (order === undefined) return undefined;
  orders.ended?.delete(orderId);
  orders.unfilled.delete(orderId);
  order.book = symbolBookOf(books, order.book.symbol);
  orders.open.add(order);
  order.fund.openOrders += 1;
  return order;
}

function hold(books: Books, order: OpenOrder, change: Amount): void {
  const { fund, strategyId, book, direction } = order;
  movePending(books, fund, book, direction, change);
  moveStrategyPending(books.strategyPositions, fund.id, strategyId, book.symbol, direction, change);
}

/** What a reservation needs to know of an order. */
interface NewOrder {
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
  unsentUntil: number,
): OpenOrder {
  const order: OpenOrder = {
    id: asked.order_id,
    fund,
    strategyId: asked.strategy_id,
    askedBy: "",
    approvedAt: Number.NaN,
    side: asked.side,
    direction,
    book,
    quantity,
    terms: undefined,
    amendments: noAmendments,
    sent: false,
    unsentUntil,
    evidenceAt: Number.NaN,
    expired: false,
    released: false,
    expiredOnce: false,
    dropped: noAmendments,
    filled: amounts.nothing,
    busted: amounts.nothing,
    ended: false,
    endedAt: Number.NaN,
    workedAt: Number.NaN,
    worked: undefined,
    filledReported: amounts.nothing,
    termsAt: Number.NaN,
    awaitsVerdict: false,
    remaining: quantity,
  };
  orders.open.add(order);
  if (orders.expired.size > 0) orders.expired.delete(order.id);
  if (orders.unfilled.size > 0) orders.unfilled.delete(order.id);
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
  order.remaining = amounts.nothing;
  orders.open.delete(order.id);
  order.fund.openOrders -= 1;
}

/** Puts an order back to where its life had brought it. */
export function restoreOrder(books: Books, orders: OrderBook, order: OpenOrder, life: Partial<OpenOrder>): void {
  Object.assign(order, life);
  settle(books, orders, order);
}

/** An approved amendment, as it must be known to take it back. */
export interface Amendment {
  readonly order: OpenOrder;
  readonly amended: Amended;
  readonly before: readonly Amended[];
  readonly after: readonly Amended[];
  /** The order's own `unsentUntil` before. */
  readonly unsentUntil: number;
}

/** Lets an order also fill up to another quantity (invariant 5). */
export function amend(books: Books, orders: OrderBook, order: OpenOrder, amended: Amended): Amendment {
  const before = order.amendments;
  const { unsentUntil } = order;
  noteIfSent(order, amended);
  const [first, second, ...rest] = before;
  const after =
    before.length < amendmentsMax || first === undefined || second === undefined
      ? [...before, amended]
      : [both(first, second), ...rest, amended];
  order.amendments = after;
  // An order that was never sent has all its approvals' time.
  if (amended.unsentUntil > unsentUntil) order.unsentUntil = amended.unsentUntil;
  settle(books, orders, order);
  return { order, amended, before, after, unsentUntil };
}

/** One amendment that stands for two. */
function both(first: Amended, second: Amended): Amended {
  const isSame = first.terms !== undefined && second.terms !== undefined && areSameTerms(first.terms, second.terms);
  return {
    quantity: amounts.larger(first.quantity, second.quantity),
    terms: isSame ? first.terms : undefined,
    key: undefined,
    approvedAt: Math.max(first.approvedAt, second.approvedAt),
    // NaN, sent, stays.
    unsentUntil: Math.max(first.unsentUntil, second.unsentUntil),
  };
}

/** Takes an amendment back; what others did to the order since then stays. */
export function unamend(books: Books, orders: OrderBook, amendment: Amendment): void {
  const { order, amended, before, after, unsentUntil } = amendment;
  if (order.unsentUntil === amended.unsentUntil) order.unsentUntil = unsentUntil;
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

const unknownOrder = {
  known: false,
  closed: false,
  overfill: decimal.zero,
  contradicts: false,
  isExit: false,
  afterExpiry: false,
  reservedAgain: false,
  worksAgain: false,
  askedAt: Number.NaN,
} as const;

/** One of the two fills of a cross between strategies of the fund: whichever comes first, the fund's own position never moves. */
function crossed(position: Decimal): FillEffect {
  return { ...unknownOrder, position, broker: "" };
}

/** Invariant 2. Whether the same fill came before is not asked here. */
export function applyFill(books: Books, orders: OrderBook, fill: Fill): FillEffect {
  const quantity = parseAmount(fill.quantity);
  const direction = directionOf(fill.side);
  const fund = fundBookOf(books, fill.fund_id);
  const book = symbolBookOf(books, fill.symbol);
  const change = direction === 1 ? quantity : amounts.negated(quantity);
  moveStrategyPosition(books.strategyPositions, fund.id, fill.strategy_id, fill.symbol, change);
  if (fill.kind === "CROSS") return crossed(toDecimal(positionAt(fund, rowOf(fund, book.slot))));
  const position = toDecimal(amounts.plus(positionAt(fund, rowOf(fund, book.slot)), change));
  const order = orders.open.get(fill.order_id) ?? rememberedOrder(orders, fill.order_id);
  // A fill that names an open order and contradicts it moves what it says, and leaves the order's reservation alone.
  const isOwn =
    order !== undefined && order.fund === fund && order.book.symbol === book.symbol && order.direction === direction;
  const isExpired = isOwn && order.expired;
  if (isExpired) reserveAgain(books, orders, order);
  movePosition(books, fund, book, change);
  const broker = noteBroker(books, fill, isOwn ? order.terms?.broker : undefined);
  const isGone = order !== undefined && orders.unfilled.has(order.id);
  if (!isOwn) return { ...unknownOrder, contradicts: order !== undefined && !isGone, position, broker };
  const wasOver = order.ended && !worksAgain(order);
  const filledAt = instant.parse(fill.filled_at);
  order.filled = amounts.plus(order.filled, quantity);
  noteWork(order, filledAt);
  if (isGone) settleEnded(books, orders, order);
  // It came late, and the order is over.
  if (isGone && amounts.isNothing(order.remaining)) return { ...unknownOrder, position, broker };
  const inForce = quantityInForce(order);
  const overfill = amounts.isMore(order.filled, inForce)
    ? toDecimal(amounts.minus(order.filled, inForce))
    : decimal.zero;
  order.sent = true;
  noteSending(order, filledAt);
  settle(books, orders, order);
  const closed = amounts.isNothing(order.remaining);
  return {
    known: true,
    closed,
    overfill,
    contradicts: false,
    isExit: order.terms?.reduce_only === true,
    position,
    broker,
    askedAt: order.approvedAt,
    afterExpiry: order.expiredOnce,
    reservedAgain: isExpired && !closed,
    worksAgain: wasOver && worksAgain(order) && !closed,
  };
}
