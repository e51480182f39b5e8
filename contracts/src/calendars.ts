// The calendars that come with the platform, as data. Reference data may bring others.
import { type CalendarDefinition, type TradingCalendar, tradingCalendar, type Weekday } from "./calendar.ts";

const workdays: readonly Weekday[] = [1, 2, 3, 4, 5];

/**
 * US equities, regular session. The holidays and the 13:00 closes are those of the exchange's published calendars for 2024
 * to 2027 (nyse.com, "Holidays & Trading Hours"), with the day of mourning of 9 January 2025. A holiday on a Saturday is kept on the Friday before (3 July 2026,
 * 18 June and 24 December 2027), one on a Sunday on the Monday after (5 July 2027).
 */
const usEquitiesDefinition: CalendarDefinition = {
  name: "us-equities",
  zone: "America/New_York",
  sessions: workdays.map((weekday) => ({ weekday, open: "09:30", close: "16:00" })),
  holidays: [
    "2024-01-01",
    "2024-01-15",
    "2024-02-19",
    "2024-03-29",
    "2024-05-27",
    "2024-06-19",
    "2024-07-04",
    "2024-09-02",
    "2024-11-28",
    "2024-12-25",
    "2025-01-01",
    "2025-01-09",
    "2025-01-20",
    "2025-02-17",
    "2025-04-18",
    "2025-05-26",
    "2025-06-19",
    "2025-07-04",
    "2025-09-01",
    "2025-11-27",
    "2025-12-25",
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
  earlyCloses: {
    "2024-07-03": "13:00",
    "2024-11-29": "13:00",
    "2024-12-24": "13:00",
    "2025-07-03": "13:00",
    "2025-11-28": "13:00",
    "2025-12-24": "13:00",
    "2026-11-27": "13:00",
    "2026-12-24": "13:00",
    "2027-11-26": "13:00",
  },
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
