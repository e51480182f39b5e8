// The bus in memory: the same promises as every transport (ports/bus.ts) over the shared log of a MemoryTables, in virtual
// or in real time, whichever its timers keep.

import { mustBePublisher } from "../../adapters/transport/publish-authority.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { validatePattern, validatePatterns } from "../../contracts/src/subjects.ts";
import type { Bus, Subscription } from "../../ports/bus.ts";
import type { MemoryBusOptions } from "./bus-options.ts";
import { encode } from "./codec.ts";
import { durableSubscription, type MemorySubscription } from "./durable.ts";
import { ephemeralSubscription } from "./ephemeral.ts";
import { never, type WrittenEvent } from "./tables.ts";

/** How long broadcasts are gathered before the newest of each key go out. */
const batchMs = 10;

export function memoryBus(options: MemoryBusOptions): Bus {
  const { process, timers } = options;
  const { tables } = process;
  const subscriptions = new Set<Subscription & Partial<MemorySubscription>>();
  const batch = new Map<string, WrittenEvent>();
  let closed = false;

  const add = (make: () => Subscription): Promise<Subscription> => {
    if (!process.isAlive()) return never;
    if (closed) throw new Fault("BUS_UNAVAILABLE", "the bus is closed", { retry: "never" });
    const inner = make();
    const subscription: Subscription = {
      ...inner,
      close() {
        subscriptions.delete(subscription);
        return inner.close();
      },
    };
    subscriptions.add(subscription);
    return Promise.resolve(subscription);
  };

  const flush = () => {
    const events = [...batch.values()];
    batch.clear();
    if (closed || !process.isReachable()) return;
    for (const event of events) for (const watcher of [...tables.watchers]) watcher.broadcast(event);
  };

  return {
    async subscribe(durable, handler) {
      validatePatterns(durable.subjects);
      return add(() => durableSubscription(options, durable, handler));
    },
    async listen(ephemeral, handler) {
      for (const pattern of ephemeral.subjects) validatePattern(pattern);
      return add(() => ephemeralSubscription(options, ephemeral, handler));
    },
    broadcast(subject, payload) {
      if (subject.delivery !== "conflated") throw new Defect(`${subject.name} is durable and may not be broadcast`);
      mustBePublisher(options.mayPublish, process.name, subject.name);
      if (closed || !process.isAlive()) return;
      const key = subject.key(payload);
      if (batch.size === 0) timers.after(batchMs, flush);
      batch.set(JSON.stringify([subject.name, key]), {
        id: options.random.uuid(),
        subject: subject.name,
        key,
        at: options.clock.now(),
        source: process.name,
        bytes: encode(payload),
      });
    },
    async forget(name) {
      if (!process.isAlive()) return never;
      tables.durables.delete(name);
    },
    health() {
      if (closed) return { connected: false, complaint: "the bus is closed" };
      if (!process.isReachable()) return { connected: false, complaint: "the bus is out of reach" };
      for (const { complaint } of subscriptions) {
        const said = complaint?.();
        if (said !== undefined) return { connected: true, complaint: said };
      }
      return { connected: true };
    },
    async close() {
      closed = true;
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
    },
  };
}
