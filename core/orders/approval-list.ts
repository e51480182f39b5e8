// What is reserved, listed order by order: whose approval it is, how much of it counts, and whether anything shows that it was sent.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Approval } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import * as instant from "../../contracts/src/instant.ts";
import { sourceOfActor } from "../../contracts/src/platform-services.ts";
import { type Amount, toDecimal } from "../money/amount.ts";
import type { OpenOrder } from "./open-order.ts";
import type { OrderBook } from "./reservations.ts";

export interface ApprovalsQuestion {
  /** Undefined means every fund. */
  readonly fundId: string | undefined;
  /** Only those of which nothing shows that they were sent. */
  readonly unsent: boolean;
  /** Only what belongs to this source. */
  readonly owner?: string | undefined;
  readonly countMax: number;
  /** Only what comes after one with this end, NaN when it was sent, and this id. */
  readonly after?: { readonly unsentUntil: number; readonly orderId: string };
}

/** The source that it belongs to; undefined where nobody knows. */
type OwnerIn = (order: OpenOrder) => string | undefined;

/** How long after its `valid_until` an unsent approval keeps its exposure. */
export const approvalGraceMs = 30_000;

/** Those that run out first come first, then those that were sent, by their ids. */
export function listApprovals(
  orders: OrderBook,
  { fundId, unsent, owner, countMax, after }: ApprovalsQuestion,
  ownerIn: OwnerIn,
): readonly Approval[] {
  const asked: OpenOrder[] = [];
  for (const order of orders.open.values()) {
    const isTheirs = owner === undefined || ownerIn(order) === owner;
    const isAsked = isTheirs && !order.awaitsVerdict && (fundId === undefined || order.fund.id === fundId);
    const until = unsentUntilOf(order);
    if (!isAsked || (unsent && Number.isNaN(until))) continue;
    if (after === undefined || inOrder(after.unsentUntil, after.orderId, until, order.id) < 0) asked.push(order);
  }
  return asked
    .sort(byExpiry)
    .slice(0, countMax)
    .map((order) => approvalFrom(order, ownerIn(order)));
}

/** Also one that ran out or was released. */
export function approvalOf(orders: OrderBook, orderId: string, ownerIn: OwnerIn): Approval | undefined {
  const order = orders.open.get(orderId) ?? orders.expired.get(orderId);
  return order === undefined || order.awaitsVerdict ? undefined : approvalFrom(order, ownerIn(order));
}

/** When its first unsent approval runs out; NaN when nothing of it is unsent. */
function unsentUntilOf({ unsentUntil, amendments }: OpenOrder): number {
  if (!Number.isNaN(unsentUntil)) return unsentUntil;
  const waiting = amendments.map((amended) => amended.unsentUntil).filter((until) => !Number.isNaN(until));
  return waiting.length === 0 ? Number.NaN : Math.min(...waiting);
}

function byExpiry(left: OpenOrder, right: OpenOrder): number {
  return inOrder(unsentUntilOf(left), left.id, unsentUntilOf(right), right.id);
}

function inOrder(one: number, oneId: string, other: number, otherId: string): number {
  const isSame = one === other || (Number.isNaN(one) && Number.isNaN(other));
  if (isSame) return oneId < otherId ? -1 : oneId > otherId ? 1 : 0;
  if (Number.isNaN(one)) return 1;
  return Number.isNaN(other) ? -1 : one - other;
}

function approvalFrom(order: OpenOrder, owner: string | undefined): Approval {
  const until = unsentUntilOf(order);
  const isUnsent = !Number.isNaN(until);
  return {
    order_id: order.id,
    fund_id: order.fund.id,
    strategy_id: order.strategyId,
    symbol: order.book.symbol,
    side: order.side,
    quantity: text(order.quantity),
    filled_quantity: text(order.filled),
    reserved_quantity: text(order.remaining),
    state: stateOf(order, isUnsent),
    ...(order.terms?.reduce_only === true && { reduce_only: true }),
    ...(order.askedBy !== "" && { asked_by: order.askedBy }),
    ...(owner !== undefined && owner !== sourceOfActor(order.askedBy) && { owned_by: owner }),
    ...(!Number.isNaN(order.approvedAt) && { since: instant.format(instant.fromMicroseconds(order.approvedAt)) }),
    ...(isUnsent && timesOf(instant.fromMicroseconds(until))),
  };
}

function timesOf(validUntil: instant.Instant): Pick<Approval, "valid_until" | "expires_at"> {
  return {
    valid_until: instant.format(validUntil),
    expires_at: instant.format(instant.plusMilliseconds(validUntil, approvalGraceMs)),
  };
}

function stateOf(order: OpenOrder, isUnsent: boolean): string {
  if (order.expired) return order.released ? "RELEASED" : "EXPIRED";
  if (order.ended) return "ENDED";
  if (!Number.isNaN(order.unsentUntil)) return "UNSENT";
  return isUnsent ? "AMENDMENT_UNSENT" : "SENT";
}

function text(amount: Amount): string {
  return decimal.format(toDecimal(amount));
}
