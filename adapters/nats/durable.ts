// A durable subscription: waits until it leads under its name, then runs term after term until it is closed. Its memory of
// what it finished outlives a term, so neither a reconnect nor a lost leadership hands over an event a second time.
import { messageOf } from "../../contracts/src/fault.ts";
import { loginOfSource } from "../../contracts/src/foreign-events.ts";
import type { DurableOptions, Handler, Subscription } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { AsideEvent } from "../../ports/parked-events.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Alarms } from "../postgres/alarms.ts";
import type { Prove } from "../postgres/bus/outbox-proof.ts";
import { type Aside, type AsideStore, createAside } from "../transport/put-aside.ts";
import { type Progress, watchCaughtUp } from "./caught-up.ts";
import type { NatsLink } from "./connect.ts";
import type { Finished, Generation, Known } from "./generation.ts";
import type { Guard } from "./guard.ts";
import { backoffMs } from "./handle-one.ts";
import type { Lead } from "./lead.ts";
import type { Logins } from "./logins/logins.ts";
import { asideOf, bytesOf } from "./park.ts";
import { requestsOf } from "./read-together.ts";
import { recentIds } from "./recent-ids.ts";
import { runTerm, type TermContext } from "./term.ts";
import { type Arrival, decode, foreignSource, positionOf, type SubjectLookup } from "./wire.ts";

export interface DurableContext {
  readonly link: NatsLink;
  readonly streamName: string;
  readonly lead: Lead;
  readonly lookup: SubjectLookup;
  readonly parking: AsideStore;
  readonly prove: Prove;
  readonly guard: Pick<Guard, "isClosed">;
  readonly logins: Pick<Logins, "spoken">;
  readonly alarms: Alarms;
  readonly log: Log;
  readonly clock: Clock;
  /** The newest committed position of the outbox, and how far the relay has carried it. */
  readonly head: () => Promise<bigint>;
  readonly relayed: () => Promise<bigint>;
  readonly timers: Timers;
  readonly ackWaitMs: number;
  readonly recordMs: number;
  readonly recentCountMax: number;
}

export interface DurableSubscription extends Subscription {
  readonly name: string;
  complaint(): string | undefined;
  /** Ends like `close`, but keeps no place. */
  forget(): Promise<void>;
}

export function queueMaxOf(options: DurableOptions): number {
  return options.queueMax ?? 1_000;
}

interface Memory {
  finished: Finished | undefined;
  known: Known | undefined;
  forgotten: boolean;
  handledCount: number;
  /** Why the subscription does not get on right now. */
  trouble: string | undefined;
  /** Of the term that runs. */
  progress: Progress | undefined;
  /** At which event it stops. */
  held: string | undefined;
  /** Events that are gone, or the whole subscription; it stays, because nobody can bring them back. */
  loss: string | undefined;
}

/** `known` is the generation that it was registered with; without one it begins as if the name were new. */
export function openDurable(
  context: DurableContext,
  options: DurableOptions,
  handler: Handler,
  known: Known | undefined,
): DurableSubscription {
  const stop = new AbortController();
  const memory: Memory = {
    finished: undefined,
    known,
    forgotten: false,
    handledCount: 0,
    trouble: undefined,
    progress: undefined,
    held: undefined,
    loss: undefined,
  };
  const term = termContext(context, options, handler, memory, () => stop.abort());
  const running = run(context, term, memory, stop.signal);
  return {
    name: options.name,
    handledCount: () => memory.handledCount,
    droppedCount: () => 0,
    // What is held is not finished.
    caughtUpAt: watchCaughtUp({
      ...context,
      progress: () => (term.aside.isHolding() ? undefined : memory.progress),
    }),
    complaint: () => memory.trouble ?? memory.held ?? term.aside.complaint() ?? memory.loss,
    async forget() {
      memory.forgotten = true;
      stop.abort();
      await running;
    },
    async close() {
      stop.abort();
      await running;
    },
  };
}

function termContext(
  context: DurableContext,
  options: DurableOptions,
  handler: Handler,
  memory: Memory,
  stop: () => void,
): TermContext {
  const log = context.log.with({ subscription: options.name });
  const speaking = inName(context, options, handler);
  const aside = asideFor(context, options, speaking);
  return {
    aside,
    clock: context.clock,
    link: context.link,
    streamName: context.streamName,
    name: options.name,
    patterns: options.subjects,
    attemptsMax: options.attemptsMax ?? 5,
    parks: options.parks !== false,
    queueMax: queueMaxOf(options),
    handler: speaking,
    lookup: context.lookup,
    recent: recentIds(context.recentCountMax),
    park: (parked) => aside.put(asideOf(parked)),
    log,
    timers: context.timers,
    ackWaitMs: context.ackWaitMs,
    recordMs: context.recordMs,
    requests: requestsOf(options, context.prove),
    // What carries money, by its own word; the audit log asks for proof itself, and writes down everything.
    ...(options.parks === false && { isVouchedFor: vouching(context) }),
    complain: (sentence) => {
      memory.trouble = sentence;
    },
    hold: (sentence) => hold(context, memory, options.name, sentence),
    finished: () => memory.finished,
    finish(finished, fate) {
      memory.finished = finished;
      if (fate === "handled" || fate === "parked") memory.handledCount++;
    },
    known: () => memory.known,
    opened: (generation) => noteOpening(memory, generation, options.name, log),
    foundForgotten() {
      memory.forgotten = true;
      memory.trouble = undefined;
      memory.loss = `The subscription ${options.name} was forgotten while it ran here; it hears nothing any more.`;
      log.error("a running subscription was forgotten elsewhere and ends", {});
      stop();
    },
    isForgotten: () => memory.forgotten,
    progress(progress) {
      memory.progress = progress;
    },
  };
}

/** Who wants proof is told for whom a login speaks; what nobody can read, and is written down as it came, speaks for nobody. */
function inName({ logins }: DurableContext, { proved, unread }: DurableOptions, handler: Handler): Handler {
  if (proved !== true || unread === true) return async (event) => handler(event);
  return async (event) => handler(await logins.spoken(event));
}

/** Ours, or published under a login that the server holds to its own subjects. */
function vouching({ guard, prove }: DurableContext) {
  return async (arrival: Arrival, id: string): Promise<boolean> => {
    if (await guard.isClosed()) return true;
    const position = positionOf(arrival.headers);
    if (position === undefined) return false;
    const [known] = await prove([{ id, subject: arrival.subject, position, payload: arrival.data }]);
    return known !== undefined;
  };
}

function asideFor(context: DurableContext, options: DurableOptions, handler: Handler): Aside {
  const { alarms, clock, log, lookup } = context;
  return createAside({
    options,
    clock,
    log,
    store: context.parking,
    handler,
    read: (event) => readAside(event, options, lookup),
    hold: (lane, sentence) => {
      const about = `${options.name} ${lane}`;
      if (sentence === undefined) alarms.clear("EVENT_HELD", about);
      else alarms.raise("EVENT_HELD", about, sentence);
    },
  });
}

/** As it came the first time. Whoever wants proof had it when it was put aside: what was not proved then is foreign, and stays a claim. */
function readAside(kept: AsideEvent, options: DurableOptions, lookup: SubjectLookup) {
  const { eventId: id, subject, key, at } = kept;
  const login = loginOfSource(kept.source);
  const source = login === undefined ? kept.source : foreignSource;
  const data = bytesOf(kept.payload);
  const decoded = decode({ subject, data, headers: undefined, fallbackId: () => id, receivedAt: () => at }, lookup);
  const claimed = options.proved === true && source === foreignSource ? { claimed: {} } : {};
  const envelope = { id, subject, key, at, source, ...claimed, ...(login !== undefined && { login }) };
  if (decoded.ok) return { event: { ...envelope, payload: decoded.event.payload } };
  if (options.unread !== true) return { poison: decoded.reason };
  const { kind, reason } = decoded;
  return { event: { ...envelope, payload: undefined, unread: { kind, reason, bytes: data } } };
}

function hold({ alarms }: DurableContext, memory: Memory, name: string, sentence: string | undefined): void {
  if (sentence !== undefined) alarms.raise("EVENT_HELD", name, sentence);
  else if (memory.held !== undefined) alarms.clear("EVENT_HELD", name);
  memory.held = sentence;
}

/** Leads, runs terms, and starts over with a back-off when something fails; it never rejects. */
async function run(context: DurableContext, term: TermContext, memory: Memory, stop: AbortSignal): Promise<void> {
  for (let failures = 0; !stop.aborted && !context.link.connection.isClosed(); ) {
    try {
      const leadership = await context.lead(term.name, stop);
      try {
        failures = 0;
        await runTerms(context, term, memory, AbortSignal.any([stop, leadership.lost]));
      } finally {
        term.hold(undefined);
        term.aside.forget();
        await leadership.release();
      }
    } catch (thrown) {
      if (stop.aborted) return;
      failures++;
      memory.trouble = `The subscription ${term.name} does not get on: ${messageOf(thrown)}`;
      term.log.warn("a durable subscription failed and tries again", { error: messageOf(thrown) });
      await context.timers.sleep(backoffMs(failures), stop);
    }
  }
}

async function runTerms(
  context: DurableContext,
  term: TermContext,
  memory: Memory,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted && !context.link.connection.isClosed(); ) {
    if (!context.link.health().connected) {
      await context.timers.sleep(50, signal);
      continue;
    }
    try {
      const reason = await runTerm(term, signal);
      failures = 0;
      if (!signal.aborted) term.log.info("a durable subscription starts over", { reason });
    } catch (thrown) {
      failures++;
      memory.trouble = `The subscription ${term.name} does not get on: ${messageOf(thrown)}`;
      term.log.warn("a durable subscription starts over", { error: messageOf(thrown) });
      await context.timers.sleep(backoffMs(failures), signal);
    }
  }
}

function noteOpening(memory: Memory, generation: Generation, name: string, log: Log): void {
  memory.trouble = undefined;
  memory.known = generation.known;
  if (generation.rolledBack) {
    log.error("the NATS stream lost its end; what is published again is recognised by its id", {});
  }
  if (generation.gap === undefined) return;
  const { afterSequence, firstKeptSequence } = generation.gap;
  memory.loss =
    `The subscription ${name} missed events: the stream begins at ${firstKeptSequence}, ` +
    `but it had finished only up to ${afterSequence}.`;
  log.error("a durable subscription missed events that are gone", {
    after_sequence: afterSequence,
    first_kept_sequence: firstKeptSequence,
  });
}
