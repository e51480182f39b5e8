// The moments of a cron line in a time zone. Five fields, as crontab(5) has them: day of month or day of week is enough where both are given.
//
//  1. A time that a clock change skips is run once, at the first moment after the gap: 02:30 in New York in March is 03:00.
//  2. A time that a clock change repeats is run once, the first time; what runs every hour or every few minutes runs through.
import { Cron } from "croner";
import { fromUnixMs, type Instant, toUnixMs } from "../../contracts/src/instant.ts";

interface CronMoments {
  /** The first moment after that one; undefined when there is none. */
  next(after: Instant): Instant | undefined;
  /** The day there at that moment: 2026-11-18. */
  day(at: Instant): string;
}

export function cronMoments(line: string, timeZone: string): CronMoments {
  const cron = new Cron(line, { timezone: timeZone, paused: true, mode: "5-part" });
  // Canadian English writes dates as ISO 8601 does.
  const days = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  return {
    next(after) {
      const found = cron.nextRun(new Date(toUnixMs(after)));
      return found === null ? undefined : fromUnixMs(found.getTime());
    },
    day: (at) => days.format(new Date(toUnixMs(at))),
  };
}

/** A line that never comes due, such as the 30th of February, is a mistake. */
export function hasMoments(line: string): boolean {
  try {
    return cronMoments(line, "UTC").next(fromUnixMs(0)) !== undefined;
  } catch (thrown) {
    if (thrown instanceof Error) return false;
    throw thrown;
  }
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-CA", { timeZone: name });
    // Offsets such as +02:00 know of no clock change; who means one names a place.
    return !/^[+-]/.test(name);
  } catch (thrown) {
    if (thrown instanceof RangeError) return false;
    throw thrown;
  }
}
