// The bus port over NATS JetStream. Durable subscriptions are pull consumers on one stream that the relay fills from the
// outbox; ephemeral ones and marks ride on plain NATS. NATS is transport: the record of every event is the database.
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { validatePattern, validatePatterns } from "../../contracts/src/subjects.ts";
import type { Bus, BusHealth, DurableOptions, Subscription } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import { type Alarms, noAlarms } from "../postgres/alarms.ts";
import type { Prove } from "../postgres/bus/outbox-proof.ts";
import type { AsideStore } from "../transport/put-aside.ts";
import type { NatsLink } from "./connect.ts";
import { forgetGenerations } from "./consumer-list.ts";
import { type DurableContext, type DurableSubscription, openDurable, queueMaxOf } from "./durable.ts";
import { broadcaster, openEphemeral } from "./ephemeral.ts";
import { type Known, registerGeneration } from "./generation.ts";
import type { Guard } from "./guard.ts";
import type { Lead } from "./lead.ts";
import type { Logins } from "./logins/logins.ts";
import { byLogins, ensureStream, type StreamOptions, streamName } from "./stream.ts";
import type { SubjectLookup } from "./wire.ts";

interface NatsBusOptions {
  /** The bus's own: closing the bus closes it. */
  readonly link: NatsLink;
  readonly stream: StreamOptions;
  /** The service in whose name marks are broadcast. */
  readonly source: string;
  readonly lookup: SubjectLookup;
  readonly lead: Lead;
  readonly parking: AsideStore;
  /** Which of the events that say so are ours. */
  readonly prove: Prove;
  /** Whether the server keeps strangers from publishing. */
  readonly guard: Pick<Guard, "isClosed" | "mayPublishOwn">;
  /** For whom the logins of programs outside speak. */
  readonly logins: Logins;
  /** The newest committed position of the outbox; an ephemeral subscription ignores what lies before it. */
  readonly head: () => Promise<bigint>;
  /** How far the relay has carried the outbox. */
  readonly relayed: () => Promise<bigint>;
  /** Absent: it publishes no alarms. */
  readonly alarms?: Alarms;
  readonly log: Log;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** After this long without a sign of life an event is sent again; heartbeats go out three times as often. */
  readonly ackWaitMs?: number;
  /** How often a durable subscription records its cursor for trimming. */
  readonly recordMs?: number;
  /** Ids remembered per durable subscription to recognise what comes again. */
  readonly recentCountMax?: number;
  readonly broadcastFlushMs?: number;
  readonly broadcastPendingMax?: number;
}

/** Creates or checks the stream, then gives the bus. */
export async function createNatsBus(options: NatsBusOptions): Promise<Bus> {
  const { link } = options;
  const { takesLogins } = await ensureStream(link, options.stream);
  const name = streamName(options.stream);
  const durables = new Set<DurableSubscription>();
  const ephemerals = new Set<Subscription>();
  const lossy = { ...options, mayPublishOwn: options.guard.mayPublishOwn };
  const marks = broadcaster(
    lossy,
    options.source,
    options.broadcastFlushMs ?? 10,
    options.broadcastPendingMax ?? 10_000,
  );
  const context = {
    ...options,
    alarms: options.alarms ?? noAlarms,
    streamName: name,
    ackWaitMs: options.ackWaitMs ?? 30_000,
    recordMs: options.recordMs ?? 5_000,
    recentCountMax: options.recentCountMax ?? 65_536,
  };
  let closed = false;

  function mustBeOpen(): void {
    if (closed) throw new Fault("BUS_UNAVAILABLE", "The bus is closed.", { retry: "never" });
  }

  return {
    async subscribe(durable, handler) {
      mustBeOpen();
      validatePatterns(durable.subjects);
      const known = await register(context, durable);
      mustBeOpen();
      return tracked(durables, openDurable(context, durable, handler, known));
    },
    async listen(ephemeral, handler) {
      mustBeOpen();
      for (const pattern of ephemeral.subjects) validatePattern(pattern);
      return tracked(ephemerals, await openEphemeral(lossy, ephemeral, handler));
    },
    broadcast(subject, payload) {
      mustBeOpen();
      marks.send(subject, payload);
    },
    async forget(durableName) {
      mustBeOpen();
      // Here they end at once; another process notices that its generation is gone.
      const own = [...durables].filter((each) => each.name === durableName);
      await Promise.all(own.map((each) => each.forget()));
      for (const each of own) durables.delete(each);
      await forgetGenerations(link, name, durableName);
    },
    health() {
      if (closed) return { connected: false, complaint: "The bus is closed." };
      return { ...(takesLogins ? {} : { note: lacksLogins(name) }), ...healthOf(link, durables) };
    },
    async close() {
      if (closed) return;
      closed = true;
      marks.close();
      await Promise.all([...durables, ...ephemerals].map((each) => each.close()));
      await link.close();
    },
  };
}

function lacksLogins(stream: string): string {
  return `The NATS stream ${stream} is of before logins had subjects of their own and stores nothing of them: an administrator of the server adds ${byLogins} to its subjects (docs/nats.md), then the services start anew.`;
}

/** Trimming waits for the name from here on. Without the server it is made up for when the subscription begins to handle. */
async function register(context: DurableContext, durable: DurableOptions): Promise<Known | undefined> {
  const { link, streamName, ackWaitMs } = context;
  if (!link.health().connected) return undefined;
  const { name, subjects } = durable;
  const generation = { streamName, name, patterns: subjects, ackWaitMs, pendingMax: queueMaxOf(durable) };
  return link.unlessLost(registerGeneration(link, generation)).catch((thrown: unknown) => {
    context.log.warn("a durable subscription could not be registered yet", {
      subscription: name,
      reason: messageOf(thrown),
    });
    return undefined;
  });
}

/** A subscription that leaves its set when it is closed. */
function tracked<T extends Subscription>(set: Set<T>, subscription: T): Subscription {
  set.add(subscription);
  return {
    handledCount: subscription.handledCount,
    droppedCount: subscription.droppedCount,
    caughtUpAt: subscription.caughtUpAt,
    async close() {
      await subscription.close();
      set.delete(subscription);
    },
  };
}

function healthOf(link: NatsLink, durables: ReadonlySet<DurableSubscription>): BusHealth {
  const health = link.health();
  if (health.complaint !== undefined) return health;
  for (const durable of durables) {
    const complaint = durable.complaint();
    if (complaint !== undefined) return { connected: health.connected, complaint };
  }
  return health;
}
