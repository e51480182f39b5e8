// Brings stops that fired to their end: what is kept and told of them, for the worker of exits.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { ExitAttempt } from "../../../ports/exit-attempt.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import type { StoredStop } from "../../../ports/stop-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { createExitWorker, type ExitBook, type ExitWorker } from "../exits/exit-worker.ts";
import type { OwedExit } from "../exits/owed-exit.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import type { QuoteBoard } from "./quote-board.ts";

/** From then on somebody has to know that an exit is owed. */
const waitingMsMax = 10_000;

interface StopDriverOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "log" | "crash">;
  readonly orderManagement: OrderManagement;
  readonly broker: string;
  readonly board: Pick<QuoteBoard, "instrument">;
  readonly alarms: WorkerAlarms;
}

export interface StopWorker extends Pick<ExitWorker, "complaint"> {
  /** Takes every owed stop one step further; gives how many are owed still. */
  work(): Promise<number>;
}

export function exitOfStop(stop: StoredStop): OwedExit {
  const { fundId, strategyId, symbol, openedBy, quantity, attempt } = stop;
  return {
    exitId: stop.stopId,
    fundId,
    strategyId,
    symbol,
    openedBy,
    quantity,
    owedSince: stop.firedAt,
    ...(attempt !== undefined && { attempt }),
  };
}

export function createStopWorker({ ports, orderManagement, broker, board, alarms }: StopDriverOptions): StopWorker {
  const { store, clock } = ports;
  const book: ExitBook<StoredStop> = {
    manner: "all of the opening",
    work: (work) => store.transact("stops.drive", work),
    refusing: (work) => store.transact("stops.refused", work),
    exitOf: exitOfStop,
    async lock(unit, stopId) {
      const stop = await unit.stops.lock(stopId);
      return stop?.ended === undefined ? stop : undefined;
    },
    async attempted(unit, stop, attempt) {
      await unit.stops.update({ ...stop, attempt });
      await unit.events.publish(subjects.stopAttempted, attempted(stop, attempt));
    },
    refused: (unit, stop, attempt) => unit.stops.update({ ...stop, attempt }),
    end: endStop,
    thesis: ({ stopId, observedPrice, triggerPrice }) =>
      `Synthetic stop ${stopId}: ${decimal.format(observedPrice)} has reached ${decimal.format(triggerPrice)}.`,
    cancelReason: ({ stopId }) => `Synthetic stop ${stopId} fired.`,
    async waits({ stopId, fundId, symbol, strategyId, firedAt }, complaint) {
      const isLate = millisecondsBetween(firedAt, clock.now()) >= waitingMsMax;
      if (complaint === undefined && !isLate) return;
      const why = worker.complaint(stopId) ?? "its exit has not traded yet";
      const sentence = `The stop of ${strategyId} in ${symbol} fired and its exit is not confirmed: ${why}.`;
      await alarms.raise("STOP_EXIT_WAITING", stopId, sentence, { fund_id: fundId, symbol });
    },
    over: (stopId) => alarms.clear("STOP_EXIT_WAITING", stopId),
  };
  const worker: ExitWorker = createExitWorker({
    ports,
    orderManagement,
    broker,
    book,
    instrument: (symbol) => board.instrument(symbol),
  });
  return {
    complaint: worker.complaint,
    async work() {
      const owed = await store.transact("stops.look", (unit) => unit.stops.owed(), { isOneStatement: true });
      return worker.work(owed.map(({ stopId }) => stopId));
    },
  };
}

async function endStop(unit: UnitOfWork, stop: StoredStop, exited: Decimal, at: Instant): Promise<void> {
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

function attempted(stop: StoredStop, attempt: ExitAttempt) {
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
