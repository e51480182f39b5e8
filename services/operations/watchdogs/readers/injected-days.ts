// The dates of injected days: consecutive ones, the last of them today.
import { format, type Instant, minusMilliseconds } from "../../../../contracts/src/instant.ts";

const dayMs = 86_400_000;

/** Oldest first. */
export function daysUntil(at: Instant, count: number): readonly string[] {
  return Array.from({ length: count }, (_unused, place) =>
    format(minusMilliseconds(at, (count - 1 - place) * dayMs)).slice(0, 10),
  );
}
