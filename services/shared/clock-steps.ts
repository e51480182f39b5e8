// Notices that the wall clock was set back, in the process that reads it: what was dated before lies ahead of every clock then, and whoever keeps
// something as the newest has to know (core/state/dated.ts). A clock that goes ahead only makes things old, which is noticed where they are.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";

/** The clock itself holds smaller steps back (adapters/system/clock.ts). */
const stepMsMin = 1_000;

interface ClockLook {
  readonly now: Instant;
  /** By how much the clock was set back since the last look; zero when it was not. */
  readonly setBackMs: number;
}

/** To be called often: two steps between two calls are seen as one. */
export function watchClock(clock: Clock): () => ClockLook {
  let before = clock.now();
  return () => {
    const now = clock.now();
    const stepMs = millisecondsBetween(now, before);
    before = now;
    return { now, setBackMs: stepMs >= stepMsMin ? stepMs : 0 };
  };
}

export function setBackSentence(service: string, setBackMs: number): string {
  const what = `The clock of ${service} was set back by ${(setBackMs / 1_000).toFixed(1)} s.`;
  return `${what} What is dated later is not believed any more; check the machine's time service.`;
}
