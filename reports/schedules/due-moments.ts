// Which moments of a schedule are owed: the newest one is made, also late, as long as it is less than a day old; the others were missed.
import { type Instant, minusMilliseconds } from "../../contracts/src/instant.ts";

const hourMs = 3_600_000;
/** How late a report is still made up. */
const madeUpMsMax = 24 * hourMs;
/** How far back moments are looked for one by one: beyond it nobody misses them. */
const lookBackMs = 7 * 24 * hourMs;
/** Of what was missed the newest so many are entered. */
const missedMax = 100;

interface DueMoments {
  readonly due?: Instant;
  /** Oldest first. */
  readonly missed: readonly Instant[];
  /** Missed and not entered. */
  readonly passedOver: number;
  /** Up to here every moment is answered for. */
  readonly considered: Instant;
}

export function dueMoments(
  next: (after: Instant) => Instant | undefined,
  considered: Instant,
  now: Instant,
): DueMoments {
  const horizon = minusMilliseconds(now, lookBackMs);
  const found: Instant[] = [];
  let passedOver = 0;
  for (let at = next(considered > horizon ? considered : horizon); at !== undefined && at <= now; at = next(at)) {
    found.push(at);
    // One more than is entered, because the newest may be made.
    if (found.length > missedMax + 1) {
      found.shift();
      passedOver += 1;
    }
  }
  const newest = found.at(-1);
  if (newest === undefined) return { missed: [], passedOver, considered: considered > now ? considered : now };
  const isOwed = newest > minusMilliseconds(now, madeUpMsMax);
  return { ...(isOwed && { due: newest }), missed: isOwed ? found.slice(0, -1) : found, passedOver, considered: now };
}
