// New terms for an order that is with a broker. They are checked like an order of their own, under their own key and the order's id; the risk
// engine holds the larger of both until the new terms are told. Halts are looked at as they are when an order is sent.
//
//  1. The wish is durable before anybody is asked, the approval before the broker is told; after a restart both go on where they stood.
//  2. The order's own terms change when the broker has confirmed them, and not before.
//  3. Terms that were denied, that ran out, or that the broker refused are dropped, and the order stays as it was.
import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import { millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import { whyNotSend } from "../../core/may-send.ts";
import type { BrokerAmendment, BrokerOrderStatus } from "../../ports/broker.ts";
import type { Amendment, StoredOrder } from "../../ports/oms-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { verdictOf } from "./checking.ts";
import { brokerOf, keyWindowMs, type OmsPorts, type StepOutcome } from "./oms-parts.ts";
import { lock } from "./routing.ts";
import { note } from "./transitions.ts";

export interface Terms {
  readonly quantity?: string;
  readonly limit_price?: string;
  readonly stop_price?: string;
}

export type AmendAnswer = { readonly stored: StoredOrder } | { readonly denial: Denial } | undefined;

export interface Amending {
  /** Undefined when there is no such order. */
  request(
    orderId: string,
    idempotencyKey: string,
    terms: Terms,
    told?: (unit: UnitOfWork) => Promise<void>,
  ): Promise<AmendAnswer>;
  /** A working order with new terms. */
  amend(stored: StoredOrder): Promise<StepOutcome>;
  /** Why the newest terms of this order were dropped, once; undefined when they were not. */
  refusal(orderId: string): Denial | undefined;
}

/** Refusals that nobody has asked for yet. */
const refusalsMax = 1_000;

export function createAmending(ports: OmsPorts): Amending {
  const { clock, store } = ports;
  const refusals = new Map<string, Denial>();

  async function request(
    orderId: string,
    idempotencyKey: string,
    terms: Terms,
    told: (unit: UnitOfWork) => Promise<void> = async () => undefined,
  ): Promise<AmendAnswer> {
    return store.transact("oms.amend", async (unit): Promise<AmendAnswer> => {
      const stored = await unit.oms.lockOrder(orderId);
      if (stored === undefined) return undefined;
      const reason = whyNotAmend(stored, terms);
      const isSame = stored.amendment?.idempotency_key === idempotencyKey;
      if (isSame || isInForce(stored.order, terms)) return { stored };
      if (reason !== undefined) return { denial: { code: "ORDER_NOT_OPEN", reason } };
      await told(unit);
      const at = clock.now();
      const amendment: Amendment = { idempotency_key: idempotencyKey, ...terms, askedAt: at };
      return { stored: await note(unit, stored, at, { amendment }) };
    });
  }

  async function amend(known: StoredOrder): Promise<StepOutcome> {
    const { amendment } = known;
    if (amendment === undefined) return "rest";
    return amendment.decision === undefined ? check(known, amendment) : hand(known, amendment);
  }

  async function check(known: StoredOrder, amendment: Amendment): Promise<StepOutcome> {
    const asked = amendedOrder(known.order, amendment);
    if (millisecondsBetween(amendment.askedAt, clock.now()) >= keyWindowMs) {
      return drop(known, { code: "ORDER_CHECK_UNANSWERED", reason: "The risk engine did not answer." });
    }
    const verdict = verdictOf(await ports.riskChecks.check(asked), asked, clock.now());
    if (!verdict.approved) {
      const { code, reason } = verdict.denial;
      return drop(known, { code: "ORDER_DENIED", reason: `${code}: ${reason}` });
    }
    const { decision } = verdict;
    const envelope = asked.reduce_only === true ? await ports.riskChecks.envelope(asked.fund_id) : undefined;
    const exitsPassHalts = envelope?.halt_allow_reduce_only ?? false;
    const held = await store.transact("oms.amend", async (unit) => {
      const stored = await lock(unit, known);
      if (!isSameWish(stored, amendment)) return { stored };
      const { active } = await unit.oms.haltsAtSending();
      const at = clock.now();
      const isLess = isLowering(stored.order, amendment);
      const halts = isLess ? [] : active;
      const denial = whyNotSend({ order: asked, decision, halts, exitsPassHalts, at });
      if (denial !== undefined) return { denial };
      return { stored: await note(unit, stored, at, { amendment: { ...amendment, decision } }) };
    });
    return "denial" in held ? drop(known, held.denial) : held.stored;
  }

  async function hand(known: StoredOrder, amendment: Amendment): Promise<StepOutcome> {
    const { order } = known;
    let status: BrokerOrderStatus;
    try {
      status = await brokerOf(ports, order.broker).amend(order.order_id, brokerTermsOf(amendment));
    } catch (thrown) {
      // Only a broker that answered can have refused.
      if (!(thrown instanceof Fault) || thrown.retry !== "never") throw thrown;
      return drop(known, { code: "ORDER_BROKER_REJECTED", reason: thrown.message });
    }
    const isIn = amendment.quantity === undefined || status.quantity === decimal.parse(amendment.quantity);
    if (!isIn)
      return drop(known, { code: "ORDER_BROKER_REJECTED", reason: status.reason ?? "The broker keeps the old terms." });
    return store.transact("oms.amend", async (unit) => {
      const stored = await lock(unit, known);
      if (!isSameWish(stored, amendment)) return stored;
      return note(unit, without(stored), clock.now(), { order: amendedTerms(stored.order, amendment) });
    });
  }

  async function drop(known: StoredOrder, denial: Denial): Promise<StepOutcome> {
    const stored = await store.transact("oms.amend", async (unit) => {
      const locked = await lock(unit, known);
      if (known.amendment === undefined || !isSameWish(locked, known.amendment)) return locked;
      return note(unit, without(locked), clock.now(), { reason: `Not amended. ${denial.reason}` });
    });
    if (refusals.size >= refusalsMax) refusals.clear();
    refusals.set(known.order.order_id, denial);
    return stored;
  }

  return {
    request,
    amend,
    refusal(orderId) {
      const found = refusals.get(orderId);
      refusals.delete(orderId);
      return found;
    },
  };
}

function whyNotAmend({ order, state, amendment, sliced, filledQuantity, cancelReason }: StoredOrder, terms: Terms) {
  const { order_id: orderId } = order;
  if (sliced === true) return `The order ${orderId} goes out in slices: cancel it, or amend nothing.`;
  if (state !== "WORKING" && state !== "PARTIALLY_FILLED") return `The order ${orderId} is ${state}.`;
  if (cancelReason !== undefined) return `The order ${orderId} is being cancelled.`;
  if (amendment !== undefined) return `The order ${orderId} is being amended already.`;
  if (terms.quantity === undefined || decimal.parse(terms.quantity) > filledQuantity) return undefined;
  return `The order ${orderId} has traded ${decimal.format(filledQuantity)}: cancel the rest instead.`;
}

function isInForce(order: Order, terms: Terms): boolean {
  const same = (wanted: string | undefined, is: string | undefined): boolean =>
    wanted === undefined || (is !== undefined && decimal.parse(wanted) === decimal.parse(is));
  return (
    same(terms.quantity, order.quantity) &&
    same(terms.limit_price, order.limit_price) &&
    same(terms.stop_price, order.stop_price)
  );
}

/** Only less of the same: like a cancellation of a part, which no halt stands against. */
function isLowering(order: Order, terms: Terms): boolean {
  if (terms.quantity === undefined || !isInForce(order, { ...terms, quantity: order.quantity })) return false;
  return decimal.parse(terms.quantity) < decimal.parse(order.quantity);
}

function isSameWish(stored: StoredOrder, { idempotency_key: key }: Amendment): boolean {
  return stored.amendment?.idempotency_key === key;
}

function without(stored: StoredOrder): StoredOrder {
  const { amendment, ...rest } = stored;
  return rest;
}

function amendedTerms(order: Order, { quantity, limit_price, stop_price }: Terms): Order {
  return {
    ...order,
    ...(quantity !== undefined && { quantity }),
    ...(limit_price !== undefined && { limit_price }),
    ...(stop_price !== undefined && { stop_price }),
  };
}

/** As it is asked about: the notional of the old terms says nothing about the new ones. */
function amendedOrder(order: Order, amendment: Amendment): Order {
  const { notional, ...rest } = amendedTerms(order, amendment);
  return { ...rest, idempotency_key: amendment.idempotency_key };
}

function brokerTermsOf({ quantity, limit_price, stop_price }: Terms): BrokerAmendment {
  return {
    ...(quantity !== undefined && { quantity: decimal.parse(quantity) }),
    ...(limit_price !== undefined && { limitPrice: decimal.parse(limit_price) }),
    ...(stop_price !== undefined && { stopPrice: decimal.parse(stop_price) }),
  };
}
