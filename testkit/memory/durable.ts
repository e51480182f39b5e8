// A durable subscription on the memory log: one loop that takes the next event, hands it over until it is handled or
// put aside, and remembers its place in the world. It reads straight from the log, so it never queues anything.

import { heldSentence } from "../../adapters/transport/held-event.ts";
import { jsonOf, waitsBehind } from "../../adapters/transport/put-aside.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { matchesAny } from "../../contracts/src/subjects.ts";
import type { DurableOptions, Handler, Subscription } from "../../ports/bus.ts";
import { asideOf, attemptOf, memoryAside, type WhyAside } from "./aside.ts";
import type { MemoryBusOptions } from "./bus-options.ts";
import { decode, decodeAll } from "./codec.ts";
import { advance, candidates, inCommitOrder } from "./reader.ts";
import { signal } from "./signal.ts";
import type { DurableState, LogEntry, Watcher } from "./tables.ts";

const backOffMs = { first: 10, max: 1_000 };

export interface MemorySubscription extends Subscription {
  complaint(): string | undefined;
}

export function durableSubscription(
  bus: MemoryBusOptions,
  options: DurableOptions,
  handler: Handler,
): MemorySubscription {
  const { process, timers } = bus;
  const { tables } = process;
  const { faults } = tables;
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
  const aside = memoryAside(bus, options, handler, read);

  const wanted = wantedBy(options.subjects);
  const registered = tables.durables.get(options.name) ?? { place: 0, done: new Set(), holder: undefined };
  tables.durables.set(options.name, registered);
  /** A name that was entered again is another one: who ran under the old entry has ended. */
  const isForgotten = () => tables.durables.get(options.name) !== registered;
  const watcher: Watcher = {
    committed: (entry) => {
      if (wanted(entry)) timers.after(faults.deliveryDelayMs(), bell.ring);
    },
    broadcast: () => undefined,
    stirred: () => {
      timers.after(faults.deliveryDelayMs(), bell.ring);
      // Something may be asked of it that it looks for only then.
      if (tables.parked.length > 0) timers.after(faults.deliveryDelayMs() + aside.dueMs(), bell.ring);
    },
  };
  const letGo = () => {
    stopping.abort();
    tables.watchers.delete(watcher);
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
    const ready = candidates(reader, tables.log, own, wanted);
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
    advance(reader, tables.log, own, wanted);
    if (faults.savesThePlace()) save();
  };

  const put = async (entry: LogEntry, why: WhyAside) => {
    if (!process.isAlive()) return;
    await aside.put(asideOf(entry, why));
    finish(entry);
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
      const tried = decoded.ok
        ? await attemptOf(handler, decoded.event)
        : { error: decoded.reason, isOwn: true, isRefused: false };
      if (tried === undefined) {
        complaint = undefined;
        return finish(entry);
      }
      if (tried.isOwn) failures += 1;
      if (tried.isRefused) return put(entry, { lane: undefined, error: tried.error, attempts: failures });
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
    if (candidates(reader, tables.log, own, wanted).length === 0) caughtUpAt = bus.clock.now();
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

  tables.watchers.add(watcher);
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
      for (const other of tables.watchers) other.stirred();
    },
  };
}

/** Asked of every entry again and again, and there are few subjects. */
function wantedBy(patterns: readonly string[]): (entry: LogEntry) => boolean {
  const known = new Map<string, boolean>();
  return ({ subject }) => {
    const before = known.get(subject);
    if (before !== undefined) return before;
    const isWanted = matchesAny(patterns, subject);
    known.set(subject, isWanted);
    return isWanted;
  };
}
