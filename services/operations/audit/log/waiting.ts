// Waiting with a bound, for whoever stops: what has not ended in time is let go.
import type { Timers } from "../../../../ports/timers.ts";

/** Whether the work ended, in whichever way, within that time. */
export async function endsWithin(timers: Timers, work: Promise<unknown>, patienceMs: number): Promise<boolean> {
  const enough = new AbortController();
  const late = timers.sleep(patienceMs, enough.signal).then(() => false);
  const ended = work.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([ended, late]);
  enough.abort();
  return inTime;
}
