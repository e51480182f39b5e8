// Trading calendars: when a market is open and which trading day a moment belongs to, in the market's own time zone.
//
// Invariants (calendar.test.ts names them):
//  1. A session contains its opening moment and not its closing one.
//  2. The trading day of a moment is the latest trading date that is not after the moment's local date: it begins at local
//     midnight, so what happens after the close still belongs to it, and a weekend or holiday belongs to the day before.
//  3. The trading day never goes backwards as time goes on, whatever the clocks of the zone do.
//  4. A time of day that a change of clocks skips is taken as the moment just as long after the change; one that happens
//     twice is taken as the first.
import {
  type CivilDate,
  civilFromDays,
  daysFromCivil,
  formatDate,
  fromMicroseconds,
  type Instant,
  microsecondsPerSecond,
  tryParseDate,
} from "./instant.ts";

/** Monday is 1, Sunday is 7, as ISO 8601 has them. */
export type Weekday = 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** Local times as HH:MM; the close is after the open on the same date, and 24:00 is the end of that date. */
interface WeeklySession {
  readonly weekday: Weekday;
  readonly open: string;
  readonly close: string;
}

/** A calendar as data. */
export interface CalendarDefinition {
  readonly name: string;
  /** IANA, for example America/New_York. */
  readonly zone: string;
  /** "always" for a market that never closes; its trading days are the zone's dates. */
  readonly sessions: readonly WeeklySession[] | "always";
  /** Dates without a session. */
  readonly holidays: readonly string[];
  /** Dates whose sessions end earlier, with the local time at which they do. */
  readonly earlyCloses: Readonly<Record<string, string>>;
  /** The last date up to which holidays are known; absent when there are none to know. */
  readonly knownUntil?: string;
}

interface Hours {
  readonly openSecond: number;
  readonly closeSecond: number;
}

/** A calendar ready for use: checked, and with what is costly to make made once. */
export interface TradingCalendar {
  readonly definition: CalendarDefinition;
  readonly zoneFormat: Intl.DateTimeFormat;
  /** By weekday; undefined for a market that never closes. */
  readonly hours: ReadonlyMap<number, readonly Hours[]> | undefined;
  readonly holidays: ReadonlySet<string>;
  readonly earlyCloseSeconds: ReadonlyMap<string, number>;
}

const secondsPerDay = 86_400;
/** No market rests longer; a search that goes further would never end on a calendar without sessions. */
const searchDaysMax = 400;

/** Checks a definition and prepares it; every mistake in it is a RangeError that names the calendar. */
export function tradingCalendar(definition: CalendarDefinition): TradingCalendar {
  const sessions = definition.sessions === "always" ? [] : definition.sessions;
  const hours = new Map<number, Hours[]>();
  for (const session of sessions) {
    const openSecond = secondOfDay(definition, session.open);
    const closeSecond = secondOfDay(definition, session.close);
    if (closeSecond <= openSecond) throw mistake(definition, `${session.open}-${session.close} ends before it begins`);
    hours.set(session.weekday, [...(hours.get(session.weekday) ?? []), { openSecond, closeSecond }]);
  }
  for (const of of hours.values()) of.sort((left, right) => left.openSecond - right.openSecond);
  for (const date of [...definition.holidays, ...Object.keys(definition.earlyCloses)]) {
    if (tryParseDate(date) === undefined) throw mistake(definition, `${date} is not a date`);
  }
  return {
    definition,
    zoneFormat: new Intl.DateTimeFormat("en-US", {
      timeZone: definition.zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    }),
    hours: definition.sessions === "always" ? undefined : hours,
    holidays: new Set(definition.holidays),
    earlyCloseSeconds: new Map(
      Object.entries(definition.earlyCloses).map(([date, time]) => [date, secondOfDay(definition, time)]),
    ),
  };
}

export function isOpen(calendar: TradingCalendar, at: Instant): boolean {
  if (calendar.hours === undefined) return true;
  const local = localSeconds(calendar, at);
  const day = Math.floor(local / secondsPerDay);
  return sessionsOn(calendar, day).some(
    (hours) =>
      at >= instantOf(calendar, day * secondsPerDay + hours.openSecond) &&
      at < instantOf(calendar, day * secondsPerDay + hours.closeSecond),
  );
}

/** The date of the trading day that the moment belongs to (invariant 2), as YYYY-MM-DD. */
export function tradingDay(calendar: TradingCalendar, at: Instant): string {
  const today = Math.floor(localSeconds(calendar, at) / secondsPerDay);
  for (let day = today; day > today - searchDaysMax; day -= 1) {
    if (isTradingDate(calendar, day)) return formatDate(civilFromDays(day));
  }
  throw mistake(calendar.definition, "it has no trading days");
}

/** The first moment after `at` at which a session begins; undefined for a market that never closes. */
export function nextOpen(calendar: TradingCalendar, at: Instant): Instant | undefined {
  return nextEdge(calendar, at, (hours) => hours.openSecond);
}

/** The first moment after `at` at which a session ends; undefined for a market that never closes. */
export function nextClose(calendar: TradingCalendar, at: Instant): Instant | undefined {
  return nextEdge(calendar, at, (hours) => hours.closeSecond);
}

/** Whether the holidays around that moment are known; when they are not, only the weekly sessions speak. */
export function isKnown(calendar: TradingCalendar, at: Instant): boolean {
  const until = calendar.definition.knownUntil;
  return until === undefined || localDate(calendar, at) <= until;
}

/** The date on the zone's wall calendar, as YYYY-MM-DD. */
export function localDate(calendar: TradingCalendar, at: Instant): string {
  return formatDate(civilFromDays(Math.floor(localSeconds(calendar, at) / secondsPerDay)));
}

/** The moment at which a local date begins; the first moment of that date where clocks change at midnight. */
export function startOfDate(calendar: TradingCalendar, date: CivilDate): Instant {
  return instantOf(calendar, daysFromCivil(date) * secondsPerDay);
}

/** The moment at which the zone's wall clock shows so many seconds after the midnight of a date (invariant 4). */
export function momentOn(calendar: TradingCalendar, date: CivilDate, second: number): Instant {
  return instantOf(calendar, daysFromCivil(date) * secondsPerDay + second);
}

/** What the zone's wall clock shows: the date, and the whole seconds since its midnight. */
export function wallClock(
  calendar: TradingCalendar,
  at: Instant,
): { readonly date: CivilDate; readonly second: number } {
  const local = localSeconds(calendar, at);
  const day = Math.floor(local / secondsPerDay);
  return { date: civilFromDays(day), second: local - day * secondsPerDay };
}

/** The first date after that one which has a session. */
export function nextTradingDate(calendar: TradingCalendar, date: CivilDate): CivilDate {
  const first = daysFromCivil(date) + 1;
  for (let day = first; day < first + searchDaysMax; day += 1) {
    if (isTradingDate(calendar, day)) return civilFromDays(day);
  }
  throw mistake(calendar.definition, "it has no trading days");
}

/** Whether that date has a session, however short. */
export function hasSession(calendar: TradingCalendar, date: CivilDate): boolean {
  return isTradingDate(calendar, daysFromCivil(date));
}

function nextEdge(calendar: TradingCalendar, at: Instant, edge: (hours: Hours) => number): Instant | undefined {
  if (calendar.hours === undefined) return undefined;
  const today = Math.floor(localSeconds(calendar, at) / secondsPerDay);
  for (let day = today; day < today + searchDaysMax; day += 1) {
    for (const hours of sessionsOn(calendar, day)) {
      const moment = instantOf(calendar, day * secondsPerDay + edge(hours));
      if (moment > at) return moment;
    }
  }
  return undefined;
}

function isTradingDate(calendar: TradingCalendar, day: number): boolean {
  return calendar.hours === undefined || sessionsOn(calendar, day).length > 0;
}

/** The sessions of a local date, in order, with holidays and early closes applied. */
function sessionsOn(calendar: TradingCalendar, day: number): readonly Hours[] {
  // 1970-01-01 was a Thursday, the fourth day of its week.
  const weekday = ((((day + 3) % 7) + 7) % 7) + 1;
  const usual = calendar.hours?.get(weekday) ?? [];
  if (usual.length === 0) return usual;
  const date = formatDate(civilFromDays(day));
  if (calendar.holidays.has(date)) return [];
  const early = calendar.earlyCloseSeconds.get(date);
  if (early === undefined) return usual;
  return usual
    .filter((hours) => hours.openSecond < early)
    .map((hours) => ({ openSecond: hours.openSecond, closeSecond: Math.min(hours.closeSecond, early) }));
}

/** What the zone's wall clock shows, counted as if it were UTC. */
function localSeconds(calendar: TradingCalendar, at: Instant): number {
  const shown = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const part of calendar.zoneFormat.formatToParts(Math.floor(at / 1_000))) {
    if (part.type in shown) shown[part.type as keyof typeof shown] = Number(part.value);
  }
  return daysFromCivil(shown) * secondsPerDay + shown.hour * 3_600 + shown.minute * 60 + shown.second;
}

/** The moment at which the zone's wall clock shows that time (invariant 4). */
function instantOf(calendar: TradingCalendar, wallSeconds: number): Instant {
  // Zones change their clocks at most once within a day or so: the two offsets around the time are the only candidates.
  const before = offsetSeconds(calendar, wallSeconds - secondsPerDay);
  const after = offsetSeconds(calendar, wallSeconds + secondsPerDay);
  const first = Math.min(wallSeconds - before, wallSeconds - after);
  const second = Math.max(wallSeconds - before, wallSeconds - after);
  for (const candidate of [first, second]) {
    const moment = fromMicroseconds(candidate * microsecondsPerSecond);
    if (localSeconds(calendar, moment) === wallSeconds) return moment;
  }
  return fromMicroseconds((wallSeconds - before) * microsecondsPerSecond);
}

function offsetSeconds(calendar: TradingCalendar, utcSeconds: number): number {
  return localSeconds(calendar, fromMicroseconds(utcSeconds * microsecondsPerSecond)) - utcSeconds;
}

const timeOfDay = /^([01][0-9]|2[0-3]):([0-5][0-9])$/;

function secondOfDay(definition: CalendarDefinition, text: string): number {
  if (text === "24:00") return secondsPerDay;
  const match = timeOfDay.exec(text);
  if (match === null) throw mistake(definition, `${text} is not a time of day such as 09:30`);
  return Number(match[1]) * 3_600 + Number(match[2]) * 60;
}

function mistake(definition: CalendarDefinition, complaint: string): RangeError {
  return new RangeError(`calendar ${definition.name}: ${complaint}`);
}
