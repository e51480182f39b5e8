// What a date is worth when clocks differ. Whatever is kept as "the newest" is shut out by one date from the future, and a clock that is set back
// turns everything that was dated before into such a date. So both are refused in the same way, everywhere:
//
//  1. What is dated further ahead of our clock than clocks may differ is not believed.
//  2. What is known and lies that far ahead (our clock was set back) gives way to the next thing that is believed.
import { type Instant, millisecondsBetween, plusMilliseconds } from "../../contracts/src/instant.ts";

/** How far the clock of whoever dates something may be ahead of ours. */
const aheadMsMax = 5_000;

export function isAhead(at: Instant, now: Instant): boolean {
  return millisecondsBetween(now, at) > aheadMsMax;
}

/** The latest date that is believed. */
export function believedUntil(now: Instant): Instant {
  return plusMilliseconds(now, aheadMsMax);
}

/** Whether what is dated `at` takes the place of what is dated `known`; of two with one date the later to come counts. */
export function isNewest(at: Instant, known: Instant | undefined, now: Instant): boolean {
  if (isAhead(at, now)) return false;
  return known === undefined || at >= known || isAhead(known, now);
}

/** How old it is. What lies ahead by more than clocks differ is of no known age: it counts as being as old as it lies ahead. */
export function ageMsOf(at: Instant, now: Instant): number {
  const ageMs = millisecondsBetween(at, now);
  return ageMs >= 0 ? ageMs : isAhead(at, now) ? -ageMs : 0;
}
