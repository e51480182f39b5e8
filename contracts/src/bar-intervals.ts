// How long each interval of bars is and where its bars begin: on whole intervals of UTC, weeks on Monday. The number of a bar is the number of intervals
// since 1970, so that it is the same for every reader and after every restart.
import { fromMicroseconds, type Instant, microsecondsPerSecond } from "./instant.ts";
import type { BarInterval } from "./records/market.ts";

const minuteUs = 60 * microsecondsPerSecond;
const dayUs = 1_440 * minuteUs;
/** 1970 began on a Thursday. */
const firstMondayUs = 4 * dayUs;

export const barLengthUs: Readonly<Record<BarInterval, number>> = {
  "1m": minuteUs,
  "5m": 5 * minuteUs,
  "15m": 15 * minuteUs,
  "30m": 30 * minuteUs,
  "1h": 60 * minuteUs,
  "4h": 240 * minuteUs,
  "1d": dayUs,
  "1w": 7 * dayUs,
};

function originUs(interval: BarInterval): number {
  return interval === "1w" ? firstMondayUs : 0;
}

/** The number of the bar that covers this moment. */
export function barNumber(interval: BarInterval, at: Instant): number {
  return Math.floor((at - originUs(interval)) / barLengthUs[interval]);
}

export function barStart(interval: BarInterval, number: number): Instant {
  return fromMicroseconds(originUs(interval) + number * barLengthUs[interval]);
}

/** Where the first bar begins that begins at this moment or later. */
export function firstBarStart(interval: BarInterval, from: Instant): Instant {
  const number = barNumber(interval, from);
  const start = barStart(interval, number);
  return start < from ? barStart(interval, number + 1) : start;
}
