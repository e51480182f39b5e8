// One ephemeral subscription: a bounded queue before a handler that is called for one event at a time. Full, it drops by
// its named policy and counts; a failing handler loses that event and nothing else.
import { messageOf } from "../../contracts/src/fault.ts";
import type { BusEvent, EphemeralOptions, Handler, Subscription } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import type { Counter } from "../../ports/metrics.ts";

export interface EphemeralSubscription extends Subscription {
  offer(event: BusEvent): void;
}

export function openEphemeral(
  options: EphemeralOptions,
  handler: Handler,
  tools: { readonly log: Log; readonly dropped: Counter; readonly onClose: () => void },
): EphemeralSubscription {
  const queueMax = Math.max(1, options.queueMax);
  const queue: BusEvent[] = [];
  let handledCount = 0;
  let droppedCount = 0;
  let closed = false;
  let working: Promise<void> | undefined;

  function drop(index: number): void {
    queue.splice(index, 1);
    droppedCount += 1;
    tools.dropped.add(1, { policy: options.overflow });
  }

  function makeRoom(event: BusEvent): void {
    if (queue.length < queueMax) return;
    const older =
      options.overflow === "keep-newest-per-key"
        ? queue.findIndex((queued) => queued.key === event.key && queued.subject === event.subject)
        : 0;
    // With more keys than places even the newest cannot all be kept; the oldest goes.
    drop(Math.max(0, older));
  }

  async function work(): Promise<void> {
    // The publisher's stack never runs a handler, not even the first one.
    await Promise.resolve();
    for (let event = queue.shift(); event !== undefined && !closed; event = queue.shift()) {
      try {
        await handler(event);
      } catch (thrown) {
        tools.log.warn("listener failed", { subject: event.subject, event: event.id, reason: messageOf(thrown) });
      }
      handledCount += 1;
    }
    working = undefined;
  }

  return {
    handledCount: () => handledCount,
    droppedCount: () => droppedCount,
    offer(event) {
      if (closed) return;
      makeRoom(event);
      queue.push(event);
      working ??= work();
    },
    async close() {
      closed = true;
      tools.onClose();
      await working;
    },
  };
}
