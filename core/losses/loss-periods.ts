// Which day, week and month a moment belongs to for the counting of losses, and when the next day begins. All follow the fund's trading days, in
// its calendar's zone: a week or a month begins with its first trading day, so neither can begin in the middle of one.
import { localDate, startOfDate, type TradingCalendar, tradingDay } from "../../contracts/src/calendar.ts";
import { civilFromDays, daysFromCivil, formatDate, type Instant, tryParseDate } from "../../contracts/src/instant.ts";

/** Named by dates that do not move when a holiday is added: the day, the Monday of its ISO week, the first of its month. */
export interface LossPeriods {
  readonly daily: string;
  readonly weekly: string;
  readonly monthly: string;
}

/** The periods of a moment, and when the next trading day begins. */
export interface LossDay extends LossPeriods {
  readonly until: Instant;
  /** Which calendar says so: its name, its zone, and whether it ever closes. Another one dates the same moment differently. */
  readonly by: string;
}

/** No market rests longer. */
const searchDaysMax = 400;

export function lossDayAt(calendar: TradingCalendar, at: Instant): LossDay {
  const daily = tradingDay(calendar, at);
  const day = dayNumber(daily);
  const { name, zone, sessions } = calendar.definition;
  // 1970-01-01 was a Thursday.
  const sinceMonday = (((day + 3) % 7) + 7) % 7;
  return {
    daily,
    weekly: formatDate(civilFromDays(day - sinceMonday)),
    monthly: `${daily.slice(0, 8)}01`,
    until: nextDayBegins(calendar, at, daily),
    by: `${name} ${zone} ${sessions === "always" ? "always open" : "with sessions"}`,
  };
}

/** From one date to another, negative when the second is earlier. */
export function daysBetween(from: string, to: string): number {
  return dayNumber(to) - dayNumber(from);
}

function nextDayBegins(calendar: TradingCalendar, at: Instant, today: string): Instant {
  const first = dayNumber(localDate(calendar, at)) + 1;
  for (let day = first; day < first + searchDaysMax; day += 1) {
    const begins = startOfDate(calendar, civilFromDays(day));
    if (begins > at && tradingDay(calendar, begins) !== today) return begins;
  }
  return startOfDate(calendar, civilFromDays(first));
}

function dayNumber(date: string): number {
  return daysFromCivil(tryParseDate(date) ?? { year: 1970, month: 1, day: 1 });
}

/** The same, remembering the newest day of each calendar: asking a zone what time it is there costs more than all the rest. */
export function createLossClock(): (calendar: TradingCalendar, at: Instant) => LossDay {
  const known = new WeakMap<TradingCalendar, { readonly from: Instant; readonly day: LossDay }>();
  return (calendar, at) => {
    const last = known.get(calendar);
    if (last !== undefined && at >= last.from && at < last.day.until) return last.day;
    const day = lossDayAt(calendar, at);
    known.set(calendar, { from: at, day });
    return day;
  };
}
