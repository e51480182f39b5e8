// By when a day's events must have reached the regulator.
//
//  1. CAT: 08:00 Eastern on the next trading day after the one that the event belongs to. What happens after 16:15:00 Eastern, or on a day without
//     a session, belongs to the next session's day; a half day ends at 16:15 too.
//  2. Repairs: 08:00 Eastern on the third trading day after the one that the event belongs to.
//  3. This day decides about deadlines alone: a file's date is the date of the event on the wall calendar.
import { hasSession, momentOn, nextTradingDate, wallClock } from "../../contracts/src/calendar.ts";
import { usEquities } from "../../contracts/src/calendars.ts";
import { type CivilDate, type Instant, microsecondsPerSecond } from "../../contracts/src/instant.ts";

const dueSecond = 8 * 3_600;
const dayEndSecond = 16 * 3_600 + 15 * 60;
const repairDays = 3;

/** Up to and with 16:15:00.000000. */
function isWithinDay(at: Instant, second: number): boolean {
  return second < dayEndSecond || (second === dayEndSecond && at % microsecondsPerSecond === 0);
}

function catDay(at: Instant): CivilDate {
  const { date, second } = wallClock(usEquities, at);
  return hasSession(usEquities, date) && isWithinDay(at, second) ? date : nextTradingDate(usEquities, date);
}

/** Until when an event of that moment is reported in time. */
export function catDeadline(at: Instant): Instant {
  return momentOn(usEquities, nextTradingDate(usEquities, catDay(at)), dueSecond);
}

/** Until when a rejected record of an event of that moment is repaired in time. */
export function catRepairBy(at: Instant): Instant {
  let day = catDay(at);
  for (let count = 0; count < repairDays; count += 1) day = nextTradingDate(usEquities, day);
  return momentOn(usEquities, day, dueSecond);
}
