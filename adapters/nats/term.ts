// One term of a durable subscription: from opening a generation of its consumer until the connection, the leadership or
// the subscription ends. Within a term events arrive in stream order and are handled one at a time.
//
//  1. The server sends at most `queueMax` events that are not acknowledged: that is the bound of the queue here.
//  2. Everything queued or in hand is kept alive by heartbeats, so a slow handler never has its successors sent again.
//  3. Deliveries are numbered without holes. A hole means that one was lost on the way: the term ends at once, because
//     the server would send the lost event only later, behind its successors.
import type { JsMsg } from "@nats-io/jetstream";
import { messageOf } from "../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { NatsLink } from "./connect.ts";
import { type Finished, type Generation, openGeneration, recordCursor } from "./generation.ts";
import { type Fate, type HandlingContext, handleOne } from "./handle-one.ts";
import type { Arrival } from "./wire.ts";

export interface TermContext extends HandlingContext {
  readonly link: NatsLink;
  readonly streamName: string;
  readonly queueMax: number;
  readonly ackWaitMs: number;
  readonly recordMs: number;
  /** What this running subscription has finished, over all its terms. */
  finished(): Finished | undefined;
  finish(finished: Finished, fate: Fate): void;
  opened(generation: Generation): void;
}

interface TermState {
  readonly queue: JsMsg[];
  inHand: JsMsg | undefined;
  lastDelivery: number;
  lastReceived: number;
  /** Everything up to here is finished. */
  through: number;
  recorded: number;
  wake: () => void;
}

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
    );
    const generation = await link.unlessLost(opening);
    context.opened(generation);
    const state = startState(generation);
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
    const cancelRecord = every(context, context.recordMs, () => void record(context, state, generation), stop);
    try {
      await pump(context, state, stop, signal);
    } finally {
      cancelHeartbeats();
      cancelRecord();
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
    inHand: undefined,
    lastDelivery: 0,
    lastReceived: 0,
    through: generation.after,
    recorded: generation.after,
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
    if (streamSequence <= state.through) message.ack();
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
      const fate = await handleOne(context, arrivalOf(message), asked);
      state.inHand = undefined;
      if (fate === "abandoned") return;
      finishOne(context, state, message, fate);
    }
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}

function finishOne(context: TermContext, state: TermState, message: JsMsg, fate: Fate): void {
  const sequence = message.info.streamSequence;
  state.through = sequence;
  context.finish({ sequence, storedAtMs: Math.floor(message.info.timestampNanos / 1_000_000) }, fate);
  if (fate === "parked") message.term();
  else message.ack();
}

function arrivalOf(message: JsMsg): Arrival {
  const { stream, streamSequence, timestampNanos } = message.info;
  return {
    subject: message.subject,
    data: message.data,
    headers: message.headers,
    fallbackId: () => `nats:${stream}:${streamSequence}`,
    receivedAt: () => fromMicroseconds(Math.floor(timestampNanos / 1_000)),
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

/** An idle subscription with a narrow filter has finished everything up to the stream's end, although nothing came by. */
async function record(context: TermContext, state: TermState, generation: Generation): Promise<void> {
  try {
    const { state: stream } = await context.link.manager.streams.info(context.streamName);
    const receivedBefore = state.lastDelivery;
    const info = await context.link.manager.consumers.info(context.streamName, generation.consumerName);
    const idle =
      info.num_pending === 0 &&
      info.num_ack_pending === 0 &&
      state.queue.length === 0 &&
      state.inHand === undefined &&
      receivedBefore === state.lastDelivery &&
      info.delivered.consumer_seq === state.lastDelivery;
    const through = idle ? Math.max(state.through, stream.last_seq) : state.through;
    await saveCursor(context, state, generation, through);
  } catch (thrown) {
    context.log.debug("could not record a cursor", { subscription: context.name, error: messageOf(thrown) });
  }
}

async function saveCursor(
  context: TermContext,
  state: TermState,
  generation: Generation,
  through: number,
): Promise<void> {
  if (through === state.recorded) return;
  await recordCursor(context.link, context.streamName, generation.consumerName, through);
  state.recorded = through;
}

/** Sends the last acknowledgements and records the cursor, as far as the server can still be reached. */
async function leave(context: TermContext, state: TermState, generation: Generation): Promise<void> {
  if (!context.link.health().connected) return;
  try {
    await context.link.unlessLost(context.link.connection.flush());
    await context.link.unlessLost(saveCursor(context, state, generation, state.through));
  } catch (thrown) {
    context.log.debug("left without recording a cursor", { subscription: context.name, error: messageOf(thrown) });
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
