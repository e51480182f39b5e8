// What people ask about the past, checked before anything is looked up: moments that have been, periods that end, kinds and intervals that there are.
import * as instant from "../../../contracts/src/instant.ts";
import { isAhead } from "../../../core/state/dated.ts";
import { invalid, quoted } from "../risk-queries-arguments.ts";

const periodDaysMax = 31;
const periodUsMax = periodDaysMax * instant.millisecondsPerDay * instant.microsecondsPerMillisecond;

/** Now when nobody says. A clock that is a little ahead of ours means now. */
export function askedMoment(name: string, text: string | undefined, now: instant.Instant): instant.Instant {
  if (text === undefined) return now;
  const at = instant.tryParse(text);
  if (at === undefined) throw invalid(`${name} is ${quoted(text)}: give a time such as 2026-11-15T13:30:00Z.`);
  if (isAhead(at, now)) throw invalid(`${name} is ${quoted(text)}, which lies in the future: nothing is known of it.`);
  if (at < instant.fromUnixMs(0)) throw invalid(`${name} is ${quoted(text)}: the past begins at 1970-01-01.`);
  return instant.earlier(at, now);
}

export interface Period {
  readonly from: instant.Instant;
  readonly to: instant.Instant;
}

/** The day before its end when nobody says where it begins. */
export function askedPeriod(from: string | undefined, to: string | undefined, now: instant.Instant): Period {
  const end = askedMoment("to", to, now);
  const begin =
    from === undefined ? instant.minusMilliseconds(end, instant.millisecondsPerDay) : askedMoment("from", from, now);
  if (begin > end) {
    throw invalid(`from (${instant.format(begin)}) is after to (${instant.format(end)}): give a from before to.`);
  }
  if (end - begin > periodUsMax) {
    throw invalid(`That are more than ${periodDaysMax} days: ask for a shorter time between from and to.`);
  }
  return { from: begin, to: end };
}
