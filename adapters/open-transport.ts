// Opens what a process needs of store and bus, on the transport that the configuration names. Two connections stand beside the pool: one
// for wake-ups, one for cursors and leaderships. With NATS the outbox relay and the trimming run in the process that says so.
import { subjectByName, subjects } from "../contracts/src/subjects.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { Random } from "../ports/random.ts";
import type { Store } from "../ports/store.ts";
import type { Timers } from "../ports/timers.ts";
import type { Tracer } from "../ports/tracer.ts";
import type { Configuration } from "./configuration/schema.ts";
import { createPostgresBus } from "./postgres/bus.ts";
import type { OpenConnection } from "./postgres/bus-connection.ts";
import { type ConnectionTarget, openClient, openPool } from "./postgres/connection.ts";
import { createPostgresStore, type PostgresStore } from "./postgres/store.ts";
import { startTrim } from "./postgres/trim.ts";
import { createWake, type Wake } from "./postgres/wake.ts";

export interface TransportOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly configuration: Configuration;
  /** The database as the app role. */
  readonly database: ConnectionTarget;
  /** The service's name: in every event, and in the database's list of sessions. */
  readonly source: string;
  /** Whether this process keeps the house: trims the outbox, and relays it when the bus is NATS. */
  readonly housekeeping: boolean;
}

export interface Transport {
  readonly store: Store;
  readonly bus: Bus;
  close(): Promise<void>;
}

/** What both transports share of the database. */
interface Base {
  readonly open: OpenConnection;
  readonly store: PostgresStore;
  readonly wake: Wake;
}

export async function openTransport(options: TransportOptions): Promise<Transport> {
  const { database, log, source } = options;
  const connecting = { log, applicationName: `portcullis ${source}` };
  const pool = openPool(database, connecting);
  const open = () => openClient(database, connecting);
  const wake = createWake({ ...options, open });
  const store = createPostgresStore({ ...options, pool, wake });
  const endings: (() => Promise<void>)[] = [() => pool.end(), () => wake.close(), () => store.close()];
  const close = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const bus = await openBus(options, { open, store, wake }, endings);
    if (options.housekeeping) {
      const trim = startTrim({ ...options, pool, retentionMs: options.configuration.bus.retention_s * 1_000 });
      endings.push(() => trim.close());
    }
    return { store, bus, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openBus(options: TransportOptions, base: Base, endings: (() => Promise<void>)[]): Promise<Bus> {
  if (options.configuration.bus.url !== undefined) {
    // NATS is loaded only by who uses it.
    const { openNatsTransport } = await import("./nats/open-nats-transport.ts");
    return openNatsTransport(options, options.configuration.bus.url, base, endings);
  }
  const bus = createPostgresBus({ ...options, ...base, subjectByName, parkedSubject: subjects.busParked });
  endings.push(() => bus.close());
  return bus;
}
