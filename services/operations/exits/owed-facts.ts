// What is known of a position that must be closed, read from one moment of the store: what is left of its opening, what became of the attempt at it, and
// what else closes the same position.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import { signedQuantity } from "../../../core/ledger/position.ts";
import { hasEnded } from "../../../core/orders/order-lifecycle.ts";
import type { Opposed, OwedFacts } from "../../../core/stops/synthetic-stops.ts";
import type { StoredOrder, StoredPosition } from "../../../ports/oms-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { attemptOrderId, crossIdOf, isAttempt } from "./exit-order.ts";
import type { OwedExit } from "./owed-exit.ts";

/** What kind of an exit it is: of whatever the opening has become, or of what was held when the whole fund was to be closed. */
export type ExitManner = "all of the opening" | "what was held, with the fund";

export interface OwedLook extends OwedFacts {
  /** Resting orders that close the position at another price: the exit takes the place of its own strategy's, and of those others that leave it
   *  too little to prove itself with; with the whole fund, of all of them. */
  readonly resting: readonly string[];
  /** Of an attempt that came to nothing: when, and what was said. */
  readonly failure: { readonly at: Instant; readonly complaint: string } | undefined;
}

export async function lookAtOwed(
  unit: UnitOfWork,
  exit: OwedExit,
  lotSize: Decimal,
  manner: ExitManner,
): Promise<OwedLook> {
  const isWholeFund = manner === "what was held, with the fund";
  const ofSymbol = (await unit.oms.positions(exit.fundId)).filter(({ symbol }) => symbol === exit.symbol);
  const own = ofSymbol.find(({ strategyId }) => strategyId === exit.strategyId);
  const isOpen =
    own !== undefined && own.openedBy === exit.openedBy && decimal.sign(own.quantity) === decimal.sign(exit.quantity);
  const openOrders = await unit.oms.openOrders();
  const closing = openOrders.filter((one) => closes(one, exit));
  const ofStrategy = closing.filter(({ order }) => order.strategy_id === exit.strategyId);
  const others = closing.filter(({ order }) => order.strategy_id !== exit.strategyId);
  const { attempt } = exit;
  const found = attempt === undefined ? undefined : await unit.oms.order(attempt.orderId);
  const order = isAttempt(found, exit) ? found : undefined;
  // Somebody else's order under that name: ours can never be taken under it any more.
  const isTaken = found !== undefined && order === undefined;
  const isOver = attempt?.isRefused === true || isTaken || (order !== undefined && hasEnded(order.state));
  const known = order === undefined ? "not there" : "alive";
  const opposed = isWholeFund ? [] : ofSymbol.flatMap((one) => opposedOf(one, exit, openOrders));
  const left = isOpen && isWholeFund ? await atMostHeld(unit, exit, own.quantity) : own?.quantity;
  const facts: OwedFacts = {
    openQuantity: isOpen && left !== decimal.zero ? left : undefined,
    attempt: attempt === undefined ? "none" : isOver ? "ended" : known,
    pendingOfStrategy: sum(ofStrategy.map(remainingOf)),
    pendingOfFund: sum(closing.map(remainingOf)),
    fundQuantity: sum(ofSymbol.map(({ quantity }) => quantity)),
    lotSize,
    opposed,
    endsWithFund: isWholeFund,
  };
  const ofOthers = others.filter(isResting);
  const resting = [...ofStrategy.filter(isResting), ...(isWholeFund ? ofOthers : inTheWay(facts, ofOthers))];
  return {
    ...facts,
    resting: resting.map(({ order: one }) => one.order_id),
    failure: isOver && attempt !== undefined ? failureOf(order, attempt.at, isTaken) : undefined,
  };
}

/** Another strategy's position of the other side, without what its own marked exits under way close of it. */
function opposedOf(
  { strategyId, symbol, quantity }: StoredPosition,
  exit: OwedExit,
  openOrders: readonly StoredOrder[],
): readonly Opposed[] {
  if (strategyId === exit.strategyId || decimal.sign(quantity) !== -decimal.sign(exit.quantity)) return [];
  const exits = openOrders.filter(
    (one) =>
      one.order.reduce_only === true &&
      one.order.strategy_id === strategyId &&
      closes(one, { ...exit, symbol, quantity }),
  );
  const free = decimal.subtract(decimal.abs(quantity), sum(exits.map(remainingOf)));
  return free > 0n ? [{ strategyId, quantity, free }] : [];
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

/** What a strategy buys or sells after it was asked is not what was asked for: without that bound its trading would keep the exit open for ever. */
async function atMostHeld(unit: UnitOfWork, exit: OwedExit, quantity: Decimal): Promise<Decimal> {
  const owed = decimal.subtract(decimal.abs(exit.quantity), await exitedQuantity(unit, exit));
  const left = decimal.max(decimal.min(owed, decimal.abs(quantity)), decimal.zero);
  return quantity < 0n ? decimal.negate(left) : left;
}

/** A slice is part of its parent, which is counted whole. */
function closes({ order, parentOrderId }: StoredOrder, exit: OwedExit): boolean {
  if (parentOrderId !== undefined || order.fund_id !== exit.fundId || order.symbol !== exit.symbol) return false;
  return decimal.sign(signedQuantity(order.side, decimal.one)) === -decimal.sign(exit.quantity);
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

/** What it has crossed with other strategies so far: how often, and how much. */
export async function crossedSoFar(
  unit: UnitOfWork,
  { exitId, strategyId }: OwedExit,
): Promise<{ readonly count: number; readonly quantity: Decimal }> {
  let quantity = decimal.zero;
  for (let count = 0; ; count += 1) {
    const fills = await unit.oms.fillsOf(crossIdOf(exitId, count + 1));
    if (fills.length === 0) return { count, quantity };
    const own = fills.filter((fill) => fill.strategy_id === strategyId);
    quantity = decimal.add(quantity, sum(own.map((fill) => decimal.parse(fill.quantity))));
  }
}

/** What all attempts at an exit have traded, and what it crossed. */
export async function exitedQuantity(unit: UnitOfWork, exit: OwedExit): Promise<Decimal> {
  const { exitId, attempt, exitedBefore } = exit;
  let exited = decimal.add(exitedBefore ?? decimal.zero, (await crossedSoFar(unit, exit)).quantity);
  const first = exitedBefore === undefined ? 1 : (attempt?.number ?? 1);
  for (let number = first; number <= (attempt?.number ?? 0); number += 1) {
    const order = await unit.oms.order(attemptOrderId(exitId, number));
    if (isAttempt(order, exit)) exited = decimal.add(exited, order.filledQuantity);
  }
  return exited;
}
