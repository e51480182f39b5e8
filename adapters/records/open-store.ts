// Opens the store of one process: its pool, the connection that wakes readers after a commit, and who may publish what. A process that takes
// part in the bus opens the rest of its transport on top of this; the gateway needs no more.

import { storeProcesses } from "../../contracts/src/platform-services.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Tracer } from "../../ports/tracer.ts";
import type { LibraryInternals } from "../library-internals/library-internals.ts";
import type { OpenConnection } from "../postgres/bus/bus-connection.ts";
import { createWake, type Wake } from "../postgres/bus/wake.ts";
import { answerMsMaxOfServices, type ConnectionTarget, openClient, openPool } from "../postgres/connection.ts";
import { type GrantWatch, watchGrants } from "../postgres/logins/grant-watch.ts";
import { createPostgresStore, type PostgresStore } from "../postgres/store.ts";
import { type Endings, endAll } from "../system/end-all.ts";
import { publishAuthority } from "../transport/publish-authority.ts";
import { unauditedChange } from "./state-changes.ts";

export interface OpenStoreOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  /** The database as the app role. */
  readonly database: ConnectionTarget;
  /** The process's name: in every event, and in the database's list of sessions. */
  readonly source: string;
  /** The services that run here, which decide what may be published. */
  readonly services: readonly string[];
  readonly internals?: LibraryInternals;
  /** Whether the database login is this one service's own: then what it lacks of its rights is watched. */
  readonly hasOwnLogin?: boolean;
}

export interface OpenedStore {
  readonly store: PostgresStore;
  /** The same store on the reserved connection: for the lease, which must be renewed however many wait for the pool. */
  readonly leaseStore: PostgresStore;
  readonly pool: ReturnType<typeof openPool>;
  /** One connection beside the pool, for short statements that a halt depends on: reading the halts, renewing the lease. */
  readonly reserved: ReturnType<typeof openPool>;
  readonly wake: Wake;
  readonly open: OpenConnection;
  /** What the database login lacks; undefined when nothing. */
  complaint(): string | undefined;
  close(): Promise<void>;
}

/** With the reserved ones ten in all. */
const poolSizeMax = 7;
/** A halt that waits for another's lock must not keep its status waiting. */
const haltPoolSizeMax = 2;

export function openStore(options: OpenStoreOptions): OpenedStore {
  const { database, log, source, services } = options;
  const connecting = { log, applicationName: `portcullis ${source}`, answerMsMax: answerMsMaxOfServices };
  const pool = openPool(database, { ...connecting, sizeMax: poolSizeMax });
  const haltPool = openPool(database, { ...connecting, sizeMax: haltPoolSizeMax });
  const reserved = openPool(database, { ...connecting, sizeMax: 1 });
  const open = () => openClient(database, connecting);
  const wake = createWake({ ...options, open });
  const mayPublish = publishAuthority(services);
  const grants = grantsOf(options, pool);
  const storeOn = { ...options, wake, mayPublish, unauditedChange, complaint: grants.complaint };
  const store = createPostgresStore({ ...storeOn, pool, haltPool });
  const leaseStore = createPostgresStore({ ...storeOn, pool: reserved });
  const endings: Endings = [
    () => pool.end(),
    () => haltPool.end(),
    () => reserved.end(),
    () => wake.close(),
    grants.close,
    () => leaseStore.close(),
    () => store.close(),
  ];
  const { complaint } = grants;
  return { store, leaseStore, pool, reserved, wake, open, complaint, close: () => endAll(endings) };
}

function grantsOf(options: OpenStoreOptions, pool: OpenedStore["pool"]): Pick<GrantWatch, "complaint" | "close"> {
  const service = storeProcesses.find((name) => options.services.includes(name));
  if (options.hasOwnLogin !== true || service === undefined) {
    return { complaint: () => undefined, close: async () => undefined };
  }
  return watchGrants({ ...options, pool, service });
}
