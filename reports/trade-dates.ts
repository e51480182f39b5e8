// The date of a trade where it was made. At nine in the evening in New York it is tomorrow in UTC: years, terms and settlement go by the market's date.
import { localDate } from "../contracts/src/calendar.ts";
import { alwaysOpen, calendarByName } from "../contracts/src/calendars.ts";
import { parse } from "../contracts/src/instant.ts";
import type { ReportFacts } from "./facts.ts";

/** In the zone of the fund's calendar; in UTC for one that this program does not know. */
export function tradeDates({ fund }: Pick<ReportFacts, "fund">): (at: string) => string {
  const calendar = calendarByName(fund.calendar) ?? alwaysOpen;
  // Zones change their offset on the hour, if at all.
  const byHour = new Map<string, string>();
  return (at) => {
    const hour = at.slice(0, 13);
    const known = byHour.get(hour);
    if (known !== undefined) return known;
    const date = localDate(calendar, parse(at));
    byHour.set(hour, date);
    return date;
  };
}
