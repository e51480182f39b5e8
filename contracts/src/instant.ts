// A moment in time as data: whole microseconds since 1970-01-01T00:00:00Z. PostgreSQL keeps microseconds, and 2^53 of
// them reach the year 2255, so a plain number is exact. Nothing here reads a clock. Import it whole
// (`import * as instant from …`) where its functions are used; `<` and `===` compare instants as they stand.
declare const instantBrand: unique symbol;
export type Instant = number & { readonly [instantBrand]: "instant" };

/** A date without a time of day or a zone, as `2026-11-15`; such texts sort as the days do. */
export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

export const microsecondsPerMillisecond = 1_000;
export const microsecondsPerSecond = 1_000_000;
export const millisecondsPerDay = 86_400_000;
const secondsPerDay = 86_400;

/** An instant from a whole number of microseconds since the epoch. Outside the years 1684 to 2255 it is a RangeError. */
export function fromMicroseconds(microseconds: number): Instant {
  if (!Number.isSafeInteger(microseconds)) {
    throw new RangeError(`${microseconds} is not a whole number of microseconds that can be kept exactly`);
  }
  // Adding zero turns -0 into 0, so that equal instants are also the same value to Object.is and Map.
  return (microseconds + 0) as Instant;
}

/** An instant from Unix milliseconds; a fraction finer than a microsecond is cut off. */
export function fromUnixMs(milliseconds: number): Instant {
  return fromMicroseconds(Math.floor(milliseconds * microsecondsPerMillisecond));
}

export function toUnixMs(at: Instant): number {
  return at / microsecondsPerMillisecond;
}

export function plusMicroseconds(at: Instant, microseconds: number): Instant {
  return fromMicroseconds(at + microseconds);
}

export function plusMilliseconds(at: Instant, milliseconds: number): Instant {
  return fromMicroseconds(at + Math.round(milliseconds * microsecondsPerMillisecond));
}

export function minusMilliseconds(at: Instant, milliseconds: number): Instant {
  return plusMilliseconds(at, -milliseconds);
}

/** How long after `earlier` the instant `later` is; negative when it is not. */
export function millisecondsBetween(earlier: Instant, later: Instant): number {
  return (later - earlier) / microsecondsPerMillisecond;
}

export function compare(left: Instant, right: Instant): -1 | 0 | 1 {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function isBefore(left: Instant, right: Instant): boolean {
  return left < right;
}

export function earlier(left: Instant, right: Instant): Instant {
  return left < right ? left : right;
}

export function later(left: Instant, right: Instant): Instant {
  return left > right ? left : right;
}

const rfc3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;
/** A date and a time with nine decimals and an offset; longer input is not read. */
const textLengthMax = 35;

/**
 * The instant of an RFC 3339 text, or undefined. `T` and `Z` are capitals, an offset is converted to UTC, leap seconds and
 * dates that do not exist are refused, decimals past the microsecond (at most nine in all) are cut off.
 */
export function tryParse(text: string): Instant | undefined {
  if (text.length > textLengthMax) return undefined;
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const date = { year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) };
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])];
  if (!isRealDate(date) || hour > 23 || minute > 59 || second > 59) return undefined;
  const [offsetHour, offsetMinute] = [Number(match[9] ?? "0"), Number(match[10] ?? "0")];
  if (offsetHour > 23 || offsetMinute > 59) return undefined;
  const offsetSeconds = (offsetHour * 3_600 + offsetMinute * 60) * (match[8] === "-" ? -1 : 1);
  const seconds = daysFromCivil(date) * secondsPerDay + hour * 3_600 + minute * 60 + second - offsetSeconds;
  const fraction = Number((match[7] ?? "").slice(0, 6).padEnd(6, "0"));
  const microseconds = seconds * microsecondsPerSecond + fraction;
  return Number.isSafeInteger(microseconds) ? (microseconds as Instant) : undefined;
}

/** The instant of an RFC 3339 text; anything else is a RangeError. */
export function parse(text: string): Instant {
  const at = tryParse(text);
  if (at === undefined) {
    throw new RangeError(
      `${JSON.stringify(text.slice(0, textLengthMax))} is not a time such as 2026-11-15T13:30:00.000000Z`,
    );
  }
  return at;
}

/** RFC 3339 in UTC with six decimals, always, so that such texts sort as the instants do. */
export function format(at: Instant): string {
  const totalSeconds = Math.floor(at / microsecondsPerSecond);
  const days = Math.floor(totalSeconds / secondsPerDay);
  const secondOfDay = totalSeconds - days * secondsPerDay;
  const fraction = String(at - totalSeconds * microsecondsPerSecond).padStart(6, "0");
  const hour = twoDigits(Math.floor(secondOfDay / 3_600));
  const minute = twoDigits(Math.floor(secondOfDay / 60) % 60);
  return `${formatDate(civilFromDays(days))}T${hour}:${minute}:${twoDigits(secondOfDay % 60)}.${fraction}Z`;
}

/** The same as `format`, for whoever writes many of about the same moment: the last second is remembered as text. */
export function createFormatter(): (at: Instant) => string {
  let second = Number.NaN;
  let head = "";
  return (at) => {
    const totalSeconds = Math.floor(at / microsecondsPerSecond);
    if (totalSeconds !== second) {
      second = totalSeconds;
      head = format((totalSeconds * microsecondsPerSecond) as Instant).slice(0, -7);
    }
    return `${head}${String(1_000_000 + at - totalSeconds * microsecondsPerSecond).slice(1)}Z`;
  };
}

/** Whole days since 1970-01-01 in the proleptic Gregorian calendar, without a table and without Date. */
export function daysFromCivil(date: CivilDate): number {
  // March is the first month of the counted year, so that the leap day is its last.
  const year = date.month <= 2 ? date.year - 1 : date.year;
  const era = Math.floor(year / 400);
  const yearOfEra = year - era * 400;
  const dayOfYear = Math.floor((153 * ((date.month + 9) % 12) + 2) / 5) + date.day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

export function formatDate(date: CivilDate): string {
  return `${String(date.year).padStart(4, "0")}-${twoDigits(date.month)}-${twoDigits(date.day)}`;
}

const civilDateText = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;

/** The date of a text such as `2026-11-15`, or undefined when there is no such day. */
export function tryParseDate(text: string): CivilDate | undefined {
  const match = civilDateText.exec(text);
  if (match === null) return undefined;
  const date = { year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) };
  return isRealDate(date) ? date : undefined;
}

function isRealDate(date: CivilDate): boolean {
  const back = civilFromDays(daysFromCivil(date));
  return date.month >= 1 && date.month <= 12 && back.month === date.month && back.day === date.day;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
