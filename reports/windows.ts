// Windows of a report as people name them: 7d, mtd, START..END. Both ends are days of the fund's calendar.
import { tryParseDate } from "../contracts/src/instant.ts";
import { dateOfDay, dayNumber } from "./metrics/dates.ts";
import { ReportRefused } from "./shape.ts";

export const windowNames = ["1d", "7d", "30d", "90d", "1y", "mtd", "qtd", "ytd", "itd"] as const;

/** `last` is the last day that has a value, `first` the first one. */
export function windowOf(text: string, first: string, last: string): { readonly start: string; readonly end: string } {
  const range = /^(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})$/.exec(text);
  if (range !== null) {
    const [start, end] = [range[1] ?? "", range[2] ?? ""];
    for (const day of [start, end]) {
      if (tryParseDate(day) === undefined) throw new ReportRefused(`${day} is no day of the calendar.`);
    }
    if (dayNumber(start) > dayNumber(end)) throw new ReportRefused(`The window ${text} ends before it begins.`);
    return { start, end };
  }
  const days = /^(1|7|30|90)d$/.exec(text);
  if (days !== null) return { start: dateOfDay(dayNumber(last) - Number(days[1]) + 1), end: last };
  const [year, month] = [last.slice(0, 4), Number(last.slice(5, 7))];
  switch (text) {
    case "1y":
      return { start: dateOfDay(dayNumber(last) - 364), end: last };
    case "mtd":
      return { start: `${last.slice(0, 7)}-01`, end: last };
    case "qtd":
      return { start: `${year}-${String(month - ((month - 1) % 3)).padStart(2, "0")}-01`, end: last };
    case "ytd":
      return { start: `${year}-01-01`, end: last };
    case "itd":
      return { start: first, end: last };
    default:
      throw new ReportRefused(
        `${JSON.stringify(text)} is no window. Windows are ${windowNames.join(", ")} and START..END, such as 2026-01-01..2026-03-31.`,
      );
  }
}
