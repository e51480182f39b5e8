// A loop that a worker lives by: it does its work, waits, and does it again; trouble with the store or with anybody else makes it wait longer, never
// end. Only a Defect ends it, and with it the process.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import type { CancelTimer } from "../../ports/timers.ts";
import type { ServicePorts } from "../shared/service.ts";

export interface WorkerLoop {
  /** Does the work soon, without waiting for its time. */
  wake(): void;
  /** Does the work after that long at the latest. */
  hurry(withinMs: number): void;
  /** Lets the work in hand end. */
  stop(): Promise<void>;
}

export interface WorkerLoopOptions {
  readonly ports: Pick<ServicePorts, "timers" | "log" | "crash">;
  /** For the log: "the synthetic stops". */
  readonly what: string;
  readonly firstAfterMs: number;
  /** Gives how long to wait before the next time. */
  run(): Promise<number>;
}

const troublePauseMsMin = 500;
const troublePauseMsMax = 15_000;

export function startWorkerLoop({ ports, what, firstAfterMs, run }: WorkerLoopOptions): WorkerLoop {
  const ending = new AbortController();
  let sleeping = new AbortController();
  let isWoken = false;
  let failures = 0;
  let hurried: CancelTimer | undefined;

  async function once(): Promise<number> {
    try {
      const nextMs = await run();
      if (failures > 0) ports.log.info(`${what} can work again`);
      failures = 0;
      return nextMs;
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      if (failures === 0) ports.log.warn(`${what} cannot work`, { error: messageOf(thrown) });
      failures += 1;
      return Math.min(troublePauseMsMin * 2 ** Math.min(failures, 10), troublePauseMsMax);
    }
  }

  async function live(): Promise<void> {
    let waitMs = firstAfterMs;
    while (!ending.signal.aborted) {
      if (!isWoken) await ports.timers.sleep(waitMs, sleeping.signal);
      if (ending.signal.aborted) return;
      isWoken = false;
      if (sleeping.signal.aborted) sleeping = new AbortController();
      waitMs = await once();
    }
  }

  function wake(): void {
    isWoken = true;
    sleeping.abort();
  }

  const living = live();
  return {
    wake,
    hurry(withinMs) {
      hurried?.();
      hurried = ports.timers.after(withinMs, wake);
    },
    async stop() {
      hurried?.();
      ending.abort();
      sleeping.abort();
      await living;
    },
  };
}
