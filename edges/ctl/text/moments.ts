// Moments as people type them: a span back from now, a date, or RFC 3339.
import { format, type Instant, tryParse } from "../../../contracts/src/instant.ts";
import { usageRefusal } from "../failure.ts";
import type { Context } from "../verbs/verb.ts";
import { secondsOf } from "./text.ts";

/** Of --since: `30m` back from now, or the moment itself; undefined when none was typed. */
export function sinceOf(context: Context): string | undefined {
  const typed = context.option("since");
  if (typed === undefined) return undefined;
  const seconds = secondsOf(typed);
  if (seconds !== undefined) return format((context.clock.now() - seconds * 1_000_000) as Instant);
  return format(momentOf("since", typed, "start"));
}

const dayUs = 86_400_000_000;

/** A date is its first moment, or the first moment after it; all in UTC. */
export function momentOf(option: string, typed: string, edge: "start" | "end"): Instant {
  const day = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(typed) ? tryParse(`${typed}T00:00:00Z`) : undefined;
  const at = day ?? tryParse(typed);
  if (at === undefined) {
    throw usageRefusal(
      `--${option} is a date or a moment, such as 2026-11-15 or 2026-11-15T13:30:00Z; "${typed}" is not.`,
    );
  }
  return day !== undefined && edge === "end" ? ((at + dayUs) as Instant) : at;
}
