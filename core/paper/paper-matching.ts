// How the paper broker matches: resting orders of one symbol against one quote, by price and then by time of arrival. Pure, so the same
// orders and the same quotes give the same trades.
//
// Invariants (paper-matching.test.ts names them):
//  1. Nothing trades outside its limit: buyers pay the ask, sellers get the bid, and only where their limit allows it.
//  2. An order never trades more than its quantity, and all orders of a side together never more than the quote's size.
//  3. Fill-or-kill trades everything or nothing; immediate-or-cancel does not rest.
//  4. Of two orders that want the same side, the one with the better price goes first, and of equals the one that came first.
//  5. A reduce-only order never makes the account's position larger and never turns it round.
//  6. An order trades only on prices that were true after it had come, and not at or after its own end.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { AssetClass, OrderType, Side, Tif } from "../../contracts/src/records/values.ts";
import { feeOf } from "./paper-fees.ts";
import { movePosition, type PaperPosition } from "./paper-positions.ts";

type Decimal = decimal.Decimal;

type PaperOrderState = "WORKING" | "PARTIALLY_FILLED" | "FILLED" | "CANCELLED" | "EXPIRED" | "REJECTED";

/** An order as the paper broker keeps it. */
export interface PaperOrder {
  readonly clientOrderId: string;
  readonly brokerOrderId: string;
  readonly account: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly orderType: OrderType;
  readonly limitPrice?: Decimal;
  readonly stopPrice?: Decimal;
  readonly tif: Tif;
  readonly expiresAt?: Instant;
  readonly reduceOnly: boolean;
  /** Its place in time: a later one goes behind. */
  readonly arrival: number;
  /** Prices that were true before this moment are not its own. */
  readonly eligibleAt: Instant;
  /** A stop that has been touched. */
  readonly triggered: boolean;
  readonly state: PaperOrderState;
  readonly filledQuantity: Decimal;
  readonly executionCount: number;
  readonly reason?: string;
  readonly updatedAt: Instant;
}

export interface MatchingQuote {
  readonly symbol: string;
  readonly bid: Decimal;
  readonly ask: Decimal;
  /** Without a size there is as much as anybody wants. */
  readonly bidSize?: Decimal;
  readonly askSize?: Decimal;
  readonly at: Instant;
}

/** What matching must know of an instrument. */
export interface PaperTerms {
  readonly assetClass: AssetClass;
  readonly currency: string;
  readonly lotSize: Decimal;
}

export interface PaperExecution {
  readonly executionId: string;
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fee: Decimal;
  readonly feeCurrency: string;
}

/** One thing that happened to an order, in the order in which it happened. */
export interface MatchingStep {
  readonly order: PaperOrder;
  readonly execution?: PaperExecution;
}

interface Matched {
  readonly steps: readonly MatchingStep[];
  /** Stops that were touched and did not trade: they changed, and nobody is notified. */
  readonly touched: readonly PaperOrder[];
  /** Those that a trade moved, by account. */
  readonly positions: ReadonlyMap<string, PaperPosition>;
}

export function isOpenState(state: PaperOrderState): boolean {
  return state === "WORKING" || state === "PARTIALLY_FILLED";
}

export function isBuy(side: Side): boolean {
  return side === "BUY" || side === "BUY_TO_COVER";
}

function remainingOf(order: PaperOrder): Decimal {
  return decimal.subtract(order.quantity, order.filledQuantity);
}

/** Orders are those of the quote's symbol; positions are those of their accounts in it. */
export function matchQuote(
  orders: readonly PaperOrder[],
  quote: MatchingQuote,
  positions: ReadonlyMap<string, PaperPosition>,
  terms: PaperTerms,
): Matched {
  const round: Round = { quote, terms, steps: [], positions: new Map(positions), moved: new Map() };
  const touched: PaperOrder[] = [];
  const ready: PaperOrder[] = [];
  for (const order of orders) {
    if (!isOpenState(order.state) || order.eligibleAt > quote.at) continue;
    if (order.expiresAt !== undefined && order.expiresAt <= quote.at) end(round, order, "EXPIRED");
    else if (quote.bid <= quote.ask && quote.ask > decimal.zero) {
      const now = order.triggered || !isTouched(order, quote) ? order : { ...order, triggered: true };
      if (isWaitingStop(now)) continue;
      ready.push(now);
      if (now !== order) touched.push(now);
    }
  }
  matchSide(round, ready.filter((order) => isBuy(order.side)).sort(priority), quote.ask, quote.askSize);
  matchSide(round, ready.filter((order) => !isBuy(order.side)).sort(priority), quote.bid, quote.bidSize);
  const stepped = new Set(round.steps.map(({ order }) => order.clientOrderId));
  return {
    steps: round.steps,
    touched: touched.filter((order) => !stepped.has(order.clientOrderId)),
    positions: round.moved,
  };
}

interface Round {
  readonly quote: MatchingQuote;
  readonly terms: PaperTerms;
  readonly steps: MatchingStep[];
  readonly positions: Map<string, PaperPosition>;
  readonly moved: Map<string, PaperPosition>;
}

function isWaitingStop(order: PaperOrder): boolean {
  return (order.orderType === "STOP" || order.orderType === "STOP_LIMIT") && !order.triggered;
}

/** A buyer's stop is touched from below by the ask, a seller's from above by the bid. */
function isTouched(order: PaperOrder, quote: MatchingQuote): boolean {
  const { stopPrice } = order;
  if (stopPrice === undefined || !isWaitingStop(order)) return false;
  return isBuy(order.side) ? quote.ask >= stopPrice : quote.bid <= stopPrice;
}

/** A touched stop without a limit is a market order. */
function limitOf(order: PaperOrder): Decimal | undefined {
  return order.orderType === "LIMIT" || order.orderType === "STOP_LIMIT" ? order.limitPrice : undefined;
}

/** Of one side (invariant 4). */
function priority(left: PaperOrder, right: PaperOrder): number {
  const [one, other] = [limitOf(left), limitOf(right)];
  if (one !== other) {
    if (one === undefined) return -1;
    if (other === undefined) return 1;
    const better = isBuy(left.side) ? one > other : one < other;
    return better ? -1 : 1;
  }
  return left.arrival - right.arrival;
}

function matchSide(round: Round, orders: readonly PaperOrder[], price: Decimal, size: Decimal | undefined): void {
  let available = size;
  for (const order of orders) {
    const limit = limitOf(order);
    const isMarketable = limit === undefined || (isBuy(order.side) ? price <= limit : price >= limit);
    const traded = isMarketable ? trade(round, order, price, available) : decimal.zero;
    if (available !== undefined) available = decimal.subtract(available, traded);
    const newest = round.steps.findLast((step) => step.order.clientOrderId === order.clientOrderId)?.order ?? order;
    if (!isOpenState(newest.state)) continue;
    if (order.tif === "IOC" || order.tif === "FOK") end(round, newest, "CANCELLED", "It could not trade at once.");
    else if (isMarketable && order.reduceOnly && reducible(round, order) === decimal.zero) {
      end(round, newest, "CANCELLED", "Nothing is left to reduce.");
    }
  }
}

/** What the account's position lets a reduce-only order trade. */
function reducible(round: Round, order: PaperOrder): Decimal {
  const held = round.positions.get(order.account)?.quantity ?? decimal.zero;
  const against = isBuy(order.side) ? decimal.negate(held) : held;
  return decimal.max(decimal.zero, against);
}

function trade(round: Round, order: PaperOrder, price: Decimal, available: Decimal | undefined): Decimal {
  const remaining = remainingOf(order);
  const wanted = order.reduceOnly ? decimal.min(remaining, reducible(round, order)) : remaining;
  const quantity =
    available === undefined || available >= wanted
      ? wanted
      : decimal.roundToIncrement(decimal.max(decimal.zero, available), round.terms.lotSize, "down");
  if (quantity === decimal.zero || (order.tif === "FOK" && quantity < remaining)) return decimal.zero;
  const filledQuantity = decimal.add(order.filledQuantity, quantity);
  const executionCount = order.executionCount + 1;
  round.steps.push({
    order: {
      ...order,
      filledQuantity,
      executionCount,
      state: filledQuantity === order.quantity ? "FILLED" : "PARTIALLY_FILLED",
      updatedAt: round.quote.at,
    },
    execution: {
      executionId: `${order.brokerOrderId}-${executionCount}`,
      quantity,
      price,
      fee: feeOf(round.terms.assetClass, quantity, price),
      feeCurrency: round.terms.currency,
    },
  });
  const moved = movePosition(positionOf(round, order), isBuy(order.side) ? quantity : decimal.negate(quantity), price);
  round.positions.set(order.account, moved);
  round.moved.set(order.account, moved);
  return quantity;
}

function positionOf(round: Round, { account, symbol }: PaperOrder): PaperPosition {
  return round.positions.get(account) ?? { account, symbol, quantity: decimal.zero, averagePrice: decimal.zero };
}

function end(round: Round, order: PaperOrder, state: "CANCELLED" | "EXPIRED", reason?: string): void {
  round.steps.push({
    order: { ...order, state, updatedAt: round.quote.at, ...(reason !== undefined && { reason }) },
  });
}
