// What a durable subscription of the memory bus does about events that it put aside. The memory bus has no store: what it keeps, it keeps in the world at
// once, unless its process is dead.

import { isNotYet } from "../../adapters/transport/not-yet.ts";
import { type Aside, createAside, refusedAside } from "../../adapters/transport/put-aside.ts";
import { isRefused } from "../../adapters/transport/refused.ts";
import { messageOf } from "../../contracts/src/fault.ts";
import type { BusEvent, DurableOptions, Handler } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import type { MemoryBusOptions } from "./bus-options.ts";
import type { decode } from "./codec.ts";
import { parkedNow } from "./parked-events.ts";
import type { LogEntry } from "./tables.ts";

const silent = () => undefined;
/** The memory bus says nothing. */
const noLog: Log = { debug: silent, info: silent, warn: silent, error: silent, with: () => noLog };

export interface WhyAside {
  readonly lane: string | undefined;
  readonly error: string;
  readonly attempts: number;
}

export function asideOf({ id: eventId, subject, key, at, source, bytes }: LogEntry, why: WhyAside) {
  const state = why.lane === undefined ? ("PARKED" as const) : ("HELD" as const);
  return { eventId, subject, key, at, source, payload: new TextDecoder().decode(bytes), state, ...why };
}

/** Undefined when it was handled. Trouble of the platform is no failure of the event's own. */
export async function attemptOf(
  handler: Handler,
  event: BusEvent,
): Promise<{ readonly error: string; readonly isOwn: boolean; readonly isRefused: boolean } | undefined> {
  try {
    await handler(event);
    return undefined;
  } catch (thrown) {
    return { error: messageOf(thrown), isOwn: !isNotYet(thrown), isRefused: isRefused(thrown) };
  }
}

export function memoryAside(
  { process, clock, subjectByName }: MemoryBusOptions,
  options: DurableOptions,
  handler: Handler,
  read: typeof decode,
): Aside {
  const rows = parkedNow(process.tables.parked);
  return createAside({
    options,
    handler,
    clock,
    log: noLog,
    hold: silent,
    read(kept) {
      const decoded = read({ ...kept, id: kept.eventId, bytes: new TextEncoder().encode(kept.payload) }, subjectByName);
      return decoded.ok ? { event: decoded.event } : { poison: decoded.reason };
    },
    store: {
      async put(event) {
        if (process.isAlive()) rows.put(event);
      },
      due: async (subscription, perLaneMax) => rows.due(subscription, perLaneMax),
      take: async ({ subscription, eventId }) => process.isAlive() && rows.take(subscription, eventId, clock.now()),
      async failed({ subscription, eventId }, error) {
        if (process.isAlive()) rows.failed(subscription, eventId, error, clock.now());
      },
      async done({ subscription, eventId }) {
        if (process.isAlive()) rows.remove(subscription, eventId);
      },
      async refused(event, error) {
        if (!process.isAlive()) return;
        rows.remove(event.subscription, event.eventId);
        rows.put(refusedAside(event, error, clock.now()));
      },
    },
  });
}
