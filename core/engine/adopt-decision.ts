// A decision from the journal, taken over when the engine starts: it is not judged again, only its consequences are put back in place.
import { Defect } from "../../contracts/src/fault.ts";
import type { GateCheck, Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import * as instant from "../../contracts/src/instant.ts";
import { paceInput } from "../gates/static.ts";
import { parseAmount } from "../money/amount.ts";
import type { Amended } from "../orders/open-order.ts";
import { countOrder, ordersInSecond } from "../orders/order-rate.ts";
import { amend, isSameOrder, rememberTerms, reopen, reserve } from "../orders/reservations.ts";
import { countApproval } from "../orders/throttle.ts";
import { fundBookOf, strategyBookOf, symbolBookOf } from "../state/records.ts";
import { directionOf } from "../state/terms.ts";
import { amendsInput, lowersWord, windowInput } from "./check.ts";
import { type EngineState, setTripped } from "./state.ts";

type Approved = Omit<Amended, "terms"> & { readonly askedBy: string };

export function adoptDecision(
  state: EngineState,
  order: Order,
  decision: RiskDecision,
  at: Instant,
  askedBy: string,
): void {
  if (decision.dry_run === true) return;
  if (at > state.lastAt) state.lastAt = at;
  const schema = decision.checks.find(({ gate }) => gate === "schema");
  const limits = decision.checks.find(({ gate }) => gate === "static");
  const amends = figureOf(schema, amendsInput);
  const addsRisk = decision.classification !== "REDUCE" && amends !== lowersWord;
  // An unmarked reduction counts since it answers for its pace; that of an earlier version tells of none.
  const obeys = addsRisk || figureOf(limits, paceInput) !== undefined;
  if (obeys && limits?.result === "PASSED") {
    const fund = fundBookOf(state.books, order.fund_id);
    const strategy = strategyBookOf(state.books, order.strategy_id);
    countOrder(fund, strategy, at, ordersInSecond(fund, at), ordersInSecond(strategy, at));
  }
  // One that was denied because the throttle had tripped before says so, and trips nothing.
  const trips = decision.code === "THROTTLE_TRIPPED" && figureOf(limits, "throttle") === undefined;
  if (trips) adoptTrip(state, order, at);
  if (!decision.approved) return;
  const quantity = parseAmount(order.quantity);
  const unsentUntil = decision.valid_until === undefined ? Number.NaN : instant.parse(decision.valid_until);
  const approved: Approved = { quantity, key: order.idempotency_key, approvedAt: at, unsentUntil, askedBy };
  if (amends === undefined) adoptOrder(state, order, approved);
  else adoptAmendment(state, order, approved);
  const window = figureOf(limits, windowInput);
  if (window === undefined || !obeys) return;
  countApproval(strategyBookOf(state.books, order.strategy_id), {
    book: symbolBookOf(state.books, order.symbol),
    side: order.side,
    quantity,
    at,
    windowMs: Number(window),
  });
}

function figureOf(check: GateCheck | undefined, name: string): string | undefined {
  return check?.figures.find((figure) => figure.name === name)?.value;
}

function adoptTrip(state: EngineState, order: Order, at: Instant): void {
  const strategy = strategyBookOf(state.books, order.strategy_id);
  if (strategy.trippedAt === undefined) setTripped(state, strategy, at);
}

/** An id that is open already, which no engine approves as a new order, is held for the larger of the two: never for less. */
function adoptOrder({ books, orders }: EngineState, order: Order, approved: Approved): void {
  const direction = directionOf(order.side);
  if (direction === 0) throw new Defect(`an approved order in the journal has the side ${JSON.stringify(order.side)}`);
  const open = orders.open.get(order.order_id);
  if (open !== undefined) {
    if (!isSameOrder(open, order)) {
      throw new Defect(
        `the journal approves ${JSON.stringify(order.order_id)} again with another fund, symbol or side`,
      );
    }
    amend(books, orders, open, amendedBy(approved, rememberTerms(orders, order)));
    return;
  }
  const fund = fundBookOf(books, order.fund_id);
  const book = symbolBookOf(books, order.symbol);
  const { quantity, unsentUntil } = approved;
  const reserved = reserve(books, orders, fund, book, order, direction, quantity, unsentUntil);
  reserved.terms = rememberTerms(orders, order);
  reserved.askedBy = approved.askedBy;
  reserved.approvedAt = approved.approvedAt;
}

function amendedBy({ quantity, key, approvedAt, unsentUntil }: Approved, terms: Amended["terms"]): Amended {
  return { quantity, key, approvedAt, unsentUntil, terms };
}

/** The order may have filled or ended in the journal before its amendment, when the engine learnt of it only after. */
function adoptAmendment(state: EngineState, order: Order, approved: Approved): void {
  const { books, orders } = state;
  const open = orders.open.get(order.order_id) ?? reopen(books, orders, order.order_id);
  if (open === undefined || !isSameOrder(open, order)) adoptOrder(state, order, approved);
  else amend(books, orders, open, amendedBy(approved, rememberTerms(orders, order)));
}
