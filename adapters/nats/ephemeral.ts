// Ephemeral subscriptions and the lossy path. Both ride on plain NATS: what is published into the stream is heard by plain
// subscribers in the same moment, without an acknowledgement to wait for, and missing some is allowed here.
import type { Msg } from "@nats-io/transport-node";
import { messageOf } from "../../contracts/src/fault.ts";
import { byEveryLogin, foreignPublishers } from "../../contracts/src/foreign-events.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { eventByName, matches, subjects } from "../../contracts/src/subjects.ts";
import type { BusEvent, EphemeralOptions, Handler, Subscription } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import { overflowQueue } from "../transport/overflow-queue.ts";
import type { NatsLink } from "./connect.ts";
import type { Logins } from "./logins/logins.ts";
import { type RecentIds, recentIds } from "./recent-ids.ts";
import { conflatedName, decode, encodeHeaders, isProbe, ownName, positionOf, type SubjectLookup } from "./wire.ts";

/** Where ours come when they are not stored, and what programs outside publish below prefixes of their own. */
function ofOthers(pattern: string): readonly string[] {
  const own = matches(pattern, subjects.marketMarks.name) ? [ownName(subjects.marketMarks.name)] : [];
  const theirs = foreignPublishers
    .flatMap(({ subjects: names }) => names)
    .filter((name) => matches(pattern, name))
    .map((name) =>
      eventByName(name)?.delivery === "durable" ? byEveryLogin(name) : conflatedName(byEveryLogin(name)),
    );
  return [...own, ...theirs];
}

interface EphemeralContext {
  readonly link: NatsLink;
  readonly lookup: SubjectLookup;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly log: Log;
  readonly logins: Pick<Logins, "heard" | "refresh">;
  /** Whether the server lets us publish where nobody else may. */
  readonly mayPublishOwn: () => boolean;
  /** The newest position of the outbox: what the relay sends from up to there was committed before. */
  readonly head: () => Promise<bigint>;
}

export async function openEphemeral(
  context: EphemeralContext,
  options: EphemeralOptions,
  handler: Handler,
): Promise<Subscription> {
  const queue = overflowQueue(options.queueMax, options.overflow);
  const recent = recentIds(1_024);
  const before = await context.head();
  let handledCount = 0;
  let closed = false;
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    // The queue fills within one turn of the event loop; the handler runs after it, never inside the socket's callback.
    await Promise.resolve();
    for (let event = queue.shift(); event !== undefined && !closed; event = queue.shift()) {
      try {
        await handler(event);
      } catch (thrown) {
        context.log.warn("an ephemeral handler failed", { event_id: event.id, error: messageOf(thrown) });
      }
      handledCount++;
    }
  }

  function receive(problem: Error | null, message: Msg): void {
    if (problem !== null) {
      context.log.warn("an ephemeral subscription reports an error", { error: problem.message });
      return;
    }
    const position = positionOf(message.headers);
    if (closed || (position !== undefined && position <= before)) return;
    const event = accept(context, recent, message);
    if (event === undefined) return;
    queue.push(event);
    working ??= work().finally(() => {
      working = undefined;
    });
  }

  await context.logins.refresh();
  const patterns = options.subjects.flatMap((pattern) => [pattern, conflatedName(pattern), ...ofOthers(pattern)]);
  const subscriptions = patterns.map((pattern) => context.link.connection.subscribe(pattern, { callback: receive }));
  // The server has the subscriptions once it answers what was sent behind them.
  await context.link.connection.flush();
  return {
    handledCount: () => handledCount,
    droppedCount: () => queue.droppedCount(),
    caughtUpAt: () => undefined,
    async close() {
      closed = true;
      for (const subscription of subscriptions) subscription.unsubscribe();
      await working;
    },
  };
}

/** The relay publishes again after a lost answer, and overlapping patterns hear one message twice. */
function accept(context: EphemeralContext, recent: RecentIds, message: Msg): BusEvent | undefined {
  if (isProbe(message.subject)) return undefined;
  const decoded = decode(
    {
      subject: message.subject,
      data: message.data,
      headers: message.headers,
      fallbackId: () => `nats:${context.random.uuid()}`,
      receivedAt: () => context.clock.now(),
    },
    context.lookup,
  );
  if (!decoded.ok) {
    context.log.warn("an ephemeral subscription ignores an event", { reason: decoded.reason });
    return undefined;
  }
  if (recent.has(decoded.event.id)) return undefined;
  const heard = context.logins.heard(decoded.event, message.subject);
  if (heard !== undefined) recent.add(heard.id);
  return heard;
}

interface Broadcaster {
  send<Payload>(subject: Subject<Payload>, payload: Payload): void;
  close(): void;
}

/** Collects the newest payload per subject and key, and publishes them together. */
export function broadcaster(
  context: EphemeralContext,
  source: string,
  flushMs: number,
  pendingMax: number,
): Broadcaster {
  const pending = new Map<string, { readonly subject: string; readonly key: string; readonly payload: unknown }>();
  let cancel: (() => void) | undefined;

  function flush(): void {
    cancel = undefined;
    // While there is no connection the library would collect them and send them late; a late mark is worse than none.
    if (context.link.health().connected) {
      for (const { subject, key, payload } of pending.values()) {
        const envelope = { id: context.random.uuid(), subject, key, at: context.clock.now(), source };
        const made = encodeHeaders(envelope);
        const text = JSON.stringify(payload);
        if (context.mayPublishOwn()) context.link.connection.publish(ownName(subject), text, { headers: made });
        context.link.connection.publish(conflatedName(subject), text, { headers: made });
      }
    }
    pending.clear();
  }

  return {
    send(subject, payload) {
      const key = subject.key(payload);
      pending.set(`${subject.name}\n${key}`, { subject: subject.name, key, payload });
      if (pending.size >= pendingMax) {
        cancel?.();
        flush();
      }
      cancel ??= pending.size === 0 ? undefined : context.timers.after(flushMs, flush);
    },
    close() {
      cancel?.();
      pending.clear();
    },
  };
}
