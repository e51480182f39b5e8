// One ephemeral subscription: a bounded queue before a handler that is called for one event at a time. A failing handler
// loses that event and nothing else.
import { messageOf } from "../../../contracts/src/fault.ts";
import type { BusEvent, EphemeralOptions, Handler, Subscription } from "../../../ports/bus.ts";
import type { Log } from "../../../ports/log.ts";
import type { Counter } from "../../../ports/metrics.ts";
import { overflowQueue } from "../../transport/overflow-queue.ts";

export interface EphemeralSubscription extends Subscription {
  offer(event: BusEvent): void;
}

export function openEphemeral(
  options: EphemeralOptions,
  handler: Handler,
  tools: { readonly log: Log; readonly dropped: Counter; readonly onClose: () => void },
): EphemeralSubscription {
  const queue = overflowQueue(options.queueMax, options.overflow);
  let handledCount = 0;
  let closed = false;
  let working: Promise<void> | undefined;

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
    droppedCount: () => queue.droppedCount(),
    caughtUpAt: () => undefined,
    offer(event) {
      if (closed) return;
      const droppedBefore = queue.droppedCount();
      queue.push(event);
      const dropped = queue.droppedCount() - droppedBefore;
      if (dropped > 0) tools.dropped.add(dropped, { policy: options.overflow });
      working ??= work();
    },
    async close() {
      closed = true;
      tools.onClose();
      await working;
    },
  };
}
