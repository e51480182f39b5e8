// Hands accepted alerts in at the front door. Each fund and symbol is a lane: one alert after the other, strictly in order of receipt, and the next one only
// when the order of the one before has been decided and sent, or has ended. Where an alert stands is in the store alone, so that a worker that died is
// simply begun again.
//
//  1. An accepted alert becomes the order `tv-<signal_id>`, or it ends as FAILED: never both, and never two orders. Whether the order is there is asked
//     before each try, and once more, with its key held, before an alert ends without one.
//  2. Trouble is waited out with back-off; an alert that is too old by then is not sent.
import { Defect, Fault } from "../../../contracts/src/fault.ts";
import type { Order as OrderMessage } from "../../../contracts/src/generated/svc/v1/order.ts";
import type { OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import { format, type Instant, minusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Order } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { ageDenial } from "../../../core/webhook/alert-order.ts";
import type { Identity } from "../../../ports/identity.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { DeniedAnswer } from "../../../ports/rpc.ts";
import type { AcceptedSignal, SignalLane, StoredSignal } from "../../../ports/signal-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { startLoop } from "../../shared/loop.ts";
import { noticeTrouble } from "../../shared/trouble.ts";
import { pollUntil } from "../../shared/waiting.ts";
import { keyWindowMs, type OmsPorts } from "../oms-parts.ts";
import { brokerOfFund } from "./broker-of-fund.ts";
import { failedEvent } from "./signal-records.ts";
import { signalSettings, webhookActor } from "./signal-settings.ts";

const backOffMs = { first: 100, max: 5_000 };
/** A bell that was lost with the answer to a commit is rung again within this time. */
const lookEveryMs = 5_000;

/** The front door. */
export type SubmitOrder = (
  order: OrderMessage,
  call: { readonly identity: Identity },
) => Promise<OrderStatus | DeniedAnswer>;

interface SignalWorker {
  /** Something is to be handed in. */
  ring(): void;
  stop(): Promise<void>;
}

/** Whoever holds a fund's secret; the order's own actor is a claim. */
export function webhookIdentity(now: Instant): Identity {
  return {
    kind: "service",
    actor: webhookActor,
    name: "oms",
    subject: webhookActor,
    issuer: "webhook",
    roles: ["service"],
    tokenId: webhookActor,
    issuedAt: now,
    expiresAt: now,
  };
}

interface Failure {
  readonly code: string;
  readonly detail: string;
}

/** Not decided or not sent yet: the next one of its lane would overtake it. */
const isUndecided = ({ state }: Pick<StoredOrder, "state">): boolean =>
  state === "PENDING_CHECK" || state === "ACCEPTED";

export function createSignalWorker(ports: OmsPorts, submit: SubmitOrder): SignalWorker {
  const { clock, store, timers, log } = ports;
  const settings = signalSettings(ports.settings);
  const lanes = new Map<string, Promise<void>>();

  const look = <T>(read: (unit: UnitOfWork) => Promise<T>): Promise<T> => store.transact("oms.look", read);

  /** Begins a worker for every lane in which something waits and nobody works. */
  async function takeUp(ending: AbortSignal): Promise<number> {
    for (const lane of await look((unit) => unit.signals.waitingLanes())) {
      const name = JSON.stringify([lane.fundId, lane.symbol]);
      if (lanes.has(name) || ending.aborted) continue;
      lanes.set(
        name,
        work(lane, ending).finally(() => lanes.delete(name)),
      );
    }
    return lookEveryMs;
  }

  /** Until nothing of the lane waits. */
  async function work(lane: SignalLane, signal: AbortSignal): Promise<void> {
    const trouble = noticeTrouble(log.with({ ...lane }), {
      failing: "a signal cannot go on",
      working: "a signal goes on again",
    });
    const next = async (): Promise<"done" | "none left" | undefined> => {
      try {
        const waiting = await look((unit) => unit.signals.nextSignal(lane));
        const isDone = waiting !== undefined && (await handIn(waiting));
        trouble.worked();
        if (waiting === undefined) return "none left";
        return isDone ? "done" : undefined;
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        trouble.failed(thrown);
        return undefined;
      }
    };
    const polling = { timers, everyMs: backOffMs.first, everyMsMax: backOffMs.max, signal };
    for (let done = await pollUntil(polling, next); done === "done"; ) done = await pollUntil(polling, next);
  }

  /** Whether it is done with. */
  async function handIn(signal: StoredSignal): Promise<boolean> {
    const { accepted, fundId } = signal;
    if (accepted === undefined || fundId === undefined) throw new Defect(`the signal ${signal.signalId} has no order`);
    const there = await look((unit) => unit.oms.order(accepted.orderId));
    if (there !== undefined) return isUndecided(there) ? false : settle(signal, there);
    const old = ageDenial(signal.alertAt ?? signal.receivedAt, clock.now(), settings.ageMsMax);
    if (old?.code === "WEBHOOK_ALERT_TOO_OLD") return fail(signal, accepted, old);
    const found = await brokerOfFund(ports, fundId);
    if ("code" in found) return fail(signal, accepted, found);
    const refusal = await submitted({ ...accepted.order, broker: found.broker });
    if (refusal !== undefined) return fail(signal, accepted, refusal);
    const stored = await look((unit) => unit.oms.order(accepted.orderId));
    return stored === undefined || isUndecided(stored) ? false : settle(signal, stored);
  }

  /** Why the front door did not take it; what the door cannot say now is tried again. */
  async function submitted(order: Order): Promise<Failure | undefined> {
    try {
      const answer = await submit(order, { identity: webhookIdentity(clock.now()) });
      return "denial" in answer ? { code: answer.denial.code, detail: answer.denial.reason } : undefined;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "INVALID_ARGUMENT") {
        return { code: thrown.code, detail: thrown.message };
      }
      throw thrown;
    }
  }

  /** The order stands: what becomes of it is its own business from here on. */
  async function settle(signal: StoredSignal, order: StoredOrder): Promise<true> {
    const { signalId } = signal;
    if (order.state === "REJECTED") {
      const why = { code: order.code ?? "ORDER_REJECTED", detail: order.reason ?? "The order was rejected." };
      await store.transact("oms.signal-failed", async (unit) => {
        const done = await submittedNow(unit, signalId);
        if (done === undefined) return;
        await unit.events.publish(subjects.signalFailed, failedEvent(done, why, format(clock.now())));
      });
    } else {
      await store.transact("oms.signal-submitted", (unit) => submittedNow(unit, signalId));
    }
    return true;
  }

  /** Undefined when somebody else was faster. */
  async function submittedNow(unit: UnitOfWork, signalId: string): Promise<StoredSignal | undefined> {
    const locked = await unit.signals.lockSignal(signalId);
    if (locked?.status !== "ACCEPTED") return undefined;
    const done: StoredSignal = { ...locked, status: "SUBMITTED" };
    await unit.signals.updateSignal(done);
    return done;
  }

  /** Whether it ended: when an order has come to be meanwhile it has not. */
  async function fail(signal: StoredSignal, { order }: AcceptedSignal, { code, detail }: Failure): Promise<boolean> {
    return store.transact("oms.signal-failed", async (unit) => {
      // Whoever is handing it in holds the key: this waits, and then finds the order.
      await unit.oms.lockKey(order.idempotency_key, minusMilliseconds(clock.now(), keyWindowMs));
      if ((await unit.oms.lockOrder(order.order_id)) !== undefined) return false;
      const locked = await unit.signals.lockSignal(signal.signalId);
      if (locked?.status !== "ACCEPTED") return true;
      const failed: StoredSignal = { ...locked, status: "FAILED", code, detail };
      await unit.signals.updateSignal(failed);
      await unit.events.publish(subjects.signalFailed, failedEvent(failed, { code, detail }, format(clock.now())));
      return true;
    });
  }

  const what = { failing: "signals cannot be looked through", working: "signals can be looked through again" };
  const loop = startLoop({ ports, what, firstAfterMs: 0, run: takeUp, troubleMsMax: lookEveryMs });
  return {
    ring: loop.wake,
    async stop() {
      await loop.stop();
      await Promise.all(lanes.values());
    },
  };
}
