// Closes on the days that a fund counts: its own days, and before its first value the trading days of its calendar. The axis of everything that compares a
// fund with its market.
import { tradingDay } from "../contracts/src/calendar.ts";
import { alwaysOpen, calendarByName } from "../contracts/src/calendars.ts";
import { parse } from "../contracts/src/instant.ts";
import type { ReportFacts } from "./facts.ts";
import { compareText, dateOfDay, dayNumber } from "./metrics/dates.ts";

/** Ascending; days before the first value only where some close is known. */
export function marketAxis(facts: ReportFacts): readonly string[] {
  const calendar = calendarByName(facts.fund.calendar) ?? alwaysOpen;
  const own = facts.navs.map(({ day }) => day);
  const first = own[0] ?? "9999";
  const rows = [...Object.values(facts.closes), facts.benchmark?.closes ?? []];
  const before = [...new Set(rows.flatMap((row) => row.map(({ day }) => day)).filter((day) => day < first))];
  // A moment that is of the same date in UTC and in New York.
  const traded = before.filter((day) => tradingDay(calendar, parse(`${day}T17:00:00Z`)) === day);
  return [...traded, ...own].sort(compareText);
}

/** Days of the fund's calendar that lie between two values, the second of them on one of these days, and have none. */
export function daysWithoutValue({ fund, navs }: ReportFacts, days: ReadonlySet<string>): readonly string[] {
  const calendar = calendarByName(fund.calendar);
  if (calendar === undefined) return [];
  return navs.flatMap(({ day }, place) => {
    const before = navs[place - 1]?.day;
    if (before === undefined || !days.has(day)) return [];
    const first = dayNumber(before) + 1;
    const between = Array.from({ length: dayNumber(day) - first }, (_none, at) => dateOfDay(first + at));
    return between.filter((each) => tradingDay(calendar, parse(`${each}T17:00:00Z`)) === each);
  });
}

export type DatedReturns = ReadonlyMap<string, number>;

/** The return of each day from the day before on the axis; a day without both closes has none. */
export function returnsOn(
  axis: readonly string[],
  row: readonly { readonly day: string; readonly close: string }[],
): DatedReturns {
  const closes = new Map(row.map(({ day, close }) => [day, Number(close)]));
  const found = new Map<string, number>();
  for (const [index, day] of axis.entries()) {
    const [before, now] = [closes.get(axis[index - 1] ?? ""), closes.get(day)];
    if (before !== undefined && now !== undefined && before > 0) found.set(day, now / before - 1);
  }
  return found;
}
