// Timers of a browser, for the web desks: nothing keeps a page open, so there is nothing to release.
import type { CancelTimer, Timers } from "../../ports/timers.ts";

export function browserTimers(): Timers {
  const after = (ms: number, run: () => void): CancelTimer => {
    const handle = setTimeout(run, ms);
    return () => clearTimeout(handle);
  };
  return {
    after,
    soon: (run) => void setTimeout(run, 0),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const end = (): void => {
          cancel();
          signal?.removeEventListener("abort", end);
          resolve();
        };
        const cancel = after(ms, end);
        signal?.addEventListener("abort", end, { once: true });
      }),
  };
}
