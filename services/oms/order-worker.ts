// Drives open orders: each has at most one driver at a time, which looks where the order stands, does the next step, and goes on until there
// is nothing to do or the order has ended. Where an order stands is in the store and nowhere else, so a driver that died is simply begun
// again, and a commit whose answer was lost is looked at like every other.
//
//  1. One order, one driver: two steps of one order never run at the same time.
//  2. Trouble is waited out with back-off, for as long as it lasts. A bell ends one waiting early and the back-off stays, so that somebody who
//     rings again and again does not make us ask a silent broker again and again. That it waits is logged once, and once that it goes on.
//  3. A bell during a step is not lost: the driver looks once more before it rests.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { hasEnded } from "../../core/orders/order-lifecycle.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { OmsPorts, Step, StepOutcome } from "./oms-parts.ts";

const backOffMs = { first: 100, max: 5_000 };

export interface Drivers {
  /** Something happened to the order: look at it now. */
  wake(orderId: string): void;
  /** Nothing happened that anybody knows of: a driver that waits goes on waiting. */
  takeUp(orderId: string): void;
  /** Resolves when the order stands as asked, or nobody drives it any more, or that much time has passed. */
  settled(orderId: string, stands: (stored: StoredOrder) => boolean, msMax: number): Promise<void>;
  count(): number;
  stop(): Promise<void>;
}

interface OrderWorker {
  again: boolean;
  sleeping: AbortController;
  readonly watchers: Set<(stored: StoredOrder | undefined) => void>;
  done: Promise<void>;
}

type DriverPorts = Pick<OmsPorts, "store" | "timers" | "log" | "crash">;

export function createDrivers(ports: DriverPorts, stepOf: (stored: StoredOrder) => Step): Drivers {
  const drivers = new Map<string, OrderWorker>();
  let isStopping = false;

  const look = (orderId: string): Promise<StoredOrder | undefined> =>
    ports.store.transact("oms.look", (unit) => unit.oms.order(orderId), { isOneStatement: true });

  async function work(orderId: string, worker: OrderWorker): Promise<void> {
    let waitMs = backOffMs.first;
    let failures = 0;
    let known: StoredOrder | undefined;
    while (!isStopping) {
      try {
        const stored: StoredOrder | undefined = known ?? (await look(orderId));
        for (const watcher of worker.watchers) watcher(stored);
        if (stored === undefined) return;
        if (hasEnded(stored.state)) {
          // The order that it is a slice of goes on.
          if (stored.parentOrderId !== undefined) wake(stored.parentOrderId);
          return;
        }
        const outcome: StepOutcome = await stepOf(stored)(stored);
        known = undefined;
        if (failures > 0) ports.log.info("an order goes on again", { order_id: orderId, failures });
        failures = 0;
        if (outcome === "rest") {
          if (!worker.again) return;
          worker.again = false;
        } else if (outcome === "later") {
          waitMs = await pause(worker, waitMs);
        } else {
          known = outcome;
          waitMs = backOffMs.first;
        }
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        known = undefined;
        failures += 1;
        if (failures === 1) ports.log.warn("an order cannot go on", { order_id: orderId, error: messageOf(thrown) });
        waitMs = await pause(worker, waitMs);
      }
    }
  }

  /** Gives how long to wait the next time. */
  async function pause(worker: OrderWorker, waitMs: number): Promise<number> {
    if (!worker.again) await ports.timers.sleep(waitMs, worker.sleeping.signal);
    worker.again = false;
    if (worker.sleeping.signal.aborted && !isStopping) worker.sleeping = new AbortController();
    return Math.min(waitMs * 2, backOffMs.max);
  }

  function wake(orderId: string): void {
    if (isStopping) return;
    const running = drivers.get(orderId);
    if (running !== undefined) {
      running.again = true;
      running.sleeping.abort();
      return;
    }
    const worker: OrderWorker = {
      again: false,
      sleeping: new AbortController(),
      watchers: new Set(),
      done: Promise.resolve(),
    };
    drivers.set(orderId, worker);
    worker.done = work(orderId, worker).finally(() => {
      drivers.delete(orderId);
      for (const watcher of worker.watchers) watcher(undefined);
      // A bell that rang while it ended.
      if (worker.again) wake(orderId);
    });
  }

  async function settled(orderId: string, stands: (stored: StoredOrder) => boolean, msMax: number): Promise<void> {
    const worker = drivers.get(orderId);
    if (worker === undefined) return;
    const patience = new AbortController();
    await new Promise<void>((resolve) => {
      const watcher = (stored: StoredOrder | undefined): void => {
        if (stored === undefined || stands(stored)) resolve();
      };
      worker.watchers.add(watcher);
      void ports.timers.sleep(msMax, patience.signal).then(() => {
        worker.watchers.delete(watcher);
        resolve();
      });
    });
    patience.abort();
  }

  return {
    wake,
    takeUp: (orderId) => {
      if (!drivers.has(orderId)) wake(orderId);
    },
    settled,
    count: () => drivers.size,
    stop: async () => {
      isStopping = true;
      for (const worker of drivers.values()) worker.sleeping.abort();
      await Promise.all([...drivers.values()].map(({ done }) => done));
    },
  };
}
