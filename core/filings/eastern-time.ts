// Times as CAT wants them: the wall clock of New York with microseconds, and nanoseconds since 1970 in the hour that occurs twice, when the
// wall clock alone does not say which of the two it was.
import { wallClock } from "../../contracts/src/calendar.ts";
import { usEquities } from "../../contracts/src/calendars.ts";
import {
  type CivilDate,
  formatDate,
  fromMicroseconds,
  type Instant,
  microsecondsPerSecond,
  plusMilliseconds,
} from "../../contracts/src/instant.ts";

const hourMs = 3_600_000;

/** The date on New York's wall calendar, as YYYY-MM-DD. */
export function easternDate(at: Instant): string {
  return formatDate(wallClock(usEquities, at).date);
}

/** As JSON: a text such as "20261113T093000.000001", or a number of nanoseconds. */
export function catTime(at: Instant): string {
  const text = easternText(at);
  const isTwice = [plusMilliseconds(at, hourMs), plusMilliseconds(at, -hourMs)].some(
    (other) => easternText(other) === text,
  );
  return isTwice ? `${BigInt(at) * 1_000n}` : `"${text}"`;
}

/** The second on New York's wall clock, as HHMMSS. */
export function easternSecond(at: Instant): string {
  return timeText(wallClock(usEquities, at).second);
}

/** A date as CAT's number: 20261113. */
export function catDate(date: string): string {
  return date.replaceAll("-", "");
}

function easternText(at: Instant): string {
  const micro = ((at % microsecondsPerSecond) + microsecondsPerSecond) % microsecondsPerSecond;
  const { date, second } = wallClock(usEquities, fromMicroseconds(at - micro));
  return `${compact(date)}T${timeText(second)}.${String(micro).padStart(6, "0")}`;
}

function compact(date: CivilDate): string {
  return catDate(formatDate(date));
}

function timeText(second: number): string {
  const parts = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join("");
}
