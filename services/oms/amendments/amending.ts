// New terms for an order that is with a broker. They are checked like an order of their own, under their own key and the order's id; the risk
// engine holds the larger of both until the new terms are reported. Halts are read as they are when an order is sent.
//
//  1. The request is durable before the engine is asked, the approval before the broker is told; after a restart both go on where they stood.
//  2. Nothing is handed over whose approval has run out, was released, or is older than a halt that covers the order: that is checked before each hand-over.
//  3. The order's own terms change when the broker says that it has every one of them, and not before.
//  4. Terms that were denied, that ran out, or that the broker refused are dropped, and the order stays as it was. Terms that may be with the
//     broker are dropped only when it has said that it does not have them.
//  5. An approval is spent once, and a key that comes again gets its first outcome (amendment-outcomes.ts).
//  6. While one amendment is on its way every other is refused, also one that asks for the terms in force: nothing is answered with success that
//     the one on its way undoes.
import type { Denial } from "../../../contracts/src/codes.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import type { RiskDecision } from "../../../contracts/src/records/order.ts";
import { whyNotSend } from "../../../core/orders/may-send.ts";
import type { BrokerOrderStatus } from "../../../ports/broker.ts";
import type { Amendment, StoredOrder } from "../../../ports/oms-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { verdictOf } from "../checking.ts";
import { brokerOf, keyWindowMs, type OmsPorts, type StepOutcome } from "../oms-parts.ts";
import { lock, underWayMs } from "../routing.ts";
import { note } from "../transitions.ts";
import { type KnownKey, knownKey, whySpent, whyTooMany, withOutcome } from "./amendment-outcomes.ts";
import {
  amendedOrder,
  amendedTerms,
  brokerTermsOf,
  isAtBroker,
  isInForce,
  isLowering,
  type Terms,
  unusedPrice,
} from "./amendment-terms.ts";

type AmendAnswer = KnownKey | undefined;

export interface Amending {
  /** Undefined when there is no such order. */
  request(
    orderId: string,
    idempotencyKey: string,
    terms: Terms,
    tell?: (unit: UnitOfWork) => Promise<void>,
  ): Promise<AmendAnswer>;
  /** A working order with new terms. */
  amend(stored: StoredOrder): Promise<StepOutcome>;
  /** What has become of an amendment that was asked for; undefined when nothing is known of it. */
  outcome(orderId: string, idempotencyKey: string, terms: Terms): Promise<AmendAnswer>;
}

/** How the reason of an order begins whose newest terms were dropped. */
const notAmended = "Not amended. ";

export function createAmending(ports: OmsPorts, haltsHeard: () => readonly ActiveHalt[]): Amending {
  const { clock, store } = ports;

  async function request(
    orderId: string,
    idempotencyKey: string,
    terms: Terms,
    tell: (unit: UnitOfWork) => Promise<void> = async () => undefined,
  ): Promise<AmendAnswer> {
    return store.transact("oms.amend", async (unit): Promise<AmendAnswer> => {
      const stored = await unit.oms.lockOrder(orderId);
      if (stored === undefined) return undefined;
      const at = clock.now();
      const known = knownKey(stored, idempotencyKey, terms, at);
      if (known !== undefined) return known;
      const reason = whyNotAmend(stored) ?? whyNotNow(stored, at);
      if (reason !== undefined) return { denial: { code: "ORDER_NOT_OPEN", reason } };
      const unused = unusedPrice(stored.order, terms);
      if (unused !== undefined) throw new Fault("INVALID_ARGUMENT", unused, { retry: "never" });
      const amendment: Amendment = { idempotency_key: idempotencyKey, ...terms, askedAt: at };
      const isThere = isInForce(stored.order, terms);
      const traded = isThere ? undefined : whyTraded(stored, terms);
      if (traded !== undefined) return { denial: { code: "ORDER_NOT_OPEN", reason: traded } };
      await tell(unit);
      const settled = isThere ? { settledAmendments: withOutcome(stored, amendment, at) } : { amendment };
      // What was said of terms before these says nothing about them.
      return { stored: await note(unit, withoutOldDenial(stored), at, settled) };
    });
  }

  async function amend(known: StoredOrder): Promise<StepOutcome> {
    const { amendment } = known;
    if (amendment === undefined) return "rest";
    if (amendment.decision === undefined) return check(known, amendment);
    return inquire(known, amendment, amendment.decision);
  }

  async function check(known: StoredOrder, amendment: Amendment): Promise<StepOutcome> {
    const asked = amendedOrder(known.order, amendment);
    if (millisecondsBetween(amendment.askedAt, clock.now()) >= keyWindowMs) {
      return drop(known, { code: "ORDER_CHECK_UNANSWERED", reason: "The risk engine did not answer." });
    }
    const verdict = verdictOf(await ports.riskChecks.check(asked), asked, clock.now());
    if (verdict.approved) return hand(known, amendment, verdict.decision);
    const { code, reason } = verdict.denial;
    return drop(known, { code: "ORDER_DENIED", reason: `${code}: ${reason}` });
  }

  /** It was handed over before, or was about to be: what the broker has tells, once nothing can be under way any more. */
  async function inquire(known: StoredOrder, amendment: Amendment, decision: RiskDecision): Promise<StepOutcome> {
    const { order } = known;
    const status = await brokerOf(ports, order.broker).order(order.order_id);
    if (status !== undefined && isAtBroker(status, amendment)) return take(known, amendment);
    if (status !== undefined && hasEnded(status)) return drop(known, ended(status));
    const since = amendment.handedAt ?? amendment.askedAt;
    if (millisecondsBetween(since, clock.now()) < underWayMs) return "later";
    return hand(known, amendment, decision);
  }

  /** In one transaction whether it may be sent, and that it is; then the sending. */
  async function hand(known: StoredOrder, amendment: Amendment, decision: RiskDecision): Promise<StepOutcome> {
    const asked = amendedOrder(known.order, amendment);
    const envelope = asked.reduce_only === true ? await ports.riskChecks.envelope(asked.fund_id) : undefined;
    const exitsPassHalts = envelope?.halt_allow_reduce_only ?? false;
    const why = (halts: readonly ActiveHalt[], stored: StoredOrder): Denial | undefined =>
      whyNotSend({
        order: asked,
        decision,
        exitsPassHalts,
        at: clock.now(),
        releasedThrough: stored.releasedThrough,
        halts: isLowering(stored.order, amendment) ? [] : halts,
      });
    const held = await store.transact("oms.amend", async (unit) => {
      const stored = await lock(unit, known);
      if (!isSameRequest(stored, amendment) || stored.cancelReason !== undefined) return { stored };
      const denial = whySpent(stored, decision) ?? why((await unit.oms.haltsAtSending()).active, stored);
      if (denial !== undefined) return { denial };
      const at = clock.now();
      const handed = await note(unit, stored, at, { amendment: { ...amendment, decision, handedAt: at } });
      return { stored: handed, mayBeSent: true };
    });
    if ("denial" in held) return drop(known, held.denial);
    if (held.mayBeSent !== true) return held.stored;
    // The commit may have taken its time.
    const late = why(haltsHeard(), held.stored);
    return late === undefined ? send(held.stored, amendment) : drop(held.stored, late);
  }

  async function send(known: StoredOrder, amendment: Amendment): Promise<StepOutcome> {
    const { order } = known;
    let status: BrokerOrderStatus;
    try {
      status = await brokerOf(ports, order.broker).amend(order.order_id, brokerTermsOf(amendment));
    } catch (thrown) {
      // Only a broker that answered can have refused.
      if (!(thrown instanceof Fault) || thrown.retry !== "never") throw thrown;
      return drop(known, { code: "ORDER_BROKER_REJECTED", reason: thrown.message });
    }
    if (isAtBroker(status, amendment)) return take(known, amendment);
    if (hasEnded(status)) return drop(known, ended(status));
    const reason = status.reason ?? "The broker keeps the old terms.";
    return drop(known, { code: "ORDER_BROKER_REJECTED", reason });
  }

  async function take(known: StoredOrder, amendment: Amendment): Promise<StepOutcome> {
    return store.transact("oms.amend", async (unit) => {
      const stored = await lock(unit, known);
      if (!isSameRequest(stored, amendment)) return stored;
      const at = clock.now();
      const settledAmendments = withOutcome(stored, stored.amendment ?? amendment, at);
      return note(unit, cleared(stored), at, { order: amendedTerms(stored.order, amendment), settledAmendments });
    });
  }

  async function drop(known: StoredOrder, denial: Denial): Promise<StepOutcome> {
    return store.transact("oms.amend", async (unit) => {
      const locked = await lock(unit, known);
      const { amendment } = locked;
      if (amendment === undefined || known.amendment === undefined || !isSameRequest(locked, known.amendment))
        return locked;
      const at = clock.now();
      const settledAmendments = withOutcome(locked, amendment, at, denial);
      const changes = { reason: `${notAmended}${denial.reason}`, settledAmendments };
      // The risk engine gives back what it holds for these terms.
      return note(unit, cleared(locked), at, changes, { dropped_amendment_key: amendment.idempotency_key });
    });
  }

  async function outcome(orderId: string, idempotencyKey: string, terms: Terms): Promise<AmendAnswer> {
    const stored = await store.transact("oms.look", (unit) => unit.oms.order(orderId));
    return stored === undefined ? undefined : knownKey(stored, idempotencyKey, terms, clock.now());
  }

  return { request, amend, outcome };
}

/** Why it can never be amended. */
function whyNotAmend({ order, state, sliced, cancelReason }: StoredOrder): string | undefined {
  const { order_id: orderId } = order;
  if (sliced === true) return `The order ${orderId} goes out in slices: cancel it, or amend nothing.`;
  if (state !== "WORKING" && state !== "PARTIALLY_FILLED") return `The order ${orderId} is ${state}.`;
  return cancelReason === undefined ? undefined : `The order ${orderId} is being cancelled.`;
}

/** Why it cannot be amended before something else has happened (invariant 6). */
function whyNotNow(stored: StoredOrder, at: Instant): string | undefined {
  if (stored.amendment === undefined) return whyTooMany(stored, at);
  return `The order ${stored.order.order_id} is being amended: wait until that is settled, or cancel the order.`;
}

function whyTraded({ order, filledQuantity }: StoredOrder, terms: Terms): string | undefined {
  const { order_id: orderId } = order;
  if (terms.quantity === undefined || decimal.parse(terms.quantity) > filledQuantity) return undefined;
  return `The order ${orderId} has traded ${decimal.format(filledQuantity)}: cancel the rest instead.`;
}

function isSameRequest(stored: StoredOrder, { idempotency_key: key }: Amendment): boolean {
  return stored.amendment?.idempotency_key === key;
}

/** Without the terms that are settled now, and without what was said of terms before them. */
function cleared(stored: StoredOrder): StoredOrder {
  const { amendment, ...rest } = withoutOldDenial(stored);
  return rest;
}

function withoutOldDenial(stored: StoredOrder): StoredOrder {
  const { reason, ...rest } = stored;
  return reason === undefined || reason.startsWith(notAmended) ? rest : stored;
}

function hasEnded({ state }: BrokerOrderStatus): boolean {
  return state !== "WORKING" && state !== "PARTIALLY_FILLED";
}

function ended({ state, clientOrderId }: BrokerOrderStatus): Denial {
  return { code: "ORDER_NOT_OPEN", reason: `The order ${clientOrderId} was ${state} before the new terms reached it.` };
}
