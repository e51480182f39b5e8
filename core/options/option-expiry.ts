// When an option ends: with the date of its expiry, in UTC, as the paper market has it.
import { daysFromCivil, fromUnixMs, type Instant, tryParseDate } from "../../contracts/src/instant.ts";

const msPerDay = 86_400_000;

/** The first moment after that date; undefined for what is no date. */
export function endOfDate(date: string): Instant | undefined {
  const found = tryParseDate(date);
  return found === undefined ? undefined : fromUnixMs((daysFromCivil(found) + 1) * msPerDay);
}
