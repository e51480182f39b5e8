// Brings positions that must be closed to their end, for stops that fired and for flattened funds alike. Every step is decided from durable state and
// written down before it is taken, so a crash at any moment leaves an attempt that is handed in again under its own name, never a second one.
//
//  1. An attempt is recorded before order management is asked; until it has the order, the very same order is handed in again.
//  2. A new attempt comes only after the one before has ended, with a name, a key and a decision of its own.
//  3. What the fund's net position cannot prove because other strategies hold the other side is crossed with them (services/oms/crossing.ts). A cross is
//     named after the exit and its number, and the numbers that are booked are counted in the store, so it is booked once.
//  4. It goes on for ever: what ends an exit is a position that is gone, or an operator.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Instrument } from "../../../contracts/src/records/market.ts";
import { attemptPauseMs, nextOwedStep, owedCross } from "../../../core/stops/synthetic-stops.ts";
import type { ExitAttempt } from "../../../ports/exit-attempt.ts";
import type { OrderManagement, PositionCross } from "../../../ports/peers.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { attemptOrderId, crossIdOf, exitOrder, isAttempt } from "./exit-order.ts";
import type { OwedExit } from "./owed-exit.ts";
import { crossedSoFar, type ExitManner, exitedQuantity, lookAtOwed, type OwedLook } from "./owed-facts.ts";

type Work<Value> = (unit: UnitOfWork) => Promise<Value>;

/** What is kept of one kind of exits, and what is told of them. */
export interface ExitBook<Kept> {
  readonly manner: ExitManner;
  /** Units of work of their own: what each changes is reported in its own words. */
  work<Value>(work: Work<Value>): Promise<Value>;
  refusing<Value>(work: Work<Value>): Promise<Value>;
  exitOf(kept: Kept): OwedExit;
  /** Kept from others until the unit ends; undefined when it is not owed any more. */
  lock(unit: UnitOfWork, exitId: string): Promise<Kept | undefined>;
  /** Each records and tells. */
  attempted(unit: UnitOfWork, kept: Kept, attempt: ExitAttempt): Promise<void>;
  refused(unit: UnitOfWork, kept: Kept, attempt: ExitAttempt, why: string): Promise<void>;
  end(unit: UnitOfWork, kept: Kept, exited: decimal.Decimal, at: Instant): Promise<void>;
  /** Why there is such an order. */
  thesis(kept: Kept): string;
  /** What others' orders are cancelled with. */
  cancelReason(kept: Kept): string;
  /** After every step that did not end it; `complaint` when something is known against it. */
  waits(kept: Kept, complaint: string | undefined): Promise<void>;
  over(exitId: string): void;
}

interface ExitDriverOptions<Kept> {
  readonly ports: Pick<ServicePorts, "clock" | "log" | "crash">;
  readonly orderManagement: OrderManagement;
  readonly broker: string;
  instrument(symbol: string): Instrument | undefined;
  readonly book: ExitBook<Kept>;
  /** Whether the rest is left to the next life: each question to a silent order management takes its time. */
  isEnding?(): boolean;
}

export interface ExitWorker {
  /** Takes these one step further each; gives how many are owed still. */
  work(exitIds: readonly string[]): Promise<number>;
  /** Why an exit waits; undefined when nothing is known against it. */
  complaint(exitId: string): string | undefined;
}

/** What is to be done outside of the transaction. */
interface Errand<Kept> {
  readonly kept: Kept;
  readonly submit?: ExitAttempt;
  readonly cross?: PositionCross;
  readonly cancel: readonly string[];
  readonly complaint?: string;
  readonly isOver: boolean;
}

export function createExitWorker<Kept>(options: ExitDriverOptions<Kept>): ExitWorker {
  const { ports, orderManagement, broker, book } = options;
  const { clock, log } = ports;
  const complaints = new Map<string, string>();
  /** How often in a row order management gave no answer, and until when it is left alone. */
  const silences = new Map<string, { readonly count: number; readonly until: Instant }>();
  const maySubmit = (exitId: string, at: Instant): boolean => (silences.get(exitId)?.until ?? 0) <= at;

  function attemptIn(
    { exitId, attempt }: OwedExit,
    { failure }: OwedLook,
    quantity: decimal.Decimal,
    at: Instant,
  ): ExitAttempt | undefined {
    const number = (attempt?.number ?? 0) + 1;
    if (failure !== undefined && plusMilliseconds(failure.at, attemptPauseMs(number - 2)) > at) return undefined;
    return { number, orderId: attemptOrderId(exitId, number), quantity, at };
  }

  /** One transaction: what is known, what follows, and the record of it. */
  async function decide(unit: UnitOfWork, exitId: string): Promise<Errand<Kept> | undefined> {
    const kept = await book.lock(unit, exitId);
    if (kept === undefined) return undefined;
    const exit = book.exitOf(kept);
    const lotSize = decimal.tryParse(options.instrument(exit.symbol)?.lot_size ?? "") ?? decimal.one;
    const look = await lookAtOwed(unit, exit, lotSize, book.manner);
    const step = nextOwedStep(look);
    const at = clock.now();
    const cross = maySubmit(exitId, at) ? await crossOf(unit, exit, look) : undefined;
    const errand = { kept, cancel: look.resting, isOver: false, ...(cross !== undefined && { cross }) };
    const said = look.failure === undefined ? {} : { complaint: look.failure.complaint };
    switch (step.step) {
      case "end":
        await book.end(unit, kept, await exitedQuantity(unit, exit), at);
        return { kept, cancel: [], isOver: true };
      case "withdraw":
        return { kept, cancel: exit.attempt === undefined ? [] : [exit.attempt.orderId], isOver: false };
      case "wait":
        return { ...errand, cancel: [] };
      case "hand in again":
        return { ...errand, ...(exit.attempt !== undefined && maySubmit(exitId, at) && { submit: exit.attempt }) };
      case "blocked":
        return cross === undefined ? { ...errand, complaint: step.complaint } : errand;
      case "attempt": {
        const attempt = attemptIn(exit, look, step.quantity, at);
        if (attempt === undefined || !maySubmit(exitId, at)) return { ...errand, ...said };
        await book.attempted(unit, kept, attempt);
        return { ...errand, ...said, submit: attempt };
      }
    }
  }

  /** Why it could not be crossed; undefined when it was. */
  async function crossWith(exitId: string, cross: PositionCross): Promise<string | undefined> {
    const what = `crossing ${cross.quantity} with ${cross.otherStrategyId}`;
    try {
      const answered = await orderManagement.cross(cross);
      silences.delete(exitId);
      if ("answer" in answered) {
        log.warn("an exit was crossed with another strategy", {
          exit_id: exitId,
          cross_id: cross.crossId,
          quantity: cross.quantity,
          other: cross.otherStrategyId,
        });
        return undefined;
      }
      const { code, reason } = answered.denial;
      return `other strategies of the fund hold the other side, and ${what} was refused (${code}: ${reason})`;
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      noteSilence(exitId);
      return `order management does not answer to ${what} (${messageOf(thrown)})`;
    }
  }

  function noteSilence(exitId: string): void {
    const count = (silences.get(exitId)?.count ?? 0) + 1;
    silences.set(exitId, { count, until: plusMilliseconds(clock.now(), attemptPauseMs(count - 1)) });
  }

  async function submit(kept: Kept, attempt: ExitAttempt): Promise<string | undefined> {
    const exit = book.exitOf(kept);
    const assetClass = options.instrument(exit.symbol)?.asset_class ?? "EQUITY";
    try {
      const answered = await orderManagement.submit(
        exitOrder(exit, { attempt, broker, assetClass, thesis: book.thesis(kept) }),
      );
      silences.delete(exit.exitId);
      if ("answer" in answered) return undefined;
      const { code, reason } = answered.denial;
      const why = `order management refused attempt ${attempt.number} (${code}: ${reason})`;
      await refuse(exit.exitId, attempt, why);
      return why;
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      noteSilence(exit.exitId);
      return `order management does not take attempt ${attempt.number} (${messageOf(thrown)})`;
    }
  }

  /** A refusal is believed only while order management has no such order of ours. */
  async function refuse(exitId: string, attempt: ExitAttempt, why: string): Promise<void> {
    await book.refusing(async (unit) => {
      const kept = await book.lock(unit, exitId);
      const exit = kept === undefined ? undefined : book.exitOf(kept);
      if (kept === undefined || exit?.attempt?.orderId !== attempt.orderId) return;
      if (isAttempt(await unit.oms.order(attempt.orderId), exit)) return;
      await book.refused(unit, kept, { ...attempt, isRefused: true }, why);
    });
  }

  async function cancel(kept: Kept, orderId: string): Promise<void> {
    try {
      await orderManagement.cancel(orderId, book.cancelReason(kept));
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      log.warn("an order that stands in the way of an exit could not be cancelled", {
        exit_id: book.exitOf(kept).exitId,
        order_id: orderId,
        error: messageOf(thrown),
      });
    }
  }

  /** False when the exit is over. */
  async function driveOne(exitId: string): Promise<boolean> {
    const look = () => book.work((unit) => decide(unit, exitId));
    let errand = await look();
    if (errand?.complaint !== undefined && errand.submit === undefined && errand.cancel.length > 0) {
      // Orders that rest hold it back: as soon as they are gone it goes on, before others take their place.
      for (const orderId of errand.cancel) await cancel(errand.kept, orderId);
      errand = await look();
    }
    if (errand === undefined || errand.isOver) {
      complaints.delete(exitId);
      silences.delete(exitId);
      book.over(exitId);
      if (errand !== undefined) log.info("an exit that was owed is over", { exit_id: exitId });
      return false;
    }
    const { kept } = errand;
    for (const orderId of errand.cancel) await cancel(kept, orderId);
    const uncrossed = errand.cross === undefined ? undefined : await crossWith(exitId, errand.cross);
    const refused = errand.submit === undefined ? undefined : await submit(kept, errand.submit);
    const complaint = refused ?? uncrossed ?? errand.complaint;
    if (complaint !== undefined) complaints.set(exitId, complaint);
    else if (errand.submit !== undefined || errand.cross !== undefined) complaints.delete(exitId);
    await book.waits(kept, complaint);
    return true;
  }

  return {
    complaint: (exitId) => complaints.get(exitId),
    async work(exitIds) {
      let left = 0;
      for (const exitId of exitIds) if (options.isEnding?.() === true || (await driveOne(exitId))) left += 1;
      return left;
    },
  };
}

/** Invariant 3: the cross that is due, named by how many were booked before it. */
async function crossOf(unit: UnitOfWork, exit: OwedExit, look: OwedLook): Promise<PositionCross | undefined> {
  const due = owedCross(look);
  if (due === undefined) return undefined;
  const { count } = await crossedSoFar(unit, exit);
  return {
    crossId: crossIdOf(exit.exitId, count + 1),
    fundId: exit.fundId,
    symbol: exit.symbol,
    strategyId: exit.strategyId,
    otherStrategyId: due.with.strategyId,
    fromQuantity: decimal.format(look.openQuantity ?? decimal.zero),
    otherFromQuantity: decimal.format(due.with.quantity),
    quantity: decimal.format(due.quantity),
    reason: `${exit.exitId} closes what the fund's net position cannot prove to reduce.`,
  };
}
