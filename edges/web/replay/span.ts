// What the address says of a replay: of which time it is, where its clock stands first, and how fast it goes.
import {
  earlier,
  fromUnixMs,
  type Instant,
  millisecondsPerDay,
  minusMilliseconds,
  tryParse,
} from "../../../contracts/src/instant.ts";
import { msOf } from "../model/moments.ts";
import { rangeOf } from "../model/range.ts";
import type { DeskSearch } from "../model/search.ts";
import { type Speed, speeds } from "./replay-clock.ts";

const speedUsual: Speed = 60;

export function speedOf({ speed }: DeskSearch): Speed {
  return speeds.find((one) => String(one) === speed) ?? speedUsual;
}

interface Span {
  readonly start: Instant;
  readonly to: Instant | undefined;
  readonly at: Instant;
}

/** The range of the address, the last day where it has none; the moment that it names, with the day before it where it lies before the range, else where the range begins if it names one, else its end. */
export function spanOf({ from, to, at }: DeskSearch, now: Instant): Span {
  const { fromMs, toMs } = rangeOf({ from, to }, msOf(now));
  const last = exact(to, toMs);
  const end = last === undefined ? now : earlier(last, now);
  const first = exact(from, fromMs);
  const start = first === undefined ? minusMilliseconds(end, millisecondsPerDay) : earlier(first, end);
  const asked = at === undefined ? undefined : tryParse(at);
  // A moment before the range is looked at where it lies, with the day that led to it: what happened then is understood by what came before.
  const isBefore = asked !== undefined && asked < start;
  return {
    start: isBefore ? minusMilliseconds(asked, millisecondsPerDay) : start,
    to: last,
    at: asked ?? (first === undefined ? end : start),
  };
}

/** A moment to its microsecond, as events have it; else as the range has it. */
function exact(text: string | undefined, ms: number | undefined): Instant | undefined {
  return tryParse(text ?? "") ?? (ms === undefined ? undefined : fromUnixMs(ms));
}
