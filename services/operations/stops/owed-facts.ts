// What is known of a stop that fired, read from one moment of the store: what is left of its opening, what became of its attempt, and what else
// closes the same position.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import { hasEnded } from "../../../core/order-lifecycle.ts";
import { signedQuantity } from "../../../core/position-book.ts";
import type { OwedFacts } from "../../../core/synthetic-stops.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { StoredStop } from "../../../ports/stop-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { attemptOrderId, isAttempt } from "./stop-order.ts";

export interface OwedLook extends OwedFacts {
  /** Resting orders that close the position at another price: the stop takes the place of its own strategy's, and of those others that leave it
   *  too little to prove its exit with. */
  readonly resting: readonly string[];
  /** Of an attempt that came to nothing: when, and what was said. */
  readonly failure: { readonly at: Instant; readonly complaint: string } | undefined;
}

export async function lookAtOwed(unit: UnitOfWork, stop: StoredStop, lotSize: Decimal): Promise<OwedLook> {
  const ofSymbol = (await unit.oms.positions(stop.fundId)).filter(({ symbol }) => symbol === stop.symbol);
  const own = ofSymbol.find(({ strategyId }) => strategyId === stop.strategyId);
  const isOpen =
    own !== undefined && own.openedBy === stop.openedBy && decimal.sign(own.quantity) === decimal.sign(stop.quantity);
  const closing = (await unit.oms.openOrders()).filter((one) => closes(one, stop));
  const ofStrategy = closing.filter(({ order }) => order.strategy_id === stop.strategyId);
  const others = closing.filter(({ order }) => order.strategy_id !== stop.strategyId);
  const { attempt } = stop;
  const found = attempt === undefined ? undefined : await unit.oms.order(attempt.orderId);
  const order = isAttempt(found, stop) ? found : undefined;
  // Somebody else's order under that name: ours can never be taken under it any more.
  const isTaken = found !== undefined && order === undefined;
  const isOver = attempt?.isRefused === true || isTaken || (order !== undefined && hasEnded(order.state));
  const known = order === undefined ? "not there" : "alive";
  const facts: OwedFacts = {
    openQuantity: isOpen ? own.quantity : undefined,
    attempt: attempt === undefined ? "none" : isOver ? "ended" : known,
    pendingOfStrategy: sum(ofStrategy.map(remainingOf)),
    pendingOfFund: sum(closing.map(remainingOf)),
    fundQuantity: sum(ofSymbol.map(({ quantity }) => quantity)),
    lotSize,
  };
  const resting = [...ofStrategy.filter(isResting), ...inTheWay(facts, others.filter(isResting))];
  return {
    ...facts,
    resting: resting.map(({ order: one }) => one.order_id),
    failure: isOver && attempt !== undefined ? failureOf(order, attempt.at, isTaken) : undefined,
  };
}

function isResting({ order }: StoredOrder): boolean {
  return order.order_type !== "MARKET";
}

/** The newest of them, until what is left of the fund's position is enough for the exit: an order that cannot trade must not hold it back. */
function inTheWay(facts: OwedFacts, others: readonly StoredOrder[]): readonly StoredOrder[] {
  const wanted = decimal.subtract(decimal.abs(facts.openQuantity ?? decimal.zero), facts.pendingOfStrategy);
  const free = decimal.subtract(decimal.abs(facts.fundQuantity), facts.pendingOfFund);
  let lacking = decimal.subtract(wanted, free);
  const chosen: StoredOrder[] = [];
  for (const one of [...others].reverse()) {
    if (lacking <= 0n) break;
    lacking = decimal.subtract(lacking, remainingOf(one));
    chosen.push(one);
  }
  return chosen;
}

/** A slice is part of its parent, which is counted whole. */
function closes({ order, parentOrderId }: StoredOrder, stop: StoredStop): boolean {
  if (parentOrderId !== undefined || order.fund_id !== stop.fundId || order.symbol !== stop.symbol) return false;
  return decimal.sign(signedQuantity(order.side, decimal.one)) === -decimal.sign(stop.quantity);
}

function remainingOf({ order, filledQuantity }: StoredOrder): Decimal {
  return decimal.max(decimal.subtract(decimal.parse(order.quantity), filledQuantity), decimal.zero);
}

function sum(values: readonly Decimal[]): Decimal {
  return values.reduce((total, value) => decimal.add(total, value), decimal.zero);
}

/** An attempt that traded was none, also when it ended before it had traded all. */
function failureOf(order: StoredOrder | undefined, attemptedAt: Instant, isTaken: boolean): OwedLook["failure"] {
  if (isTaken) return { at: attemptedAt, complaint: "somebody else's order has the name of the last attempt" };
  if (order === undefined) return { at: attemptedAt, complaint: "order management refused it" };
  if (order.filledQuantity !== 0n) return undefined;
  const why = order.code === undefined ? "" : ` (${order.code}: ${order.reason ?? ""})`;
  return { at: order.updatedAt, complaint: `the last attempt ended as ${order.state}${why}` };
}

/** What all attempts of a stop have traded. */
export async function exitedQuantity(unit: UnitOfWork, stop: StoredStop): Promise<Decimal> {
  let exited = decimal.zero;
  for (let number = 1; number <= (stop.attempt?.number ?? 0); number += 1) {
    const order = await unit.oms.order(attemptOrderId(stop.stopId, number));
    if (isAttempt(order, stop)) exited = decimal.add(exited, order.filledQuantity);
  }
  return exited;
}
