// A durable subscription on the memory log: one loop that takes the next event, hands it over until it is handled or
// put aside, and remembers its place in the world. It reads straight from the log, so it never queues anything.
import { messageOf } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { matchesAny } from "../../contracts/src/subjects.ts";
import type { BusEvent, DurableOptions, Handler, Subscription } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import { heldSentence } from "../held-event.ts";
import { isNotYet } from "../not-yet.ts";
import { createAside, jsonOf, waitsBehind } from "../put-aside.ts";
import type { MemoryBusOptions } from "./bus-options.ts";
import { decode, decodeAll } from "./codec.ts";
import { parkedNow } from "./parked-events.ts";
import { advance, candidates, inCommitOrder } from "./reader.ts";
import { signal } from "./signal.ts";
import type { DurableState, LogEntry, Watcher } from "./world.ts";

const backOffMs = { first: 10, max: 1_000 };
const silent = () => undefined;
/** The memory bus says nothing. */
const noLog: Log = { debug: silent, info: silent, warn: silent, error: silent, with: () => noLog };

export interface MemorySubscription extends Subscription {
  complaint(): string | undefined;
}

export function durableSubscription(
  bus: MemoryBusOptions,
  options: DurableOptions,
  handler: Handler,
): MemorySubscription {
  const { process, timers } = bus;
  const { world } = process;
  const { faults } = world;
  const reader = bus.reader ?? inCommitOrder;
  const attemptsMax = options.attemptsMax ?? 5;
  const read = options.unread === true ? decodeAll : decode;
  const me = {};
  const bell = signal();
  const stopping = new AbortController();
  let handled = 0;
  let inHand = false;
  let caughtUpAt: Instant | undefined;
  /** Set while it stops at an event. */
  let complaint: string | undefined;
  /** The running subscription's own place; the world's copy may lag behind it, and is what a successor starts from. */
  let own: DurableState | undefined;

  let isLoaded = false;
  const rows = parkedNow(world.parked);
  const aside = createAside({
    ...{ options, handler, clock: bus.clock, log: noLog, hold: () => undefined },
    read(kept) {
      const decoded = read(
        { ...kept, id: kept.eventId, bytes: new TextEncoder().encode(kept.payload) },
        bus.subjectByName,
      );
      return decoded.ok ? { event: decoded.event } : { poison: decoded.reason };
    },
    store: {
      async put(event) {
        if (process.isAlive()) rows.put(event);
      },
      due: async (subscription, perLaneMax) => rows.due(subscription, perLaneMax),
      take: async ({ subscription, eventId }) => process.isAlive() && rows.take(subscription, eventId, bus.clock.now()),
      async failed({ subscription, eventId }, error) {
        if (process.isAlive()) rows.failed(subscription, eventId, error, bus.clock.now());
      },
      async done({ subscription, eventId }) {
        if (process.isAlive()) rows.remove(subscription, eventId);
      },
    },
  });

  /** Asked of every entry again and again, and there are few subjects. */
  const wantedSubjects = new Map<string, boolean>();
  const wanted = ({ subject }: LogEntry): boolean => {
    const known = wantedSubjects.get(subject);
    if (known !== undefined) return known;
    const isWanted = matchesAny(options.subjects, subject);
    wantedSubjects.set(subject, isWanted);
    return isWanted;
  };
  const registered = world.durables.get(options.name) ?? { place: 0, done: new Set(), holder: undefined };
  world.durables.set(options.name, registered);
  /** A name that was entered again is another one: who ran under the old entry has ended. */
  const isForgotten = () => world.durables.get(options.name) !== registered;
  const watcher: Watcher = {
    committed: (entry) => {
      if (wanted(entry)) timers.after(faults.deliveryDelayMs(), bell.ring);
    },
    broadcast: () => undefined,
    stirred: () => timers.after(faults.deliveryDelayMs() + aside.dueMs(), bell.ring),
  };
  const letGo = () => {
    stopping.abort();
    world.watchers.delete(watcher);
    if (registered.holder === me) registered.holder = undefined;
    bell.ring();
  };

  const take = (): LogEntry | undefined => {
    if (!process.isReachable() || isForgotten()) return undefined;
    if (registered.holder === undefined) {
      registered.holder = me;
      own = { place: registered.place, done: new Set(registered.done), holder: me };
    }
    if (registered.holder !== me || own === undefined) return undefined;
    const ready = candidates(reader, world.log, own, wanted);
    return ready[ready.length > 1 ? faults.pick(ready.length) : 0];
  };

  const save = () => {
    if (own === undefined || registered.holder !== me) return;
    registered.place = own.place;
    registered.done = new Set(own.done);
  };

  const finish = (entry: LogEntry) => {
    if (!process.isAlive() || own === undefined) return;
    handled += 1;
    own.done.add(entry.position);
    advance(reader, world.log, own, wanted);
    if (faults.savesThePlace()) save();
  };

  const put = async (entry: LogEntry, why: { lane: string | undefined; error: string; attempts: number }) => {
    if (!process.isAlive()) return;
    const { id: eventId, subject, key, at, source, bytes } = entry;
    const state = why.lane === undefined ? "PARKED" : "HELD";
    await aside.put({ eventId, subject, key, at, source, payload: new TextDecoder().decode(bytes), state, ...why });
    finish(entry);
  };

  /** Undefined when it was handled. */
  const attemptOf = async (event: BusEvent): Promise<{ error: string; isOwn: boolean } | undefined> => {
    try {
      await handler(event);
      return undefined;
    } catch (thrown) {
      return { error: messageOf(thrown), isOwn: !isNotYet(thrown) };
    }
  };

  /** Tries until it is handled or put aside; gives up without either when the subscription ends in between. */
  const handOver = async (entry: LogEntry): Promise<void> => {
    const lane = () => aside.laneOf(entry.id, () => jsonOf(new TextDecoder().decode(entry.bytes)));
    if (aside.isHolding()) {
      const own = lane();
      if (own !== undefined && aside.holds(own)) return put(entry, { lane: own, error: waitsBehind, attempts: 0 });
    }
    let failures = 0;
    for (let attempt = 1; !stopping.signal.aborted && !isForgotten(); attempt += 1) {
      const decoded = read(entry, bus.subjectByName);
      const tried = decoded.ok ? await attemptOf(decoded.event) : { error: decoded.reason, isOwn: true };
      if (tried === undefined) {
        complaint = undefined;
        return finish(entry);
      }
      if (tried.isOwn) failures += 1;
      if (tried.isOwn && (!decoded.ok || failures >= attemptsMax)) {
        const own = lane();
        const { error } = tried;
        if (options.parks !== false || own !== undefined) {
          return put(entry, { lane: own, error, attempts: decoded.ok ? failures : 0 });
        }
        complaint = heldSentence(options.name, undefined, entry, error);
      }
      await timers.sleep(Math.min(backOffMs.first * 2 ** (attempt - 1), backOffMs.max), stopping.signal);
    }
  };

  /** Nothing lies there and nothing is in hand, as far as the log can be seen. */
  const noteCaughtUp = () => {
    const leads = process.isReachable() && !isForgotten() && registered.holder === me;
    if (!leads || own === undefined || inHand || stopping.signal.aborted || aside.isHolding()) return;
    if (candidates(reader, world.log, own, wanted).length === 0) caughtUpAt = bus.clock.now();
  };

  /** What is held is known before anything is handed over. */
  const lookAside = async () => {
    if (!isLoaded) await aside.load();
    isLoaded = true;
    const stopped = () => stopping.signal.aborted || isForgotten() || !process.isReachable();
    if (aside.isDue() && !stopped()) await aside.work(stopped);
  };

  const serve = async () => {
    while (!stopping.signal.aborted) {
      const entry = take();
      if (registered.holder === me) await lookAside();
      if (stopping.signal.aborted) break;
      if (entry === undefined) {
        noteCaughtUp();
        if (aside.isHolding()) timers.after(aside.dueMs() + 1, bell.ring);
        await bell.heard();
        continue;
      }
      inHand = true;
      await handOver(entry);
      inHand = false;
    }
  };

  world.watchers.add(watcher);
  const forgetDeath = process.onKill(letGo);
  timers.after(faults.deliveryDelayMs(), bell.ring);
  const serving = bell.heard().then(serve);
  return {
    complaint: () => complaint ?? aside.complaint(),
    handledCount: () => handled,
    droppedCount: () => 0,
    caughtUpAt() {
      noteCaughtUp();
      return caughtUpAt;
    },
    async close() {
      stopping.abort();
      bell.ring();
      await serving;
      save();
      letGo();
      forgetDeath();
      for (const other of world.watchers) other.stirred();
    },
  };
}
