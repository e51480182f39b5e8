// The calendars that come with the platform, as data. Reference data may bring others.
import { type CalendarDefinition, type TradingCalendar, tradingCalendar, type Weekday } from "./calendar.ts";

const workdays: readonly Weekday[] = [1, 2, 3, 4, 5];

/**
 * US equities, regular session. The holidays and the 13:00 closes are those of the exchange's published calendar for 2026
 * and 2027 (nyse.com, "Holidays & Trading Hours"). A holiday on a Saturday is kept on the Friday before (3 July 2026,
 * 18 June and 24 December 2027), one on a Sunday on the Monday after (5 July 2027).
 */
const usEquitiesDefinition: CalendarDefinition = {
  name: "us-equities",
  zone: "America/New_York",
  sessions: workdays.map((weekday) => ({ weekday, open: "09:30", close: "16:00" })),
  holidays: [
    "2026-01-01",
    "2026-01-19",
    "2026-02-16",
    "2026-04-03",
    "2026-05-25",
    "2026-06-19",
    "2026-07-03",
    "2026-09-07",
    "2026-11-26",
    "2026-12-25",
    "2027-01-01",
    "2027-01-18",
    "2027-02-15",
    "2027-03-26",
    "2027-05-31",
    "2027-06-18",
    "2027-07-05",
    "2027-09-06",
    "2027-11-25",
    "2027-12-24",
  ],
  earlyCloses: { "2026-11-27": "13:00", "2026-12-24": "13:00", "2027-11-26": "13:00" },
  knownUntil: "2027-12-31",
};

/** Crypto and the simulator: never closed, days begin at midnight UTC. */
const alwaysOpenDefinition: CalendarDefinition = {
  name: "always-open",
  zone: "UTC",
  sessions: "always",
  holidays: [],
  earlyCloses: {},
};

export const usEquities: TradingCalendar = tradingCalendar(usEquitiesDefinition);
export const alwaysOpen: TradingCalendar = tradingCalendar(alwaysOpenDefinition);

const byName: ReadonlyMap<string, TradingCalendar> = new Map(
  [usEquities, alwaysOpen].map((calendar) => [calendar.definition.name, calendar]),
);

export function calendarByName(name: string): TradingCalendar | undefined {
  return byName.get(name);
}
