// How much of what strangers try is recorded: twenty a minute, and with the next one how many more there were.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";

const attemptsPerMinuteMax = 20;
const minuteMs = 60_000;

export interface AttemptWindow {
  /** How many went unrecorded before this one; undefined when this one is too many itself. */
  admit(isFull?: boolean): number | undefined;
}

export function attemptWindow(clock: Clock): AttemptWindow {
  let since: Instant | undefined;
  let count = 0;
  let more = 0;
  return {
    admit(isFull = false) {
      const now = clock.now();
      if (since === undefined || millisecondsBetween(since, now) >= minuteMs || millisecondsBetween(since, now) < 0) {
        since = now;
        count = 0;
      }
      if (count >= attemptsPerMinuteMax || isFull) {
        more += 1;
        return undefined;
      }
      count += 1;
      const before = more;
      more = 0;
      return before;
    },
  };
}
