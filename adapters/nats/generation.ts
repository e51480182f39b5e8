// A durable subscription's place in the stream. Whoever begins to handle opens a new generation of its consumer, which starts
// right behind what was finished, and deletes the older ones. Going on with the old consumer would break the order: what
// it had sent to a dead process or a dead connection comes again only after a wait, behind later events. A crash between
// the two steps is harmless: the newest generation counts.
//
//  1. The highest generation that exists is the subscription's place; a name without one is new.
//  2. The consumer's description records a cursor: everything up to it is finished. Trimming never passes it, so a stream that
//     begins behind it has lost events that this subscription was promised: a gap, which is reported.
//  3. The acknowledgement floor, which is ahead of the recorded cursor, is where handling goes on. It cannot show a gap
//     itself, because the server moves it along when messages are purged.
import { AckPolicy, type ConsumerInfo, DeliverPolicy, ReplayPolicy } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { format, fromUnixMs } from "../../contracts/src/instant.ts";
import { can } from "./capabilities.ts";
import type { NatsLink } from "./connect.ts";
import { serverFilter } from "./filter.ts";

export interface GenerationOptions {
  readonly streamName: string;
  readonly name: string;
  readonly patterns: readonly string[];
  readonly ackWaitMs: number;
  readonly pendingMax: number;
}

/** What this process itself knows: the newest event it finished, and when the server had stored that. */
export interface Finished {
  readonly sequence: number;
  readonly storedAtMs: number;
}

export interface Gap {
  readonly afterSequence: number;
  readonly firstKeptSequence: number;
}

export interface Generation {
  readonly consumerName: string;
  /** Handling goes on behind this sequence. */
  readonly after: number;
  /** Events that are gone although this subscription had not finished them. */
  readonly gap?: Gap;
  /** True when the stream no longer holds what we finished: it lost its end, and the relay sends that again. */
  readonly rolledBack: boolean;
}

const cursorPattern = /^cursor (\d+)$/;
/** Clocks of a restarted server may differ a little; what comes again because of this margin is recognised by its id. */
const rollbackMarginMs = 10_000;

export async function openGeneration(
  link: NatsLink,
  options: GenerationOptions,
  finished: Finished | undefined,
): Promise<Generation> {
  const { streamName, name } = options;
  const { state } = await link.manager.streams.info(streamName);
  const existing = await generationsOf(link, streamName, name);
  const newest = existing.at(-1);
  const recorded = Math.max(newest === undefined ? 0 : recordedCursor(newest.info), finished?.sequence ?? 0);
  const place = Math.max(recorded, newest?.info.ack_floor.stream_seq ?? 0);
  const intact = place <= state.last_seq && (await isStored(link, streamName, finished, state.first_seq));
  const isNew = newest === undefined && finished === undefined;
  const after = isNew ? 0 : intact ? place : Math.min(place, state.last_seq);
  const number = (newest?.number ?? 0) + 1;
  const consumerName = `${consumerToken(name)}-g${number}`;
  const start = Math.max(after + 1, state.first_seq, 1);
  const byTime = !intact && finished !== undefined;
  const filter = serverFilter(options.patterns, can(link.server(), "filter_subjects"));
  const [onlyFilter] = filter.subjects;
  await link.manager.consumers.add(streamName, {
    durable_name: consumerName,
    description: `cursor ${byTime ? 0 : start - 1}`,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(options.ackWaitMs),
    max_ack_pending: options.pendingMax,
    max_deliver: -1,
    replay_policy: ReplayPolicy.Instant,
    ...(byTime
      ? {
          deliver_policy: DeliverPolicy.StartTime,
          opt_start_time: format(fromUnixMs(finished.storedAtMs - rollbackMarginMs)),
        }
      : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: start }),
    ...(filter.subjects.length === 1 && onlyFilter !== undefined
      ? { filter_subject: onlyFilter }
      : { filter_subjects: [...filter.subjects] }),
  });
  for (const old of existing) await deleteConsumer(link, streamName, old.info.name);
  const gap =
    !isNew && intact && state.first_seq > recorded + 1
      ? { gap: { afterSequence: recorded, firstKeptSequence: state.first_seq } }
      : {};
  return { consumerName, after: start - 1, rolledBack: !isNew && !intact, ...gap };
}

/** Whether the stream still holds the very message that we finished last; one under its number with another time is not it. */
async function isStored(
  link: NatsLink,
  streamName: string,
  finished: Finished | undefined,
  firstSequence: number,
): Promise<boolean> {
  if (finished === undefined || finished.sequence === 0 || finished.sequence < firstSequence) return true;
  const message = await link.manager.streams.getMessage(streamName, { seq: finished.sequence });
  // A millisecond of tolerance: nanoseconds do not fit a number exactly.
  return message !== null && Math.abs(message.time.getTime() - finished.storedAtMs) <= 1;
}

/** Writes how far everything is finished; trimming and the search for gaps go by it. */
export async function recordCursor(
  link: NatsLink,
  streamName: string,
  consumerName: string,
  sequence: number,
): Promise<void> {
  await link.manager.consumers.update(streamName, consumerName, { description: `cursor ${sequence}` });
}

/** The recorded cursor of one of our consumers, and for a stranger's its acknowledgement floor. */
export function recordedCursor(info: ConsumerInfo): number {
  const found = cursorPattern.exec(info.config.description ?? "");
  return found?.[1] === undefined ? info.ack_floor.stream_seq : Number(found[1]);
}

/** Deletes every generation, so that the name begins anew and no longer holds back trimming. */
export async function forgetGenerations(link: NatsLink, streamName: string, name: string): Promise<void> {
  for (const { info } of await generationsOf(link, streamName, name)) {
    await deleteConsumer(link, streamName, info.name);
  }
}

async function generationsOf(
  link: NatsLink,
  streamName: string,
  name: string,
): Promise<readonly { readonly number: number; readonly info: ConsumerInfo }[]> {
  const prefix = `${consumerToken(name)}-g`;
  const found: { number: number; info: ConsumerInfo }[] = [];
  for await (const info of link.manager.consumers.list(streamName)) {
    const digits = info.name.startsWith(prefix) ? info.name.slice(prefix.length) : "";
    if (/^\d+$/.test(digits)) found.push({ number: Number(digits), info });
  }
  return found.sort((one, other) => one.number - other.number);
}

/** A consumer that is already gone is what we wanted. */
async function deleteConsumer(link: NatsLink, streamName: string, consumerName: string): Promise<void> {
  await link.manager.consumers.delete(streamName, consumerName).catch((thrown: unknown) => {
    if (!isNotFound(thrown)) throw thrown;
  });
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof Error && /consumer not found/i.test(thrown.message);
}

/** Consumer names may hold neither dots nor spaces; every other name gets one of its own. */
export function consumerToken(name: string): string {
  return name.replace(/[^A-Za-z0-9-]/g, (character) =>
    character === "." ? "_" : `=${character.codePointAt(0)?.toString(16) ?? ""}=`,
  );
}
