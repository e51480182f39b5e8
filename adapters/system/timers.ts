// Real timers. While the program works, a pending sleep keeps the process alive, so that a process whose only business at
// the moment is to wait (a reconnect's back-off) does not end by accident. The last step of a drain calls `release()`:
// from then on neither pending nor new timers hold the process back.
import type { CancelTimer, Timers } from "../../ports/timers.ts";

interface SystemTimers extends Timers {
  /** Lets the process end although timers are pending. */
  release(): void;
  /** Timers that have neither fired nor been cancelled. */
  pendingCount(): number;
}

/** Node fires at once when asked to wait for longer than 2^31 - 1 milliseconds, so longer waits are made of several. */
const stretchMsMax = 2_147_483_647;

interface Pending {
  handle: NodeJS.Timeout | undefined;
  before: Pending;
  after: Pending;
}

export function systemTimers(): SystemTimers {
  // A ring and not a Set: a Set that comes and goes a thousand times a second leaves tables behind that point to each other, and what they
  // held is copied by the collector until it next walks the whole heap.
  const pending = emptyRing();
  let count = 0;
  let released = false;

  function after(ms: number, run: () => void): CancelTimer {
    const timer: Pending = { handle: undefined, before: pending, after: pending };
    let leftMs = Number.isNaN(ms) ? 0 : Math.max(0, ms);

    function arm(): void {
      const stretchMs = Math.min(leftMs, stretchMsMax);
      timer.handle = setTimeout(() => {
        leftMs -= stretchMs;
        if (leftMs > 0) return arm();
        forget(timer);
        run();
      }, stretchMs);
      if (released) timer.handle.unref();
    }

    remember(timer);
    arm();
    return () => {
      forget(timer);
      clearTimeout(timer.handle);
    };
  }

  function remember(timer: Pending): void {
    timer.before = pending.before;
    pending.before.after = timer;
    pending.before = timer;
    count += 1;
  }

  /** Nothing the second time: it is a ring of its own then. */
  function forget(timer: Pending): void {
    if (timer.after === timer) return;
    timer.before.after = timer.after;
    timer.after.before = timer.before;
    timer.before = timer;
    timer.after = timer;
    count -= 1;
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
      for (let timer = pending.after; timer !== pending; timer = timer.after) timer.handle?.unref();
    },
    pendingCount: () => count,
  };
}

function emptyRing(): Pending {
  const ring = { handle: undefined } as Pending;
  ring.before = ring;
  ring.after = ring;
  return ring;
}
