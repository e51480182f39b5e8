// One term of a durable subscription: from opening a generation of its consumer until the connection, the leadership or
// the subscription ends. Within a term events arrive in stream order and are handled one at a time.
//
//  1. The server sends at most `queueMax` events that are not acknowledged: that is the bound of the queue here.
//  2. Everything queued or in hand is kept alive by heartbeats, so a slow handler never has its successors sent again.
//     What is finished is acknowledged within a turn or two of the event loop, long before the server would send it again.
//  3. Deliveries are numbered without holes. A hole means that one was lost on the way: the term ends at once, because
//     the server would send the lost event only later, behind its successors.
import type { JsMsg } from "@nats-io/jetstream";
import { messageOf } from "../../contracts/src/fault.ts";
import { fromMicroseconds, toUnixMs, tryParse } from "../../contracts/src/instant.ts";
import type { Progress } from "./caught-up.ts";
import type { NatsLink } from "./connect.ts";
import { deleteConsumer, type Place, recordPlace } from "./consumer-list.ts";
import { type Finished, type Generation, type Known, openGeneration } from "./generation.ts";
import { type Fate, type HandlingContext, handleOne } from "./handle-one.ts";
import { type Requests, readTogether } from "./read-together.ts";
import type { Arrival, Decoded } from "./wire.ts";

export interface TermContext extends HandlingContext {
  readonly link: NatsLink;
  readonly streamName: string;
  readonly queueMax: number;
  readonly ackWaitMs: number;
  readonly recordMs: number;
  /** Undefined when one message after the other is all that it wants. */
  readonly requests: Requests | undefined;
  /** What this running subscription has finished, over all its terms. */
  finished(): Finished | undefined;
  finish(finished: Finished, fate: Fate): void;
  /** The generation that it saw last, over all its terms. */
  known(): Known | undefined;
  opened(generation: Generation): void;
  /** Tells that the generation is gone because somebody forgot the name: there must be no further term. */
  foundForgotten(): void;
  /** True once the name was forgotten here or elsewhere. */
  isForgotten(): boolean;
  /** How far the running term has come; undefined at its end. */
  progress(progress: Progress | undefined): void;
}

interface TermState {
  readonly queue: JsMsg[];
  /** What those of the queue are that were read together. */
  readonly read: Map<JsMsg, Decoded | undefined>;
  inHand: JsMsg | undefined;
  lastDelivery: number;
  lastReceived: number;
  /** Everything up to here is finished. */
  through: Place;
  /** The sequence that the consumer's description says; it never goes back, because trimming has followed it. */
  recorded: number;
  /** Handled, and to be acknowledged together: one write to the socket instead of one for each. */
  readonly unacknowledged: JsMsg[];
  cancelAcknowledging: (() => void) | undefined;
  wake: () => void;
}

const acknowledgedTogetherMax = 64;
const asideEveryMs = 1_000;

/** Runs until the signal aborts or something makes a new term necessary; says which in one sentence. */
export async function runTerm(context: TermContext, signal: AbortSignal): Promise<string> {
  const { link, streamName } = context;
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  let reason = "stopped";
  const end = (why: string): void => {
    if (!ended.signal.aborted) reason = why;
    ended.abort();
  };
  const lost = link.lost();
  const onLost = (): void => end("the connection was lost");
  lost.addEventListener("abort", onLost);
  try {
    const opening = openGeneration(
      link,
      {
        streamName,
        name: context.name,
        patterns: context.patterns,
        ackWaitMs: context.ackWaitMs,
        pendingMax: context.queueMax,
      },
      context.finished(),
      context.known(),
    );
    const generation = await link.unlessLost(opening);
    if (generation === "forgotten") {
      context.foundForgotten();
      return "it was forgotten";
    }
    context.opened(generation);
    const state = startState(generation);
    await context.aside.load();
    const consumer = await link.unlessLost(link.stream.consumers.get(streamName, generation.consumerName));
    const batch = Math.min(context.queueMax, 500);
    const consuming = consumer.consume({
      max_messages: batch,
      threshold_messages: Math.floor(batch / 2),
      expires: 10_000,
      callback: (message) => receive(state, message, end),
    });
    const messages = await link.unlessLost(consuming);
    void watchNotifications(messages.status(), end);
    const cancelHeartbeats = every(context, context.ackWaitMs / 3, () => keepAlive(state), stop);
    // Somebody may ask for what was put aside while nothing comes.
    const cancelAside = every(context, asideEveryMs, () => state.wake(), stop);
    const cancelRecord = every(context, context.recordMs, () => void record(context, state, generation), stop);
    context.progress(progressOf(context, state, generation));
    try {
      await pump(context, state, stop, signal);
    } finally {
      context.progress(undefined);
      cancelHeartbeats();
      cancelRecord();
      cancelAside();
      messages.stop();
      await leave(context, state, generation);
    }
    return reason;
  } finally {
    lost.removeEventListener("abort", onLost);
  }
}

function startState(generation: Generation): TermState {
  return {
    queue: [],
    read: new Map(),
    inHand: undefined,
    lastDelivery: 0,
    lastReceived: 0,
    through: generation.after,
    recorded: generation.after.sequence,
    unacknowledged: [],
    cancelAcknowledging: undefined,
    wake: () => undefined,
  };
}

function receive(state: TermState, message: JsMsg, end: (why: string) => void): void {
  const { deliverySequence, streamSequence } = message.info;
  if (deliverySequence !== state.lastDelivery + 1) {
    end(`delivery ${state.lastDelivery + 1} is missing`);
    state.wake();
    return;
  }
  state.lastDelivery = deliverySequence;
  if (streamSequence <= state.lastReceived) {
    // Sent again: what is still queued will be acknowledged in its turn, what is finished was acknowledged in vain.
    if (streamSequence <= state.through.sequence) message.ack();
    return;
  }
  state.lastReceived = streamSequence;
  state.queue.push(message);
  state.wake();
}

/** Handles what is queued, one after the other, until told to stop. */
async function pump(context: TermContext, state: TermState, stop: AbortSignal, asked: AbortSignal): Promise<void> {
  const onStop = (): void => state.wake();
  stop.addEventListener("abort", onStop);
  try {
    while (!stop.aborted) {
      if (context.aside.isDue()) await context.aside.work(() => asked.aborted);
      if (stop.aborted) return;
      const message = state.queue.shift();
      if (message === undefined) {
        await new Promise<void>((resolve) => {
          state.wake = resolve;
          if (stop.aborted || state.queue.length > 0) resolve();
        });
        continue;
      }
      state.inHand = message;
      // A lost connection does not interrupt the tries of the event in hand; being told to stop does.
      if (!(await readAhead(context, state, message, asked))) return;
      const read = state.read.get(message);
      state.read.delete(message);
      const fate = await handleOne(context, arrivalOf(message), asked, read);
      state.inHand = undefined;
      if (fate === "abandoned") return;
      finishOne(context, state, message, fate);
    }
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}

/** Reads what lies there together, unless that was done; false when told to stop meanwhile. */
async function readAhead(context: TermContext, state: TermState, next: JsMsg, asked: AbortSignal): Promise<boolean> {
  if (context.requests === undefined || state.read.has(next)) return true;
  const messages = [next, ...state.queue];
  const read = await readTogether(context, context.requests, messages.map(arrivalOf), asked);
  if (read === "stopped") return false;
  for (const [index, message] of messages.entries()) state.read.set(message, read[index]);
  return true;
}

function finishOne(context: TermContext, state: TermState, message: JsMsg, fate: Fate): void {
  const sequence = message.info.streamSequence;
  const finished = { sequence, storedAtMs: Math.floor(message.info.timestampNanos / 1_000_000) };
  state.through = finished;
  context.finish(finished, fate);
  if (fate === "parked") message.term();
  else acknowledgeSoon(context, state, message);
}

function acknowledgeSoon(context: TermContext, state: TermState, message: JsMsg): void {
  state.unacknowledged.push(message);
  // The server stops sending at `queueMax` unacknowledged events, so a short queue cannot wait for many.
  if (state.unacknowledged.length >= Math.min(acknowledgedTogetherMax, context.queueMax / 4))
    acknowledge(context, state);
  else state.cancelAcknowledging ??= context.timers.after(0, () => acknowledge(context, state));
}

function acknowledge(context: TermContext, state: TermState): void {
  state.cancelAcknowledging?.();
  state.cancelAcknowledging = undefined;
  // Without a connection the next generation begins behind what was finished, acknowledged or not.
  const isClosed = context.link.connection.isClosed();
  for (const message of state.unacknowledged.splice(0)) if (!isClosed) message.ack();
}

function arrivalOf(message: JsMsg): Arrival {
  const { stream, streamSequence, timestampNanos } = message.info;
  const storedUs = Math.floor(timestampNanos / 1_000);
  return {
    subject: message.subject,
    data: message.data,
    headers: message.headers,
    // With the time, because a stream that lost its end gives the same number to another message.
    fallbackId: () => `nats:${stream}:${streamSequence}:${storedUs}`,
    receivedAt: () => fromMicroseconds(storedUs),
  };
}

function keepAlive(state: TermState): void {
  state.inHand?.working();
  for (const message of state.queue) message.working();
}

function every(context: TermContext, ms: number, run: () => void, stop: AbortSignal): () => void {
  let cancel: () => void = () => undefined;
  const arm = (): void => {
    cancel = context.timers.after(ms, () => {
      if (stop.aborted) return;
      run();
      arm();
    });
  };
  arm();
  return () => cancel();
}

function progressOf(context: TermContext, state: TermState, generation: Generation): Progress {
  const { link, streamName } = context;
  return {
    through: () => state.through.sequence,
    streamEnd: async () => (await link.unlessLost(link.manager.streams.info(streamName))).state.last_seq,
    isIdle: () => link.unlessLost(isIdle(context, state, generation)),
  };
}

/** Whether the server has nothing more for it, and nothing is in hand. */
async function isIdle(context: TermContext, state: TermState, generation: Generation): Promise<boolean> {
  const receivedBefore = state.lastDelivery;
  const info = await context.link.manager.consumers.info(context.streamName, generation.consumerName);
  return (
    info.num_pending === 0 &&
    info.num_ack_pending === 0 &&
    state.queue.length === 0 &&
    state.inHand === undefined &&
    receivedBefore === state.lastDelivery &&
    info.delivered.consumer_seq === state.lastDelivery
  );
}

/** An idle subscription with a narrow filter has finished everything up to the stream's end, although nothing came by. */
async function record(context: TermContext, state: TermState, generation: Generation): Promise<void> {
  try {
    const { state: stream } = await context.link.manager.streams.info(context.streamName);
    const idle = await isIdle(context, state, generation);
    const end = { sequence: stream.last_seq, storedAtMs: storedAtMs(stream.last_ts) };
    await savePlace(context, state, generation, idle && end.sequence > state.through.sequence ? end : state.through);
  } catch (thrown) {
    context.log.debug("could not record a place", { subscription: context.name, error: messageOf(thrown) });
  }
}

/** The server's time as the messages carry it; undefined while the stream has never held one. */
function storedAtMs(timestamp: string): number | undefined {
  const at = tryParse(timestamp);
  return at === undefined ? undefined : Math.floor(toUnixMs(at));
}

async function savePlace(context: TermContext, state: TermState, generation: Generation, place: Place): Promise<void> {
  if (place.sequence <= state.recorded) return;
  await recordPlace(context.link, context.streamName, generation.consumerName, place);
  state.recorded = place.sequence;
}

/** Sends the last acknowledgements and records the place, as far as the server can still be reached. */
async function leave(context: TermContext, state: TermState, generation: Generation): Promise<void> {
  acknowledge(context, state);
  if (!context.link.health().connected) return;
  try {
    await context.link.unlessLost(context.link.connection.flush());
    // It may have been opened behind the back of whoever forgot the name, and would hold back trimming for ever.
    if (context.isForgotten())
      await context.link.unlessLost(deleteConsumer(context.link, context.streamName, generation.consumerName));
    else await context.link.unlessLost(savePlace(context, state, generation, state.through));
  } catch (thrown) {
    context.log.debug("left without recording a place", { subscription: context.name, error: messageOf(thrown) });
  }
}

async function watchNotifications(
  notifications: AsyncIterable<{ readonly type: string }>,
  end: (why: string) => void,
): Promise<void> {
  const fatal = new Set([
    "consumer_deleted",
    "consumer_not_found",
    "stream_not_found",
    "heartbeats_missed",
    "no_responders",
  ]);
  for await (const notification of notifications) {
    if (fatal.has(notification.type)) end(`the server reports ${notification.type.replaceAll("_", " ")}`);
  }
}
