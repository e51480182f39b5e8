// How late our own event loop has been. A timer that should have run long ago means that this process was busy, and then the
// silence of another one proves nothing against it.
import type { Clock } from "../../ports/clock.ts";
import type { Timers } from "../../ports/timers.ts";

interface Lateness {
  /** For how long, in all, nothing could have been heard since the watch began. */
  lateMs(): number;
  stop(): void;
}

const tickMs = 25;

export function watchLateness(clock: Clock, timers: Timers): Lateness {
  let lateUs = 0;
  let tickedAt = clock.now();
  const overdueUs = (): number => Math.max(0, clock.now() - tickedAt - tickMs * 1_000);
  const tick = (): void => {
    lateUs += overdueUs();
    tickedAt = clock.now();
    cancel = timers.after(tickMs, tick);
  };
  let cancel = timers.after(tickMs, tick);
  return { lateMs: () => (lateUs + overdueUs()) / 1_000, stop: () => cancel() };
}
