// What happened to a fund, as a replay asks for it: the newest before a moment, what came between two moments, and the first of a kind after one. The server
// tells the oldest first, so the newest are found by looking back further and further.
//
//  1. No question reaches beyond the moment that is asked for, or beyond the event that is looked for.
//  2. At most so many events are held; whether there are older ones is said.
import {
  earlier,
  format,
  type Instant,
  later,
  millisecondsPerDay,
  minusMilliseconds,
  parse,
  plusMicroseconds,
  plusMilliseconds,
} from "../../../contracts/src/instant.ts";
import type { CallOptions } from "../../client/src/call-options.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";

export type PastEvent = AnswerOf<"listTimeline">[number];

export interface PastEvents {
  /** Oldest first. */
  readonly events: readonly PastEvent[];
  /** There are older ones that are not held. */
  readonly isCut: boolean;
}

interface Span {
  readonly fundId: string;
  /** RFC 3339, both included. */
  readonly from: string;
  readonly to: string;
}

type Asking = Pick<Client, "listTimeline">;

/** What the server answers about at once. */
export const askedMsMax = 31 * millisecondsPerDay;
const pageSize = 500;
/** What a page of the desk holds. */
export const eventsMax = 2_000;
/** With so many it is not looked back further. */
const eventsEnough = 500;
const firstLookMs = 10 * 60_000;
const lookGrowth = 6;
const firstStretchMs = 3_600_000;

/** The newest up to `to`, as far back as it takes to have enough of them. */
export async function newestEvents(client: Asking, { fundId, from, to }: Span, call: CallOptions): Promise<PastEvents> {
  const [start, end] = [parse(from), parse(to)];
  const earliest = later(start, minusMilliseconds(end, askedMsMax));
  for (let lookMs = firstLookMs; ; lookMs *= lookGrowth) {
    const since = later(earliest, minusMilliseconds(end, lookMs));
    const { events, isWhole } = await eventsBetween(client, { fundId, from: format(since), to }, call);
    if (!isWhole) return newestOfMany(client, { fundId, from: format(since), to }, call);
    if (events.length >= eventsEnough || since <= earliest) {
      return { events: events.slice(-eventsMax), isCut: since > start || events.length > eventsMax };
    }
  }
}

/** Where more happened than is held, by halves: the later half of a time that still has too many. */
async function newestOfMany(client: Asking, { fundId, from, to }: Span, call: CallOptions): Promise<PastEvents> {
  const end = parse(to);
  for (let lookMs = (end - parse(from)) / 2_000; lookMs >= 1; lookMs /= 2) {
    const since = format(minusMilliseconds(end, Math.ceil(lookMs)));
    const { events, isWhole } = await eventsBetween(client, { fundId, from: since, to }, call);
    if (isWhole) return { events: events.slice(-eventsMax), isCut: true };
  }
  return { events: [], isCut: true };
}

/** All of them, or `isWhole` false where there are more than are held. */
export async function eventsBetween(
  client: Asking,
  { fundId, from, to }: Span,
  call: CallOptions,
): Promise<{ readonly events: readonly PastEvent[]; readonly isWhole: boolean }> {
  const events: PastEvent[] = [];
  while (events.length <= eventsMax) {
    const last = events.at(-1)?.event_id;
    const after = last === undefined ? {} : { after: last };
    const page = await client.listTimeline({ fundId, from, to, countMax: pageSize, ...after }, call);
    events.push(...page);
    if (page.length < pageSize) return { events, isWhole: true };
  }
  return { events, isWhole: false };
}

export type Sought = "any" | "halt" | "rejection";

interface SoughtAs {
  readonly kinds?: string;
  readonly denied?: boolean;
  /** Of those that the server finds. */
  readonly isIt?: (event: PastEvent) => boolean;
}

const soughtAs: Readonly<Record<Sought, SoughtAs>> = {
  any: {},
  halt: { kinds: "halt", isIt: isLatch },
  rejection: { kinds: "decision", denied: true },
};

/** Where something was halted: what was proven after it and who lifted it are of the kind as well. */
function isLatch({ kind, data }: Pick<PastEvent, "kind" | "data">): boolean {
  return kind === "halt" && typeof data["severity"] === "string" && data["lifted_at"] === undefined;
}

/**
 * The first after `after`, up to and with `to`: it alone is asked for, so that nothing later than it is known. By stretches, because many decisions are gone
 * through before one that denied.
 */
export async function firstEvent(
  client: Asking,
  { fundId, after, to, sought }: { fundId: string; after: Instant; to: Instant; sought: Sought },
  call: CallOptions,
): Promise<PastEvent | undefined> {
  let stretchMs = firstStretchMs;
  for (let from = plusMicroseconds(after, 1); from <= to; ) {
    const end = earlier(to, plusMilliseconds(from, stretchMs));
    const found = await firstOfStretch(client, { fundId, from: format(from), to: format(end) }, sought, call);
    if (found !== undefined) return found;
    from = plusMicroseconds(end, 1);
    stretchMs = Math.min(askedMsMax, stretchMs * lookGrowth);
  }
  return undefined;
}

/** One by one, so that none behind it is known. */
async function firstOfStretch(
  client: Asking,
  span: Span,
  sought: Sought,
  call: CallOptions,
): Promise<PastEvent | undefined> {
  const { isIt, ...named } = soughtAs[sought];
  for (let passed: string | undefined; ; ) {
    const after = passed === undefined ? {} : { after: passed };
    const [found] = await client.listTimeline({ ...span, ...named, ...after, countMax: 1 }, call);
    if (found === undefined || isIt === undefined || isIt(found)) return found;
    passed = found.event_id;
  }
}
