// Dates as texts (2024-05-28) and as day numbers, for counting between them.
import { civilFromDays, daysFromCivil, formatDate, tryParseDate } from "../../contracts/src/instant.ts";

/** Of a date, or of a moment whose text begins with one. */
export function dayNumber(at: string): number {
  const civil = tryParseDate(at.slice(0, 10));
  if (civil === undefined) throw new RangeError(`${JSON.stringify(at)} does not begin with a date such as 2024-05-28.`);
  return daysFromCivil(civil);
}

export const dateOfDay = (day: number): string => formatDate(civilFromDays(day));

export const daysBetween = (from: string, to: string): number => dayNumber(to) - dayNumber(from);

/** Monday is 0. Day 0 was a Thursday. */
export const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7;

export const compareText = (left: string, right: string): number => {
  if (left === right) return 0;
  return left < right ? -1 : 1;
};
