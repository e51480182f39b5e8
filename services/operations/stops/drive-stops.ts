// Brings stops that fired to their end. Every step is decided from durable state and written down before it is taken, so a crash at any moment
// leaves an attempt that is handed in again under its own name, never a second one.
//
//  1. An attempt is recorded before order management is asked; until it has the order, the very same order is handed in again.
//  2. A new attempt comes only after the one before has ended, with a name, a key and a decision of its own.
//  3. It goes on for ever: what ends a stop is a position that is gone, or an operator.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant, millisecondsBetween, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { AssetClass } from "../../../contracts/src/records/values.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { attemptPauseMs, nextOwedStep } from "../../../core/synthetic-stops.ts";
import type { OrderDesk } from "../../../ports/peers.ts";
import type { StopAttempt, StoredStop } from "../../../ports/stop-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { exitedQuantity, lookAtOwed, type OwedLook } from "./owed-facts.ts";
import type { QuoteBoard } from "./quote-board.ts";
import { attemptOrderId, exitOrder, isAttempt } from "./stop-order.ts";

/** From then on somebody has to know that an exit is owed. */
const waitingMsMax = 10_000;

export interface StopDriverOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "log" | "crash">;
  readonly desk: OrderDesk;
  readonly broker: string;
  readonly board: Pick<QuoteBoard, "instrument">;
  readonly alarms: WorkerAlarms;
}

export interface StopDriver {
  /** Takes every owed stop one step further; gives how many are owed still. */
  drive(): Promise<number>;
  /** Why a stop's exit waits; undefined when nothing is known against it. */
  complaint(stopId: string): string | undefined;
}

/** What is to be done outside of the transaction. */
interface Errand {
  readonly stop: StoredStop;
  readonly submit?: StopAttempt;
  readonly cancel: readonly string[];
  readonly complaint?: string;
  readonly isOver: boolean;
}

export function createStopDriver({ ports, desk, broker, board, alarms }: StopDriverOptions): StopDriver {
  const { store, clock, log } = ports;
  const complaints = new Map<string, string>();
  /** How often in a row order management gave no answer, and until when it is left alone. */
  const silences = new Map<string, { readonly count: number; readonly until: Instant }>();
  const maySubmit = (stopId: string, at: Instant): boolean => (silences.get(stopId)?.until ?? 0) <= at;

  function attemptIn(
    stop: StoredStop,
    look: OwedLook,
    quantity: decimal.Decimal,
    at: Instant,
  ): StopAttempt | undefined {
    const number = (stop.attempt?.number ?? 0) + 1;
    const { failure } = look;
    if (failure !== undefined && plusMilliseconds(failure.at, attemptPauseMs(number - 2)) > at) return undefined;
    return { number, orderId: attemptOrderId(stop.stopId, number), quantity, at };
  }

  /** One transaction: what is known, what follows, and the record of it. */
  async function decide(unit: UnitOfWork, stopId: string): Promise<Errand | undefined> {
    const stop = await unit.stops.lock(stopId);
    if (stop === undefined || stop.ended !== undefined) return undefined;
    const lotSize = decimal.tryParse(board.instrument(stop.symbol)?.lot_size ?? "") ?? decimal.one;
    const look = await lookAtOwed(unit, stop, lotSize);
    const step = nextOwedStep(look);
    const at = clock.now();
    const errand = { stop, cancel: look.resting, isOver: false };
    const said = look.failure === undefined ? {} : { complaint: look.failure.complaint };
    switch (step.step) {
      case "end":
        await endStop(unit, stop, at);
        return { stop, cancel: [], isOver: true };
      case "withdraw":
        return { stop, cancel: stop.attempt === undefined ? [] : [stop.attempt.orderId], isOver: false };
      case "wait":
        return { ...errand, cancel: [] };
      case "hand in again":
        return { ...errand, ...(stop.attempt !== undefined && maySubmit(stopId, at) && { submit: stop.attempt }) };
      case "blocked":
        return { ...errand, complaint: step.complaint };
      case "attempt": {
        const attempt = attemptIn(stop, look, step.quantity, at);
        if (attempt === undefined || !maySubmit(stopId, at)) return { ...errand, ...said };
        await unit.stops.update({ ...stop, attempt });
        await unit.events.publish(subjects.stopAttempted, attempted(stop, attempt));
        return { ...errand, ...said, submit: attempt };
      }
    }
  }

  async function submit(stop: StoredStop, attempt: StopAttempt): Promise<string | undefined> {
    const assetClass: AssetClass = board.instrument(stop.symbol)?.asset_class ?? "EQUITY";
    try {
      const answered = await desk.submit(exitOrder(stop, attempt, broker, assetClass));
      silences.delete(stop.stopId);
      if ("answer" in answered) return undefined;
      await refuse(stop.stopId, attempt);
      return `order management refused attempt ${attempt.number} (${answered.denial.code}: ${answered.denial.reason})`;
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      const count = (silences.get(stop.stopId)?.count ?? 0) + 1;
      const until = plusMilliseconds(clock.now(), attemptPauseMs(count - 1));
      silences.set(stop.stopId, { count, until });
      return `order management does not take attempt ${attempt.number} (${messageOf(thrown)})`;
    }
  }

  /** A refusal is believed only while order management has no such order of ours. */
  async function refuse(stopId: string, attempt: StopAttempt): Promise<void> {
    await store.transact("stops.refused", async (unit) => {
      const stop = await unit.stops.lock(stopId);
      if (stop?.attempt?.orderId !== attempt.orderId || stop.ended !== undefined) return;
      if (isAttempt(await unit.oms.order(attempt.orderId), stop)) return;
      await unit.stops.update({ ...stop, attempt: { ...stop.attempt, isRefused: true } });
    });
  }

  async function cancel(stop: StoredStop, orderId: string): Promise<void> {
    try {
      await desk.cancel(orderId, `Synthetic stop ${stop.stopId} fired.`);
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      log.warn("an order that stands in a stop's way could not be cancelled", {
        ...{ stop_id: stop.stopId, order_id: orderId, error: messageOf(thrown) },
      });
    }
  }

  /** False when the stop is over. */
  async function driveOne(stopId: string): Promise<boolean> {
    const look = () => store.transact("stops.drive", (unit) => decide(unit, stopId));
    let errand = await look();
    if (errand?.complaint !== undefined && errand.submit === undefined && errand.cancel.length > 0) {
      // Orders that rest hold it back: as soon as they are gone it goes on, before others take their place.
      for (const orderId of errand.cancel) await cancel(errand.stop, orderId);
      errand = await look();
    }
    if (errand === undefined || errand.isOver) {
      complaints.delete(stopId);
      silences.delete(stopId);
      alarms.clear("STOP_EXIT_WAITING", stopId);
      if (errand !== undefined) log.info("a synthetic stop is over", { stop_id: stopId });
      return false;
    }
    const { stop } = errand;
    for (const orderId of errand.cancel) await cancel(stop, orderId);
    const refused = errand.submit === undefined ? undefined : await submit(stop, errand.submit);
    const complaint = refused ?? errand.complaint;
    if (complaint !== undefined) complaints.set(stopId, complaint);
    else if (errand.submit !== undefined) complaints.delete(stopId);
    const isLate = millisecondsBetween(stop.firedAt, clock.now()) >= waitingMsMax;
    if (complaint !== undefined || isLate) {
      const { fundId, symbol } = stop;
      const why = complaints.get(stopId) ?? "its exit has not traded yet";
      const sentence = `The stop of ${stop.strategyId} in ${symbol} fired and its exit is not confirmed: ${why}.`;
      await alarms.raise("STOP_EXIT_WAITING", stopId, sentence, { fund_id: fundId, symbol });
    }
    return true;
  }

  return {
    complaint: (stopId) => complaints.get(stopId),
    async drive() {
      const owed = await store.transact("stops.look", (unit) => unit.stops.owed());
      let left = 0;
      for (const { stopId } of owed) if (await driveOne(stopId)) left += 1;
      return left;
    },
  };
}

async function endStop(unit: UnitOfWork, stop: StoredStop, at: Instant): Promise<void> {
  const exited = await exitedQuantity(unit, stop);
  const outcome = exited > 0n ? "EXITED" : "POSITION_GONE";
  await unit.stops.update({ ...stop, ended: { outcome, exitedQuantity: exited, at } });
  await unit.events.publish(subjects.stopEnded, {
    stop_id: stop.stopId,
    fund_id: stop.fundId,
    strategy_id: stop.strategyId,
    symbol: stop.symbol,
    outcome,
    exited_quantity: decimal.format(exited),
    at: format(at),
  });
}

function attempted(stop: StoredStop, attempt: StopAttempt) {
  return {
    stop_id: stop.stopId,
    fund_id: stop.fundId,
    strategy_id: stop.strategyId,
    symbol: stop.symbol,
    attempt: attempt.number,
    order_id: attempt.orderId,
    quantity: decimal.format(attempt.quantity),
    at: format(attempt.at),
  };
}
