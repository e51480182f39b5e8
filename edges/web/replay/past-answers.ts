// Answers about the past before anything of them is shown: events each once, and nothing later than the moment that was asked for.
import { format, type Instant, parse } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { eventsMax, type PastEvent, type PastEvents } from "./past-events.ts";

export type PastMoment = AnswerOf<"getMoment">;
export type PastBars = AnswerOf<"listReplayBars">;

/** An answer that says no: a symbol that there is not has no bars, and everything else goes on. */
export function isRefused(thrown: unknown): boolean {
  const { status } = thrown as { readonly status?: unknown };
  return status === 400 || status === 404;
}

/** What is known with what came: each once, by when it was recorded. */
export function together(before: PastEvents, more: readonly PastEvent[]): PastEvents {
  const known = new Set(before.events.map(({ event_id }) => event_id));
  const fresh = more.filter(({ event_id }) => !known.has(event_id));
  if (fresh.length === 0) return { events: before.events, isCut: before.isCut };
  const events = [...before.events, ...fresh].sort((one, other) =>
    one.at < other.at ? -1 : one.at > other.at ? 1 : 0,
  );
  return { events: events.slice(-eventsMax), isCut: before.isCut || events.length > eventsMax };
}

export function checkedEvents(found: PastEvents, target: Instant): PastEvents {
  for (const { at } of found.events) mustBeBy(at, target);
  return found;
}

export function checkedMoment(found: PastMoment, target: Instant): PastMoment {
  mustBeBy(found.at, target);
  mustBeBy(found.nav.as_of, target);
  for (const { priced_at } of found.positions) mustBeBy(priced_at, target);
  return found;
}

export function checkedBars(bars: PastBars, target: Instant): PastBars {
  for (const { start } of bars) mustBeBy(start, target);
  return bars;
}

function mustBeBy(text: string | undefined, target: Instant): void {
  if (text === undefined || parse(text) <= target) return;
  throw new Error(`The answer has something of ${text} in it, which is later than ${format(target)}: it is not shown.`);
}
