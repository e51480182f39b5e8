// The days of MiFID II: dates of UTC, and by when a trade's report is due.
import {
  type CivilDate,
  civilFromDays,
  fromUnixMs,
  type Instant,
  millisecondsPerDay,
  toUnixMs,
} from "../../../contracts/src/instant.ts";

const daysOfWeek = 7;
const thursday = 4;
const saturday = 6;

function dayNumber(at: Instant): number {
  return Math.floor(toUnixMs(at) / millisecondsPerDay);
}

/** The date of UTC. */
export function utcDate(at: Instant): CivilDate {
  return civilFromDays(dayNumber(at));
}

/** The end of the next day of Monday to Friday, in UTC. Holidays of a country are not known here, so that nothing is late unseen. */
export function mifidDeadline(at: Instant): Instant {
  let day = dayNumber(at) + 1;
  while (weekday(day) >= saturday) day += 1;
  return fromUnixMs((day + 1) * millisecondsPerDay);
}

/** Monday is 1, Sunday 7. Day 0 was a Thursday. */
function weekday(day: number): number {
  return ((day + thursday - 1) % daysOfWeek) + 1;
}
