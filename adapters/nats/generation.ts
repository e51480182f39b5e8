// A durable subscription's place in the stream. Whoever begins to handle opens a new generation of its consumer, which starts
// right behind what was finished, and deletes the older ones. Going on with the old consumer would break the order: what
// it had sent to a dead process or a dead connection comes again only after a wait, behind later events. A crash between
// the two steps is harmless: the newest generation counts.
//
//  1. The highest generation that exists is the subscription's place; a name without one is new. A running subscription whose
//     generation is gone, without a later one in its place, was forgotten.
//  2. The consumer's description records a place: everything up to it is finished. Trimming never passes it, so a stream that
//     begins behind it has lost events that this subscription was promised: a gap, which is reported.
//  3. Handling goes on behind the recorded place or behind what this process remembers, whichever is further, and only while
//     the stream still holds that very message, known by the time it was stored at. The server's acknowledgement floor is
//     further still, but it is a bare number: a stream that lost its end gives the number to another event, and nobody
//     could tell. What comes again because of this after a crash has its old id.
//  4. A stream that lost its end is read again from the time of the last finished message: what the relay publishes
//     anew is younger.
import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  ReplayPolicy,
  type StreamConfig,
  type StreamState,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { format, fromUnixMs } from "../../contracts/src/instant.ts";
import { can } from "./capabilities.ts";
import type { NatsLink } from "./connect.ts";
import {
  deleteConsumer,
  generationName,
  generationsOf,
  type Place,
  placeText,
  recordedPlace,
} from "./consumer-list.ts";
import { belowLogins, serverFilter } from "./filter.ts";
import { byLogins } from "./stream.ts";

interface GenerationOptions {
  readonly streamName: string;
  readonly name: string;
  readonly patterns: readonly string[];
  readonly ackWaitMs: number;
  readonly pendingMax: number;
}

/** The newest event that this process itself finished, and when the server had stored that. */
export interface Finished {
  readonly sequence: number;
  readonly storedAtMs: number;
}

/** The generation that a running subscription saw last: by it it notices that it was forgotten. */
export interface Known {
  readonly streamCreated: string;
  readonly number: number;
}

interface Gap {
  readonly afterSequence: number;
  readonly firstKeptSequence: number;
}

export interface Generation {
  readonly consumerName: string;
  readonly known: Known;
  /** What its description says: handling goes on behind this. */
  readonly after: Place;
  /** Events that are gone although this subscription had not finished them. */
  readonly gap?: Gap;
  /** True when the stream no longer holds what we finished: it lost its end, and the relay sends that again. */
  readonly rolledBack: boolean;
}

/** Clocks of a restarted server may differ a little; what comes again because of this margin is recognised by its id. */
const rollbackMarginMs = 10_000;

/** Enters the name if it is new, so that trimming waits for it from now on and a later `forget` is noticed. */
export async function registerGeneration(link: NatsLink, options: GenerationOptions): Promise<Known> {
  const { streamName, name } = options;
  const { state, created, config } = await link.manager.streams.info(streamName);
  const found = (await generationsOf(link, streamName, name)).at(-1);
  if (found !== undefined) return { streamCreated: created, number: found.number };
  const info = await addConsumer(link, options, config, 1, beginning(undefined, true, state)).catch(
    async (thrown: unknown) => {
      // Somebody else registered the name in the same moment, with a stream that began elsewhere; or it is a real failure.
      if ((await generationsOf(link, streamName, name)).length === 0) throw thrown;
      return undefined;
    },
  );
  const number = (await generationsOf(link, streamName, name)).at(-1)?.number ?? 1;
  // Somebody else has gone on from a first generation of his own: ours would only hold back trimming.
  if (info !== undefined && number > 1) await deleteConsumer(link, streamName, info.name);
  return { streamCreated: created, number };
}

export async function openGeneration(
  link: NatsLink,
  options: GenerationOptions,
  finished: Finished | undefined,
  known: Known | undefined,
): Promise<Generation | "forgotten"> {
  const { streamName, name } = options;
  const { state, created, config } = await link.manager.streams.info(streamName);
  const existing = await generationsOf(link, streamName, name);
  const newest = existing.at(-1);
  const place = further(newest === undefined ? undefined : recordedPlace(newest.info), finished);
  const intact = place === undefined || (await isStored(link, streamName, place, state));
  // What is there may be the generation that we knew or one that followed it; after forgetting, numbers begin anew.
  // A stream that was made anew or lost its end may have lost its consumers as well; that is no request to forget.
  if (intact && known?.streamCreated === created && (newest?.number ?? 0) < known.number) return "forgotten";
  const begin = beginning(place, intact, state);
  const number = (newest?.number ?? 0) + 1;
  const info = await addConsumer(link, options, config, number, begin);
  for (const old of existing) await deleteConsumer(link, streamName, old.info.name);
  const gap =
    place !== undefined && intact && state.first_seq > place.sequence + 1
      ? { gap: { afterSequence: place.sequence, firstKeptSequence: state.first_seq } }
      : {};
  return {
    consumerName: info.name,
    known: { streamCreated: created, number },
    after: begin.place,
    rolledBack: !intact,
    ...gap,
  };
}

interface Beginning {
  /** What the new consumer's description records. */
  readonly place: Place;
  /** Set when handling begins at a time instead of behind the place. */
  readonly fromMs?: number;
}

function beginning(place: Place | undefined, intact: boolean, state: StreamState): Beginning {
  const first = firstOf(state);
  if (place !== undefined && intact && place.sequence + 1 >= first) return { place };
  const start = { place: { sequence: first - 1, storedAtMs: undefined } };
  if (intact || place?.storedAtMs === undefined) return start;
  return { ...start, fromMs: place.storedAtMs - rollbackMarginMs };
}

function firstOf(state: StreamState): number {
  return Math.max(state.first_seq, 1);
}

function further(recorded: Place | undefined, finished: Finished | undefined): Place | undefined {
  if (recorded === undefined || finished === undefined) return recorded ?? finished;
  return finished.sequence >= recorded.sequence ? finished : recorded;
}

/** Whether the stream still holds the very message of that place; one under its number with another time is not it. */
async function isStored(link: NatsLink, streamName: string, place: Place, state: StreamState): Promise<boolean> {
  if (place.sequence > state.last_seq) return false;
  // Before the first message there is nothing to compare; what was trimmed had been finished by everybody.
  if (place.sequence < firstOf(state) || place.storedAtMs === undefined) return true;
  const message = await link.manager.streams.getMessage(streamName, { seq: place.sequence });
  // A millisecond of tolerance: nanoseconds do not fit a number exactly.
  return message !== null && Math.abs(message.time.getTime() - place.storedAtMs) <= 1;
}

async function addConsumer(
  link: NatsLink,
  options: GenerationOptions,
  stream: Pick<StreamConfig, "subjects">,
  number: number,
  begin: Beginning,
): Promise<ConsumerInfo> {
  const theirs = stream.subjects.includes(byLogins) ? belowLogins(options.patterns) : [];
  const filter = serverFilter([...options.patterns, ...theirs], can(link.server(), "filter_subjects"));
  const [onlyFilter] = filter.subjects;
  return link.manager.consumers.add(options.streamName, {
    durable_name: generationName(options.name, number),
    description: placeText(begin.place),
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(options.ackWaitMs),
    max_ack_pending: options.pendingMax,
    max_deliver: -1,
    replay_policy: ReplayPolicy.Instant,
    ...(begin.fromMs === undefined
      ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: begin.place.sequence + 1 }
      : { deliver_policy: DeliverPolicy.StartTime, opt_start_time: format(fromUnixMs(begin.fromMs)) }),
    ...(filter.subjects.length === 1 && onlyFilter !== undefined
      ? { filter_subject: onlyFilter }
      : { filter_subjects: [...filter.subjects] }),
  });
}
