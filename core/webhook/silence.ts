// For how long a strategy's alerts have been missing while its market is open: what lies between two sessions is no silence.
import { isOpen, nextOpen, type TradingCalendar } from "../../contracts/src/calendar.ts";
import { type Instant, later, millisecondsBetween, minusMilliseconds } from "../../contracts/src/instant.ts";

/** Sessions further back say nothing about this one. */
const searchMsMax = 14 * 86_400_000;

/** Milliseconds since the last alert, or since this session began; 0 while the market is closed. Without a calendar it never closes. */
export function silentMs(calendar: TradingCalendar | undefined, last: Instant, now: Instant): number {
  if (calendar === undefined) return Math.max(0, millisecondsBetween(last, now));
  if (!isOpen(calendar, now)) return 0;
  let since = later(last, minusMilliseconds(now, searchMsMax));
  for (;;) {
    const opened = nextOpen(calendar, since);
    if (opened === undefined || opened > now) return Math.max(0, millisecondsBetween(since, now));
    since = opened;
  }
}
