// Which second, minute, hour and day a value belongs to, the same for every store.
import { daysFromCivil, type Instant, microsecondsPerMillisecond, tryParseDate } from "../../contracts/src/instant.ts";
import type { NavEvery, NavPoint } from "../../ports/ledger-records.ts";

const secondUs = 1_000 * microsecondsPerMillisecond;
const dayUs = 86_400 * secondUs;
const widthsUs: Readonly<Record<NavEvery, number>> = {
  second: secondUs,
  minute: 60 * secondUs,
  hour: 3_600 * secondUs,
  day: dayUs,
};

export const everyTime: readonly NavEvery[] = ["second", "minute", "hour", "day"];

/** The beginning of that time in microseconds; of a day, the midnight in UTC of the date that it is named after. */
export function bucketUs(every: NavEvery, { at, tradingDay }: Pick<NavPoint, "at" | "tradingDay">): number {
  const date = every === "day" && tradingDay !== undefined ? tryParseDate(tradingDay) : undefined;
  if (date !== undefined) return daysFromCivil(date) * dayUs;
  return Math.floor(at / widthsUs[every]) * widthsUs[every];
}

/** A trading day lasts until the next one begins, over weekends and holidays, and its date may be ahead of UTC's. */
const dayLastsUs = 30 * dayUs;
const dayAheadUs = dayUs;

/** Bounds, both included, of the buckets that may hold a value of that period. */
export function bucketBounds(every: NavEvery, from: Instant, to: Instant): readonly [number, number] {
  if (every === "day") return [from - dayLastsUs, to + dayAheadUs];
  return [Math.floor(from / widthsUs[every]) * widthsUs[every], to];
}
