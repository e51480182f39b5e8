// Opens what a process needs of store and bus, on the transport that the configuration names. Two connections stand beside the pool: one
// for wake-ups, one for cursors and leaderships. With NATS the outbox relay and the trimming run in the process that says so.
import { messageOf } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { subjectByName, subjects } from "../../contracts/src/subjects.ts";
import type { AuditLog } from "../../ports/audit-log.ts";
import type { Bus, BusHealth } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { OmsQueries } from "../../ports/oms-queries.ts";
import type { Random } from "../../ports/random.ts";
import type { SubjectKeys } from "../../ports/subject-keys.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Tracer } from "../../ports/tracer.ts";
import type { Configuration } from "../configuration/schema.ts";
import type { LibraryInternals } from "../library-internals/library-internals.ts";
import { type PaperPlace, postgresPaperPlace } from "../paper-broker/paper-place.ts";
import { type Alarms, createAlarms } from "../postgres/alarms.ts";
import { createPostgresBus } from "../postgres/bus/bus.ts";
import type { OpenConnection } from "../postgres/bus/bus-connection.ts";
import { openStoredFeed, type StoredFeed } from "../postgres/bus/open-stored-feed.ts";
import { startTrim } from "../postgres/bus/trim.ts";
import type { Wake } from "../postgres/bus/wake.ts";
import type { ConnectionTarget } from "../postgres/connection.ts";
import { createOmsQueries } from "../postgres/queries/oms-queries.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { createPostgresSubjectKeys } from "../postgres/subject-keys.ts";
import { openAuditLog } from "../records/open-audit-log.ts";
import { type OpenedRiskStore, openRiskStore } from "../records/open-risk-store.ts";
import { openStore } from "../records/open-store.ts";
import { type Endings, endAll } from "../system/end-all.ts";
import { publishAuthority, withPublishAuthority } from "./publish-authority.ts";

interface TransportOptions {
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
  /** The services that run here, which decide what may be published and which login is used on NATS; else the source's, joined by "+". */
  readonly services?: readonly string[];
  /** Whether this process keeps the house: trims the outbox, and relays it when the bus is NATS. */
  readonly housekeeping: boolean;
  /** Whether the database login is this service's own. */
  readonly hasOwnLogin?: boolean;
  /** How libraries are reached; default with every reach behind their interfaces. */
  readonly internals?: LibraryInternals;
}

export interface Transport extends Omit<OpenedRiskStore, "close"> {
  readonly auditLog: AuditLog;
  readonly subjectKeys: SubjectKeys;
  readonly paperPlace: PaperPlace;
  readonly omsQueries: OmsQueries;
  readonly store: PostgresStore;
  /** For the lease of the process. */
  readonly leaseStore: PostgresStore;
  readonly bus: Bus;
  /** Whoever opens it closes it before the transport. */
  openFeed(): StoredFeed;
  close(): Promise<void>;
}

/** What both transports share of the database. */
interface TransportBase {
  readonly open: OpenConnection;
  readonly store: PostgresStore;
  readonly wake: Wake;
  readonly alarms: Alarms;
}

export async function openTransport(given: TransportOptions): Promise<Transport> {
  const options = { ...given, services: given.services ?? given.source.split("+") };
  const { log, source, services } = options;
  const base = openStore(options);
  const { store, leaseStore, pool, wake, open } = base;
  const { close: closeRisk, ...risk } = openRiskStore(options, base);
  const { auditLog, close: closeAudit } = openAuditLog(options, base);
  const subjectKeys = createPostgresSubjectKeys({ pool });
  const paperPlace = postgresPaperPlace(pool, wake);
  const omsQueries = createOmsQueries(pool);
  const endings: Endings = [base.close, closeRisk, closeAudit];
  const close = () => endAll(endings);
  const openFeed = () => openStoredFeed(options, base);
  try {
    const alarms = createAlarms({ ...options, store, subject: subjects.alarmRaised });
    const { bus: opened, ...history } = await openBus(options, { open, store, wake, alarms }, endings);
    const bus = withPublishAuthority(opened, publishAuthority(services), source);
    if (options.housekeeping) {
      const trim = startTrim({
        ...options,
        ...history,
        pool,
        alarms,
        retentionMs: options.configuration.bus.retention_s * 1_000,
      });
      endings.push(() => trim.close());
      return {
        ...risk,
        auditLog,
        subjectKeys,
        paperPlace,
        omsQueries,
        store,
        leaseStore,
        bus: { ...bus, health: () => worseOf(bus.health(), trim.complaint()) },
        openFeed,
        close,
      };
    }
    return { ...risk, auditLog, subjectKeys, paperPlace, omsQueries, store, leaseStore, bus, openFeed, close };
  } catch (error) {
    // What went wrong first is what there is to tell.
    await close().catch((thrown: unknown) => log.warn("closing failed as well", { reason: messageOf(thrown) }));
    throw error;
  }
}

/** What the bus says of itself comes first; what keeps it from staying well comes after. */
function worseOf(own: BusHealth, complaint: string | undefined): BusHealth {
  return own.complaint !== undefined || complaint === undefined ? own : { ...own, complaint };
}

interface OpenedBus {
  readonly bus: Bus;
  readonly historyFloor?: () => Promise<Instant | undefined>;
}

export type OpenBusOptions = TransportOptions & { readonly services: readonly string[] };

export async function openBus(options: OpenBusOptions, base: TransportBase, endings: Endings): Promise<OpenedBus> {
  if (options.configuration.bus.url !== undefined) {
    // NATS is loaded only by who uses it.
    const { openNatsTransport } = await import("../nats/open-nats-transport.ts");
    return openNatsTransport(options, options.configuration.bus.url, base, endings);
  }
  const bus = createPostgresBus({ ...options, ...base, subjectByName, parkedSubject: subjects.busParked });
  endings.push(() => bus.close());
  return { bus };
}
