// The machine's timers with a window in them: a test sees what is waited for, and lets a wait be over without waiting. That something does not happen any
// more is then the absence of its timer, and not a silence of some milliseconds.
import { systemTimers } from "../adapters/system/timers.ts";
import type { CancelTimer, Timers } from "../ports/timers.ts";

export interface SeenTimers extends Timers {
  /** How many timers have neither fired nor been cancelled. */
  pendingCount(): number;
  /** How many timers of exactly that many milliseconds have neither fired nor been cancelled. */
  pendingOf(ms: number): number;
  /** Lets all timers of exactly that many milliseconds fire now. */
  fire(ms: number): void;
}

interface Waiting {
  readonly ms: number;
  readonly run: () => void;
}

export function seenTimers(timers: Timers = systemTimers()): SeenTimers {
  const pending = new Set<Waiting>();
  const pendingOf = (ms: number): readonly Waiting[] => [...pending].filter((one) => one.ms === ms);

  function after(ms: number, run: () => void): CancelTimer {
    const cancel = timers.after(ms, () => one.run());
    const end = (): void => {
      cancel();
      pending.delete(one);
    };
    const one: Waiting = {
      ms,
      run: () => {
        end();
        run();
      },
    };
    pending.add(one);
    return end;
  }

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = after(ms, wake);
      function wake(): void {
        cancel();
        signal?.removeEventListener("abort", wake);
        resolve();
      }
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  return {
    after,
    sleep,
    soon: timers.soon,
    pendingCount: () => pending.size,
    pendingOf: (ms) => pendingOf(ms).length,
    fire: (ms) => {
      for (const one of pendingOf(ms)) one.run();
    },
  };
}
