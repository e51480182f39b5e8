// The bus on PostgreSQL: durable subscriptions read the outbox behind cursors, listeners hear its end, marks go past it.
// It holds one connection of its own (the session); wake-ups come from the one that it shares with the store.
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import type { ParkedEvent } from "../../../contracts/src/records/platform.ts";
import type { Subject } from "../../../contracts/src/subject.ts";
import { matchesAny, validatePattern, validatePatterns } from "../../../contracts/src/subjects.ts";
import type { Bus, BusEvent, BusHealth, EphemeralOptions } from "../../../ports/bus.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import { type Alarms, noAlarms } from "../alarms.ts";
import { newestIdText } from "../risk/decision-rows.ts";
import type { PostgresStore } from "../store.ts";
import { createBroadcaster, decodeBroadcast } from "./bus-broadcast.ts";
import type { OpenConnection } from "./bus-connection.ts";
import type { SubjectByName } from "./bus-decode.ts";
import { startPulse } from "./bus-pulse.ts";
import { createBusSession } from "./bus-session.ts";
import { createTail } from "./bus-tail.ts";
import { type DurableSubscription, openDurable } from "./subscription-durable.ts";
import { type EphemeralSubscription, openEphemeral } from "./subscription-ephemeral.ts";
import { createParking } from "./subscription-parking.ts";
import type { Wake } from "./wake.ts";

interface PostgresBusOptions {
  /** Opens the session's connection: the app role, shared with nobody, not through a pooler that swaps sessions. */
  readonly open: OpenConnection;
  /** Parks events. */
  readonly store: PostgresStore;
  /** Belongs to whoever made it; closing the bus does not close it. */
  readonly wake: Wake;
  readonly subjectByName: SubjectByName;
  /** Where a parked event is reported. */
  readonly parkedSubject: Subject<ParkedEvent>;
  /** The service's name: in broadcasts, and as the holder of leaderships. */
  readonly source: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where a reader that is held back or far behind is reported; absent = nowhere but in health and log. */
  readonly alarms?: Alarms;
}

/** A subscription further behind than this is an alarm; it has ended when it is less than half as far behind. */
const lagEventsMax = 10_000;
const openMsMax = 10_000;
const lagEveryMs = 5_000;

export function createPostgresBus(options: PostgresBusOptions): Bus {
  const { clock, timers, log, metrics, wake, source, subjectByName, alarms = noAlarms } = options;
  const session = createBusSession({ ...options, holder: source });
  const parking = createParking(options);
  const pulse = startPulse({ ...options, session });
  const tail = createTail({ ...options, session, pulse });
  const dropped = metrics.counter("portcullis_bus_dropped_total", "Events dropped by policy.", ["policy"]);
  const lag = metrics.gauge("portcullis_bus_lag_events", "Events behind the newest.", ["subscription"]);
  const broadcaster = createBroadcaster({ ...options, dropped, send: (text) => wake.send(text) });
  const durables = new Set<DurableSubscription>();
  const markListeners = new Map<EphemeralSubscription, readonly string[]>();
  const closing = new AbortController();

  const stopMessages = wake.onMessage((text) => {
    for (const decode of decodeBroadcast(text, subjectByName, log)) {
      const sample = decode();
      if (sample === undefined) continue;
      for (const [listener, patterns] of markListeners) {
        const event = matchesAny(patterns, sample.subject) ? decode() : undefined;
        if (event !== undefined) listener.offer(event);
      }
    }
  });

  function refuseClosed(): void {
    if (closing.signal.aborted) throw new Fault("BUS_UNAVAILABLE", "the bus has been closed", { retry: "never" });
  }

  async function whenOpen(): Promise<void> {
    refuseClosed();
    const patience = new AbortController();
    const cancel = timers.after(openMsMax, () => patience.abort());
    const signal = AbortSignal.any([patience.signal, closing.signal]);
    await Promise.all([session.opened(signal), wake.ready(signal)]);
    cancel();
    refuseClosed();
    const complaint = session.complaint();
    if (complaint !== undefined) throw new Fault("BUS_UNAVAILABLE", complaint, { retry: "later" });
  }

  async function watchLag(): Promise<void> {
    while (!closing.signal.aborted) {
      await timers.sleep(lagEveryMs, closing.signal);
      if (closing.signal.aborted || session.complaint() !== undefined || durables.size === 0) continue;
      const names = [...durables].map((one) => one.name);
      const text = `select s.name, greatest(0, coalesce(${newestIdText}, 0) - s.cursor_id)::text
                    from subscription s where s.name = any ($1)`;
      try {
        const behind = await session.run({ text, values: [names], rowMode: "array" });
        for (const [name, events] of behind.rows) noteLag(String(name), Number(events));
      } catch (thrown) {
        // What is not known is not shown: an old figure would look like a subscription that stands still.
        for (const subscription of names) lag.set(Number.NaN, { subscription });
        log.debug("lag not measured", { reason: messageOf(thrown) });
      }
    }
  }

  function noteLag(subscription: string, events: number): void {
    lag.set(events, { subscription });
    const sentence = `${subscription} is ${events} events behind what is published`;
    if (events > lagEventsMax) alarms.raise("SUBSCRIPTION_LAG", subscription, sentence);
    else if (events < lagEventsMax / 2) alarms.clear("SUBSCRIPTION_LAG", subscription);
  }

  async function openListener(wanted: EphemeralOptions, handler: (event: BusEvent) => Promise<void>) {
    let stopTail: () => void = () => undefined;
    const listener = openEphemeral(wanted, handler, {
      log,
      dropped,
      onClose() {
        markListeners.delete(listener);
        stopTail();
      },
    });
    stopTail = await tail.add(wanted.subjects, (event) => listener.offer(event));
    if (closing.signal.aborted) await listener.close();
    refuseClosed();
    markListeners.set(listener, wanted.subjects);
    return listener;
  }

  function health(): BusHealth {
    if (closing.signal.aborted) return { connected: false, complaint: "the bus has been closed" };
    const lost = session.complaint() ?? wake.complaint();
    if (lost !== undefined) return { connected: false, complaint: lost };
    for (const durable of durables) {
      const complaint = durable.complaint();
      if (complaint !== undefined) return { connected: true, complaint };
    }
    return { connected: true };
  }

  const watched = watchLag();
  return {
    async subscribe(wanted, handler) {
      validatePatterns(wanted.subjects);
      await whenOpen();
      // Registered before anything else: from now on trimming waits for it.
      const entry = await session.register(wanted.name, wanted.subjects, clock.now());
      // Closed meanwhile: whoever closed did not know of this one and would not end it.
      refuseClosed();
      const durable = openDurable(wanted, handler, { ...options, session, pulse, entry, alarms, parking });
      durables.add(durable);
      return {
        ...durable,
        async close() {
          durables.delete(durable);
          await durable.close();
        },
      };
    },
    async listen(wanted, handler) {
      for (const pattern of wanted.subjects) validatePattern(pattern);
      await whenOpen();
      return openListener(wanted, handler);
    },
    broadcast(subject, payload) {
      if (!closing.signal.aborted) broadcaster.broadcast(subject, payload);
    },
    async forget(name) {
      await whenOpen();
      // The entry goes first: who stands by elsewhere would take over from ours, and handle what comes until it noticed.
      await session.forget(name);
      for (const durable of durables) {
        if (durable.name !== name) continue;
        durables.delete(durable);
        await durable.close();
      }
    },
    health,
    async close() {
      closing.abort();
      stopMessages();
      broadcaster.close();
      await Promise.all([...durables].map((durable) => durable.close()));
      await Promise.all([...markListeners.keys()].map((listener) => listener.close()));
      await tail.close();
      await pulse.close();
      await watched;
      await session.close();
    },
  };
}
