// Real timers. While the program works, a pending sleep keeps the process alive, so that a process whose only business at
// the moment is to wait (a reconnect's back-off) does not end by accident. The last step of a drain calls `release()`:
// from then on neither pending nor new timers hold the process back.
import type { CancelTimer, Timers } from "../ports/timers.ts";

export interface SystemTimers extends Timers {
  /** Lets the process end although timers are pending. */
  release(): void;
  /** Timers that have neither fired nor been cancelled. */
  pendingCount(): number;
}

/** Node fires at once when asked to wait for longer than 2^31 - 1 milliseconds, so longer waits are made of several. */
const stretchMsMax = 2_147_483_647;

export function systemTimers(): SystemTimers {
  const pending = new Set<{ handle: NodeJS.Timeout | undefined }>();
  let released = false;

  function after(ms: number, run: () => void): CancelTimer {
    const timer: { handle: NodeJS.Timeout | undefined } = { handle: undefined };
    let leftMs = Number.isNaN(ms) ? 0 : Math.max(0, ms);

    function arm(): void {
      const stretchMs = Math.min(leftMs, stretchMsMax);
      timer.handle = setTimeout(() => {
        leftMs -= stretchMs;
        if (leftMs > 0) return arm();
        pending.delete(timer);
        run();
      }, stretchMs);
      if (released) timer.handle.unref();
    }

    pending.add(timer);
    arm();
    return () => {
      pending.delete(timer);
      clearTimeout(timer.handle);
    };
  }

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const cancel = after(ms, wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  return {
    after,
    sleep,
    soon: setImmediate,
    release(): void {
      released = true;
      for (const timer of pending) timer.handle?.unref();
    },
    pendingCount: () => pending.size,
  };
}
