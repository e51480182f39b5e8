// The one loop that the parts of services live by: it does its work, waits, and does it again.
//
//  1. Trouble with the store or with another service is said once, and its end once. Each time that it lasts the loop waits longer, up to
//     `troubleMsMax`; what may start or stop trading passes its own interval and never waits longer than that.
//  2. A Defect ends the loop, and with it the process.
//  3. A wake during the work is not lost: the work is done once more before the loop waits.
//  4. When `stop` resolves, the work in hand has ended and none begins any more.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import type { CancelTimer } from "../../ports/timers.ts";
import type { ServicePorts } from "./service.ts";
import { noticeTrouble } from "./trouble.ts";

export interface Loop {
  /** Does the work soon, without waiting for its time. */
  wake(): void;
  /** Does the work after that long at the latest. */
  hurry(withinMs: number): void;
  /** Lets the work in hand end. */
  stop(): Promise<void>;
}

export type LoopPorts = Pick<ServicePorts, "timers" | "log" | "crash">;

export interface LoopOptions {
  readonly ports: LoopPorts;
  /** For the log: "the synthetic stops", which cannot work and can work again; or both sentences. */
  readonly what: string | { readonly failing: string; readonly working: string };
  /** 0: right after this step. Absent: not before it is woken. */
  readonly firstAfterMs?: number | undefined;
  /** Gives how long to wait before the next time; undefined until it is woken. The signal says that the loop is to end. */
  run(ending: AbortSignal): Promise<number | undefined>;
  /** Woken or not, two times are at least this far apart. */
  readonly apartMsMin?: number;
  /** How long it waits after the first failure; it doubles with each that follows. */
  readonly troubleMsMin?: number;
  readonly troubleMsMax?: number;
}

/** Why a pause ended. Without a reason an exception with a stack would be made for each, and some loops are woken with every commit. */
const wokenUp = "woken";

export function startLoop(options: LoopOptions): Loop {
  const { ports, what, firstAfterMs, run, apartMsMin = 0, troubleMsMin = 1_000, troubleMsMax = 15_000 } = options;
  const { timers, log, crash } = ports;
  const trouble = noticeTrouble(
    log,
    typeof what === "string" ? { failing: `${what} cannot work`, working: `${what} can work again` } : what,
  );
  const ending = new AbortController();
  let woken = new AbortController();
  let hurried: CancelTimer | undefined;
  let failures = 0;

  async function once(): Promise<number | undefined> {
    try {
      const nextMs = await run(ending.signal);
      trouble.worked();
      failures = 0;
      return nextMs;
    } catch (thrown) {
      if (thrown instanceof Defect) {
        ending.abort();
        crash.die(thrown);
      }
      // What the end cuts short is no trouble.
      if (ending.signal.aborted) log.debug("cut short by the end", { error: messageOf(thrown) });
      else trouble.failed(thrown);
      failures += 1;
      return Math.min(troubleMsMin * 2 ** Math.min(failures - 1, 10), troubleMsMax);
    }
  }

  async function live(): Promise<void> {
    await (firstAfterMs === 0 ? Promise.resolve() : pause(firstAfterMs, woken.signal));
    while (!ending.signal.aborted) {
      if (woken.signal.aborted) woken = new AbortController();
      const waitMs = await once();
      if (apartMsMin > 0) await timers.sleep(apartMsMin, ending.signal);
      await pause(waitMs && Math.max(waitMs - apartMsMin, 0), woken.signal);
    }
  }

  async function pause(waitMs: number | undefined, signal: AbortSignal): Promise<void> {
    if (waitMs !== undefined) await timers.sleep(waitMs, signal);
    else if (!signal.aborted) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
  }

  // Called with every commit, for some: it does nothing but remember, most of the time.
  const wake = (): void => woken.abort(wokenUp);
  const living = live();
  return {
    wake,
    hurry(withinMs) {
      hurried?.();
      hurried = timers.after(withinMs, wake);
    },
    async stop() {
      hurried?.();
      ending.abort();
      wake();
      await living;
    },
  };
}
