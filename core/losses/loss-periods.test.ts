// Days, weeks and months of losses where clocks change, in several zones: no day is counted twice, none is left out, and each ends when the next begins.
import { describe, expect, test } from "vitest";
import { type CalendarDefinition, tradingCalendar } from "../../contracts/src/calendar.ts";
import { format, fromMicroseconds, parse } from "../../contracts/src/instant.ts";
import { aroundTheClock, lossLife, newYork } from "../../testkit/risk/loss-life.ts";
import { lossDayAt } from "./loss-periods.ts";

const weekdays = (zone: string): CalendarDefinition => ({ ...newYork, name: zone, zone, holidays: [] });
const allDays = (zone: string): CalendarDefinition => ({ ...aroundTheClock, name: zone, zone });

describe("the day on which clocks change", () => {
  // In Havana the change is at midnight: on 2026-03-08 the day begins at 01:00, on 2026-11-01 its first hour comes twice.
  test.each([
    ["New York forward, all days", allDays("America/New_York"), "2026-03-08", "2026-03-08T05:00:00Z", 23],
    ["New York back, all days", allDays("America/New_York"), "2026-11-01", "2026-11-01T04:00:00Z", 25],
    ["London forward, all days", allDays("Europe/London"), "2026-03-29", "2026-03-29T00:00:00Z", 23],
    ["London back, all days", allDays("Europe/London"), "2026-10-25", "2026-10-24T23:00:00Z", 25],
    ["Sydney back, all days", allDays("Australia/Sydney"), "2026-04-05", "2026-04-04T13:00:00Z", 25],
    ["Sydney forward, all days", allDays("Australia/Sydney"), "2026-10-04", "2026-10-03T14:00:00Z", 23],
    ["Havana forward at midnight", allDays("America/Havana"), "2026-03-08", "2026-03-08T05:00:00Z", 23],
    ["Havana back at one", allDays("America/Havana"), "2026-11-01", "2026-11-01T04:00:00Z", 25],
    [
      "a Friday that lasts until Monday, London forward",
      weekdays("Europe/London"),
      "2026-03-27",
      "2026-03-27T00:00:00Z",
      71,
    ],
    ["and back", weekdays("Europe/London"), "2026-10-23", "2026-10-22T23:00:00Z", 73],
    ["and in New York", weekdays("America/New_York"), "2026-03-06", "2026-03-06T05:00:00Z", 71],
  ] as const)("%s", (_name, definition, date, begins, hours) => {
    const calendar = tradingCalendar(definition);
    const first = parse(begins);
    const until = fromMicroseconds(first + hours * 3_600_000_000);
    expect(lossDayAt(calendar, first)).toMatchObject({ daily: date, until });
    expect(lossDayAt(calendar, fromMicroseconds(first - 1)).daily < date).toBe(true);
    expect(lossDayAt(calendar, fromMicroseconds(until - 1)).daily).toBe(date);
    expect(lossDayAt(calendar, until).daily > date).toBe(true);

    // One baseline, from the last value before, whatever the clocks of that day show.
    const life = lossLife({ calendar: definition });
    life.value(format(fromMicroseconds(first - 1_000_000)), "100");
    for (let hour = 0; hour < hours; hour += 1) {
      const at = fromMicroseconds(first + hour * 3_600_000_000);
      life.tick(format(at));
      life.value(format(fromMicroseconds(at + 1)), hour % 2 === 0 ? "100.5" : "100.25");
    }
    expect(life.baseline("daily")).toBe(`${date} 100 v0`);
    life.tick(format(until));
    expect(life.baseline("daily")?.startsWith(date)).toBe(false);
    expect(life.baselines.filter(({ limit }) => limit === "daily")).toHaveLength(3);
  });
});

test.each([
  allDays("Europe/London"),
  allDays("America/Havana"),
  weekdays("Australia/Sydney"),
  { ...newYork, holidays: ["2026-12-24", "2026-12-25", "2026-12-31", "2027-01-01"] },
])(
  "$zone: a year in steps of 31 hours: time never goes back, and every day ends where the next begins",
  (definition) => {
    const calendar = tradingCalendar(definition);
    let before = lossDayAt(calendar, parse("2026-03-01T00:00:00Z"));
    for (let hour = 31; hour < 8_760; hour += 31) {
      const at = fromMicroseconds(parse("2026-03-01T00:00:00Z") + hour * 3_600_000_000);
      const day = lossDayAt(calendar, at);
      expect(day.until > at).toBe(true);
      expect(day.daily === before.daily, format(at)).toBe(at < before.until);
      expect(day.daily >= before.daily && day.weekly >= before.weekly && day.monthly >= before.monthly).toBe(true);
      expect(day.weekly <= day.daily && day.monthly <= day.daily).toBe(true);
      before = day;
    }
  },
);
