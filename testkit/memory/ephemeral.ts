// An ephemeral subscription: a bounded queue between the world and one handler, with the drop policy that its owner named.
import { matchesAny } from "../../contracts/src/subjects.ts";
import type { EphemeralOptions, Handler, Subscription } from "../../ports/bus.ts";
import type { MemoryBusOptions } from "./bus-options.ts";
import { decode } from "./codec.ts";
import { signal } from "./signal.ts";
import type { Watcher, WrittenEvent } from "./tables.ts";

export function ephemeralSubscription(
  bus: MemoryBusOptions,
  options: EphemeralOptions,
  handler: Handler,
): Subscription {
  const { process, timers } = bus;
  const { tables } = process;
  const queue: WrittenEvent[] = [];
  const bell = signal();
  let open = true;
  let handled = 0;
  let dropped = 0;

  const dropAt = (index: number) => {
    queue.splice(index, 1);
    dropped += 1;
  };
  const offer = (event: WrittenEvent) => {
    if (!process.isReachable() || !matchesAny(options.subjects, event.subject)) return;
    if (options.overflow === "keep-newest-per-key") {
      const older = queue.findIndex((queued) => queued.subject === event.subject && queued.key === event.key);
      if (older >= 0) dropAt(older);
    }
    if (queue.length >= options.queueMax) dropAt(0);
    queue.push(event);
    timers.after(tables.faults.deliveryDelayMs(), bell.ring);
  };
  const watcher: Watcher = {
    committed: offer,
    broadcast: (event) => {
      if (!tables.faults.losesBroadcast()) offer(event);
    },
    stirred: () => undefined,
  };

  const serve = async () => {
    while (open) {
      const event = queue.shift();
      if (event === undefined) {
        await bell.heard();
        continue;
      }
      const decoded = decode(event, bus.subjectByName);
      if (!decoded.ok) {
        dropped += 1;
        continue;
      }
      try {
        await handler(decoded.event);
      } catch (thrown) {
        // Missing an event is allowed here, so a failure costs this one event, and `onListenerFailed` is told.
        bus.onListenerFailed?.(decoded.event, thrown);
      }
      handled += 1;
    }
  };

  const letGo = () => {
    open = false;
    tables.watchers.delete(watcher);
    bell.ring();
  };
  tables.watchers.add(watcher);
  const forgetDeath = process.onKill(letGo);
  const serving = bell.heard().then(serve);
  return {
    handledCount: () => handled,
    droppedCount: () => dropped,
    caughtUpAt: () => undefined,
    async close() {
      letGo();
      forgetDeath();
      await serving;
    },
  };
}
