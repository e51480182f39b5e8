// Getting rid of an order: a caller asks, the request is durable, and the broker is told until it says that the order is gone or has traded.
import type { Denial } from "../../contracts/src/codes.ts";
import { millisecondsBetween } from "../../contracts/src/instant.ts";
import { hasEnded } from "../../core/orders/order-lifecycle.ts";
import type { BrokerOrderStatus } from "../../ports/broker.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { hasUnreported, learn } from "./learning.ts";
import { type Bells, brokerOf, isNotThere, type OmsPorts, type StepOutcome } from "./oms-parts.ts";
import { lock, underWayMs } from "./routing.ts";
import { move, note } from "./transitions.ts";

type CancelAnswer = { readonly stored: StoredOrder } | { readonly denial: Denial } | undefined;

interface CancelAsked {
  /** The person who wants it gone. */
  readonly person?: string | undefined;
  /** Writes what else belongs into the same transaction. */
  readonly tell?: (unit: UnitOfWork) => Promise<void>;
}

export interface Cancelling {
  /** Undefined when there is no such order. */
  request(orderId: string, reason: string, asked?: CancelAsked): Promise<CancelAnswer>;
  /** An order that somebody wants gone and that a broker may have. */
  cancel(stored: StoredOrder): Promise<StepOutcome>;
}

export function createCancelling(ports: OmsPorts, bells: Bells): Cancelling {
  const { clock, store } = ports;

  async function request(orderId: string, reason: string, { person, tell }: CancelAsked = {}): Promise<CancelAnswer> {
    const asking = store.transact("oms.cancel", async (unit): Promise<CancelAnswer> => {
      const stored = await unit.oms.lockOrder(orderId);
      if (stored === undefined) return undefined;
      if (hasEnded(stored.state)) {
        const sentence = `The order ${orderId} is ${stored.state}: there is nothing left to cancel.`;
        return { denial: { code: "ORDER_NOT_OPEN", reason: sentence } };
      }
      if (stored.cancelReason !== undefined) return { stored };
      await tell?.(unit);
      return { stored: await requestCancel(unit, stored, reason, person) };
    });
    // Also when it failed: whether that was before or after its commit is not known here.
    return asking.finally(() => bells.order(orderId));
  }

  /** An order whose check is under way is gone as soon as that is answered; the broker of every other one is told. */
  function requestCancel(
    unit: UnitOfWork,
    stored: StoredOrder,
    reason: string,
    person: string | undefined,
  ): Promise<StoredOrder> {
    const changes = { cancelReason: reason, reason };
    const more = person === undefined ? {} : { cancel_asked_by: person };
    if (stored.state === "PENDING_CHECK") return note(unit, stored, clock.now(), changes, more);
    return move(unit, stored, "want_cancel", clock.now(), changes, more);
  }

  async function cancel(known: StoredOrder): Promise<StepOutcome> {
    const status = await tellBroker(known);
    // What was sent a moment ago may still be under way to the broker.
    if (status === undefined && millisecondsBetween(known.updatedAt, clock.now()) < underWayMs) return "later";
    const learnt = await store.transact("oms.cancelled", async (unit) => {
      const stored = await lock(unit, known);
      const at = clock.now();
      const why = stored.cancelReason === undefined ? {} : { reason: stored.cancelReason };
      if (status === undefined) return move(unit, stored, "drop", at, why);
      return learn(unit, stored, status, at);
    });
    if (status !== undefined && hasUnreported(learnt, status)) bells.reports(known.order.broker);
    return learnt.state === known.state ? "later" : learnt;
  }

  /** Undefined when the broker has said that it never had the order. */
  async function tellBroker({ order }: StoredOrder): Promise<BrokerOrderStatus | undefined> {
    const broker = brokerOf(ports, order.broker);
    try {
      return await broker.cancel(order.order_id);
    } catch (thrown) {
      if (!isNotThere(thrown)) throw thrown;
      return broker.order(order.order_id);
    }
  }

  return { request, cancel };
}
