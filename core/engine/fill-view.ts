// Fills the one view that every gate reads, from the books, for one order at one moment. What an amendment already holds is left out of
// the pending quantities and of the sums, so that an order is never counted against itself.
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { BlockBook } from "../blocks/block-book.ts";
import { type ConditionBook, conditionsOn } from "../blocks/condition-book.ts";
import { type RestrictionBook, restrictionsOf } from "../blocks/restriction-book.ts";
import { doubtOf } from "../exposure/doubts.ts";
import { catchUp, firstUnpriced, oldestMarkAgeMs, sectorGross } from "../exposure/exposure.ts";
import { type LineValue, lineValue } from "../exposure/line-value.ts";
import { type FilledLimits, limitsOf, navOf, noLimits } from "../exposure/nav-limits.ts";
import { fillOptions } from "../exposure/option-view.ts";
import { leaveOutPlainly } from "../exposure/plain-exposure.ts";
import { tableOf } from "../exposure/value-tables.ts";
import * as amounts from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { zeroNotional } from "../money/exact.ts";
import { heldAt } from "../orders/broker-holdings.ts";
import type { OpenOrder } from "../orders/open-order.ts";
import { ordersInSecond } from "../orders/order-rate.ts";
import { amendRefusal, isLowered, type OrderBook } from "../orders/reservations.ts";
import { repeatsWithin } from "../orders/throttle.ts";
import { lapsedQuantity } from "../orders/unsent-approvals.ts";
import { type WaitingExits, waitingExit } from "../orders/waiting-exits.ts";
import { noVerdict } from "../state/empty-view.ts";
import * as fundStates from "../state/fund-state.ts";
import { headOf, noRow, pendingBuyAt, pendingSellAt, positionAt, rowOf, sumOf } from "../state/fund-state.ts";
import type { InputAges } from "../state/input-ages.ts";
import { type Books, type FundBook, pricesOf, type StrategyBook, type SymbolBook } from "../state/records.ts";
import { noneStands } from "../state/standing-condition.ts";
import { strategyPositionOf } from "../state/strategy-positions.ts";
import { readTerms } from "../state/terms.ts";
import type { FundView } from "../state/view.ts";
import type { NameHashes } from "./fast/order-hash.ts";

/** The halts in force, by whom they cover; the strictest of each level. */
interface HaltBook {
  known: boolean;
  epoch: number;
  firm: ActiveHalt | undefined;
  readonly funds: Map<string, ActiveHalt>;
  readonly strategies: Map<string, ActiveHalt>;
}

export function createHaltBook(): HaltBook {
  return { known: false, epoch: 0, firm: undefined, funds: new Map(), strategies: new Map() };
}

/** Where the view is filled from. */
export interface ViewSource {
  readonly books: Books;
  readonly orders: OrderBook;
  readonly halts: HaltBook;
  /** What denies new risk while it stands. */
  readonly conditions: ConditionBook;
  /** What an operator must accept; each is a condition as well. */
  readonly blockBook: BlockBook;
  /** Exits of the platform that wait for room. */
  readonly waitingExits: WaitingExits;
  readonly restrictions: RestrictionBook;
  readonly ages: InputAges;
  readonly openOrdersPerFundMax: number;
}

/** What an order names, as it was found in the books when the view was filled. */
export interface Found {
  fund: FundBook | undefined;
  strategy: StrategyBook | undefined;
  book: SymbolBook | undefined;
  /** Where the fund's line of that symbol stands in its fund state. */
  row: number;
  /** The open order that has the same id. */
  open: OpenOrder | undefined;
  /** What the line adds to the fund's sums. */
  readonly value: LineValue;
  /** The fund's limits, if they are plain. */
  readonly limits: FilledLimits;
}

export function nothingFound(): Found {
  const value: LineValue = { high: zeroNotional, low: zeroNotional, gross: zeroNotional };
  const none = { fund: undefined, strategy: undefined, book: undefined, row: noRow, open: undefined };
  return { ...none, value, limits: noLimits() };
}

/** Everything but the key and the classification. */
export function fillView(
  view: FundView,
  source: ViewSource,
  found: Found,
  order: Order,
  names: NameHashes,
  at: Instant,
): void {
  const { books } = source;
  const book = books.symbols.find(order.symbol, names.symbol);
  const strategy = books.strategies.find(order.strategy_id, names.strategyId);
  const isOwn = strategy?.fund !== undefined && strategy.fund.id === order.fund_id;
  const fund = isOwn ? strategy.fund : books.funds.get(order.fund_id);
  if (fund !== undefined) catchUp(books, fund);
  const known = source.orders.open.find(order.order_id, names.orderId) ?? endedBefore(source.orders, order.order_id);
  const open = known === "ended" ? undefined : known;
  found.fund = fund;
  found.strategy = strategy;
  found.book = book;
  found.row = fund === undefined || book === undefined ? noRow : rowOf(fund, book.slot);
  found.open = open;
  readTerms(order, view.terms);
  view.ages = source.ages;
  view.verdict = noVerdict;
  view.textsFit = undefined;
  view.fundKnown = fund?.known === true;
  view.fundCurrency = fund?.currency ?? "";
  view.strategyKnown = isOwn;
  view.envelope = fund?.envelope;
  view.instrument = book?.facts;
  fillPosition(view, found, order);
  view.closesForFund = false;
  view.heldAtBroker = order.reduce_only === true && isHeldAt(books, order, view);
  view.lapsed = source.orders.lapsing.size === 0 ? amounts.nothing : lapsedFor(view, source.orders, found, at);
  view.exitWaits = source.waitingExits.size === 0 ? undefined : waitingFor(view, source, order, at);
  if (known === "ended") refuseAmendment(view);
  view.openOrdersMax = source.openOrdersPerFundMax;
  fillPrices(view, books, fund, book, at);
  fillFund(view, source, found, at);
  fillHalts(view, source.halts, order);
  fillStrategy(view, source, found, order, at);
  const { conditions, restrictions } = source;
  const mayStand = at >= conditions.from || (fund !== undefined && at >= headOf(fund, fundStates.conditionsFrom));
  view.conditions = mayStand ? conditionsOn(conditions, order, at, fund?.isPaper) : noneStands;
  view.restrictions = restrictionsOf(restrictions, order.fund_id);
  fillPace(view, fund, view.strategyKnown ? strategy : undefined, at);
  fillRepeats(view, view.strategyKnown ? strategy : undefined, book, order, at);
}

/** Those that ended before they were filled are remembered longer than others, and over a restart. */
function endedBefore({ unfilled }: OrderBook, orderId: string): "ended" | undefined {
  return unfilled.size > 0 && unfilled.has(orderId) ? "ended" : undefined;
}

/** All of what the order may close, and nothing of it elsewhere. */
function isHeldAt(books: Books, order: Order, { terms: { quantity, direction } }: FundView): boolean {
  const held = heldAt(books, order);
  if (quantity === undefined || direction === 0) return false;
  const closable = direction === 1 ? amounts.negated(held) : held;
  return !amounts.isMore(quantity, closable);
}

function fillPosition(view: FundView, { fund, book, row, open }: Found, order: Order): void {
  view.position = fund === undefined ? amounts.nothing : positionAt(fund, row);
  view.pendingBuy = fund === undefined ? amounts.nothing : pendingBuyAt(fund, row);
  view.pendingSell = fund === undefined ? amounts.nothing : pendingSellAt(fund, row);
  view.doubt = undefined;
  if (fund?.doubts !== undefined && book !== undefined) leaveOutDoubts(view, fund, book);
  view.openOrders = fund?.openOrders ?? 0;
  view.amends = open !== undefined;
  view.amendRefusal = open === undefined ? undefined : amendRefusal(open, order);
  view.amendsAnother = view.amendRefusal !== undefined;
  view.lowers = false;
  view.ownRemaining = amounts.nothing;
  view.ownFilled = amounts.nothing;
  if (open === undefined || view.amendsAnother) return;
  const { quantity } = view.terms;
  view.lowers = quantity !== undefined && isLowered(open, order, quantity);
  leaveOut(view, open);
}

/** What may not have happened keeps no exit in, and is none of the open orders. New risk in the symbol waits anyway. */
function leaveOutDoubts(view: FundView, fund: FundBook, { slot }: SymbolBook): void {
  const doubt = doubtOf(fund, slot);
  const { buys, sells } = doubt;
  view.doubt = doubt;
  view.pendingBuy = amounts.minus(view.pendingBuy, buys);
  view.pendingSell = amounts.minus(view.pendingSell, sells);
}

function lapsedFor(
  { terms, position }: FundView,
  orders: OrderBook,
  { fund, book, open }: Found,
  at: Instant,
): amounts.Amount {
  const { direction } = terms;
  if (fund === undefined || book === undefined || direction === 0 || !isAgainst(position, direction))
    return amounts.nothing;
  return lapsedQuantity(orders, fund, book, direction, open, at);
}

function waitingFor(view: FundView, { waitingExits }: ViewSource, order: Order, at: Instant): string | undefined {
  const { terms, position } = view;
  return waitingExit(waitingExits, order.fund_id, order.symbol, terms.direction, position, at)?.orderId;
}

/** Whether an order in that direction has anything to close. */
function isAgainst(position: amounts.Amount, direction: 1 | -1): boolean {
  return direction === 1 ? amounts.isNegative(position) : amounts.isPositive(position);
}

/** The order that it would change has ended. */
function refuseAmendment(view: FundView): void {
  view.amends = true;
  view.amendRefusal = "ended";
  view.amendsAnother = true;
}

function leaveOut(view: FundView, amended: OpenOrder): void {
  view.ownRemaining = amended.remaining;
  view.ownFilled = amended.filled;
  if (amended.direction === 1) view.pendingBuy = amounts.minus(view.pendingBuy, amended.remaining);
  else view.pendingSell = amounts.minus(view.pendingSell, amended.remaining);
}

/** One that nobody knows sees what a LIVE one would. */
const unknownFund = { isPaper: false };

function fillPrices(
  view: FundView,
  books: Books,
  fund: FundBook | undefined,
  book: SymbolBook | undefined,
  at: Instant,
): void {
  const prices = book && pricesOf(book, fund ?? unknownFund);
  view.price = prices?.price;
  view.bid = prices?.bid;
  view.ask = prices?.ask;
  view.market = prices?.market;
  view.priceAgeMs = prices === undefined ? Number.NaN : (at - prices.markedAt) / 1_000;
  view.priceSource = prices?.price === undefined ? (book?.paper.source ?? "") : prices.source;
  view.borrowAvailable = book?.borrowAvailable;
  view.borrowFee = book?.borrowFee;
  view.borrowAgeMs = book === undefined ? Number.NaN : (at - book.borrowAt) / 1_000;
  view.unitValue = undefined;
  view.fxRate = undefined;
  view.fxAgeMs = Number.NaN;
  if (book === undefined || fund === undefined) return;
  const { values, rates, fxAt } = tableOf(books, fund);
  const quotedAt = fxAt[book.slot] ?? Number.NaN;
  view.unitValue = values[book.slot];
  view.fxRate = rates[book.slot];
  view.fxAgeMs = quotedAt === Number.POSITIVE_INFINITY ? 0 : (at - quotedAt) / 1_000;
}

function fillFund(view: FundView, source: ViewSource, found: Found, at: Instant): void {
  const { fund } = found;
  view.nav = fund === undefined ? undefined : navOf(fund);
  view.navAgeMs = fund === undefined ? Number.NaN : (at - headOf(fund, fundStates.navPricedAt)) / 1_000;
  view.grossOthers = zeroNotional;
  view.netHighOthers = zeroNotional;
  view.netLowOthers = zeroNotional;
  view.sectorOthers = zeroNotional;
  view.unpricedSymbol = undefined;
  view.unpricedRate = undefined;
  view.unpricedRateAgeMs = Number.NaN;
  view.oldestPriceAgeMs = 0;
  view.limits = undefined;
  view.heldHigh = undefined;
  view.heldLow = undefined;
  view.option = undefined;
  if (fund === undefined) return;
  if (fund.envelope !== undefined && view.nav !== undefined) {
    view.limits = limitsOf(fund, fund.envelope, view.nav, found.limits);
  }
  const { books } = source;
  const slot = found.book?.slot ?? -1;
  const unpriced = firstUnpriced(books, fund, slot, at, source.ages.fx);
  if (unpriced !== undefined) {
    view.unpricedSymbol = unpriced.symbol;
    view.unpricedRate = unpriced.rate;
    view.unpricedRateAgeMs = unpriced.rateAgeMs;
  }
  view.oldestPriceAgeMs = oldestMarkAgeMs(books, fund, slot, at, source.ages.mark);
  fillOthers(view, books, found, fund);
  if (fund.options !== undefined || found.book?.option !== undefined) fillOptions(view, books, fund, found, at);
}

/** The fund's sums without the line of the order's symbol, and what that line itself is worth. */
function fillOthers(view: FundView, books: Books, { book, row, value }: Found, fund: FundBook): void {
  const slot = book?.slot ?? -1;
  const sectorNumber = book === undefined ? 0 : (books.sectorAt[slot] ?? 0);
  if (row !== noRow && !view.amends) {
    const { digits, places } = tableOf(books, fund);
    const unitValue = digits[slot] ?? Number.NaN;
    if (leaveOutPlainly(view, fund, row, sectorNumber, unitValue, places[slot] ?? 0)) return;
  }
  const sector = sectorGross(books, fund, sectorNumber);
  if (row === noRow) {
    view.grossOthers = sumOf(fund, fundStates.gross);
    view.netHighOthers = sumOf(fund, fundStates.netHigh);
    view.netLowOthers = sumOf(fund, fundStates.netLow);
    view.sectorOthers = sector;
    return;
  }
  lineValue(fund, row, view.unitValue, value);
  const { gross, high, low } = value;
  view.grossOthers = exact.minus(sumOf(fund, fundStates.gross), gross);
  view.netHighOthers = exact.minus(sumOf(fund, fundStates.netHigh), high);
  view.netLowOthers = exact.minus(sumOf(fund, fundStates.netLow), low);
  view.sectorOthers = exact.minus(sector, gross);
  if (view.amends) return;
  view.heldHigh = high;
  view.heldLow = low;
}

function fillHalts(view: FundView, halts: HaltBook, order: Order): void {
  const halt =
    halts.firm ??
    (halts.funds.size === 0 ? undefined : halts.funds.get(order.fund_id)) ??
    (halts.strategies.size === 0 ? undefined : halts.strategies.get(order.strategy_id));
  view.haltsKnown = halts.known;
  view.haltEpoch = halts.epoch;
  view.halt = halt?.severity;
  view.haltId = halt?.halt_id ?? "";
  view.haltReason = halt?.reason ?? "";
  view.strategyHalted = !halts.known || (halts.strategies.size > 0 && halts.strategies.has(order.strategy_id));
}

/** What a marked exit needs to prove that it reduces its own strategy's position; and an unmarked one that could be marked. */
function fillStrategy(view: FundView, { books, orders }: ViewSource, found: Found, order: Order, at: Instant): void {
  const { direction } = view.terms;
  view.strategyPosition = amounts.nothing;
  view.strategyPending = amounts.nothing;
  if (direction === 0) return;
  if (order.reduce_only !== true && !view.strategyHalted && !isAgainst(view.position, direction)) return;
  const own = strategyPositionOf(books.strategyPositions, order.fund_id, order.strategy_id, order.symbol);
  if (own === undefined) return;
  view.strategyPosition = own.quantity;
  let pending = direction === 1 ? own.pendingBuy : own.pendingSell;
  const { fund, book, open } = found;
  if (open !== undefined && !view.amendsAnother) pending = amounts.minus(pending, open.remaining);
  const isAsked = orders.lapsing.size > 0 && isAgainst(own.quantity, direction);
  if (isAsked && fund !== undefined && book !== undefined) {
    const lapsed = lapsedQuantity(orders, fund, book, direction, open, at, order.strategy_id);
    pending = amounts.minus(pending, lapsed);
  }
  view.strategyPending = pending;
}

function fillPace(view: FundView, fund: FundBook | undefined, strategy: StrategyBook | undefined, at: Instant): void {
  view.fundOrdersInSecond = fund === undefined ? 0 : ordersInSecond(fund, at);
  view.strategyOrdersInSecond = strategy === undefined ? 0 : ordersInSecond(strategy, at);
}

function fillRepeats(
  view: FundView,
  strategy: StrategyBook | undefined,
  book: SymbolBook | undefined,
  order: Order,
  at: Instant,
): void {
  const { envelope } = view;
  const { quantity } = view.terms;
  view.repeatedExecutions = 0;
  if (strategy === undefined || book === undefined || quantity === undefined) return;
  if (envelope?.repeatedExecutionMax === undefined) return;
  const windowMs = envelope.repeatedExecutionWindowMs;
  view.repeatedExecutions = repeatsWithin(strategy, book, order.side, quantity, at, windowMs);
}
