// The NATS transport as the conformance suite wants it: a real nats-server, a real PostgreSQL with the outbox behind it, and
// any number of "processes", each with connections of its own, so that one of them can die alone.
import { randomUUID } from "node:crypto";
import { createNatsBus } from "../adapters/nats/bus.ts";
import { connectNats, type NatsLink } from "../adapters/nats/connect.ts";
import { createLogins } from "../adapters/nats/logins/logins.ts";
import {
  createLocks,
  pairedOnPostgres,
  parkOnPostgres,
  relayedOnPostgres,
  relayOnPostgres,
} from "../adapters/nats/on-postgres.ts";
import { type LeadRelay, type Relay, type RelayOptions, startRelay } from "../adapters/nats/relay.ts";
import type { StreamOptions } from "../adapters/nats/stream.ts";
import type { SubjectLookup } from "../adapters/nats/wire.ts";
import { createBusSession } from "../adapters/postgres/bus/bus-session.ts";
import { proveOnPostgres } from "../adapters/postgres/bus/outbox-proof.ts";
import { createParking } from "../adapters/postgres/bus/subscription-parking.ts";
import { createWake } from "../adapters/postgres/bus/wake.ts";
import { openClient, openPool } from "../adapters/postgres/connection.ts";
import { createPostgresStore } from "../adapters/postgres/store.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { createMetrics } from "../adapters/telemetry/prometheus-metrics.ts";
import { everySubject, subjectByName, subjects } from "../contracts/src/subjects.ts";
import type { Bus } from "../ports/bus.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import type { BusFixture } from "./conformance/bus-fixture.ts";
import { conformanceSubjects } from "./conformance/subjects.ts";
import { type NatsServer, startNatsServer } from "./nats-server.ts";
import { type TestDatabase, testDatabase } from "./postgres.ts";
import { holdInOutbox } from "./postgres-fixture.ts";
import { quietLog } from "./quiet-log.ts";

export const testStream: StreamOptions = { subjects: [everySubject], bytesMax: 64 * 1_048_576 };

const known = new Map<string, ReturnType<typeof subjectByName>>(conformanceSubjects.map((each) => [each.name, each]));
export const testLookup: SubjectLookup = (name) => known.get(name) ?? subjectByName(name);

export interface NatsProcess {
  readonly store: Store;
  readonly bus: Bus;
  readonly link: NatsLink;
  reopenBus(): Promise<Bus>;
  startRelay(settings?: Partial<RelayOptions>, wrapLead?: (lead: LeadRelay) => LeadRelay): Promise<Relay>;
  /** Ends it as kill -9 would. */
  die(): Promise<void>;
  close(): Promise<void>;
}

export interface NatsPlatform {
  readonly server: NatsServer;
  readonly database: TestDatabase;
  process(name: string, log?: Log): Promise<NatsProcess>;
  /** Rows of a statement run by the owner of the database. */
  sql<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

/** A server and a database without any process yet. */
export async function openNatsPlatform(): Promise<NatsPlatform> {
  const [server, database] = await Promise.all([startNatsServer({ jetStream: true }), testDatabase()]);
  const owner = await openClient(database.address.owner, { log: quietLog, applicationName: "nats fixture" });
  const processes = new Set<NatsProcess>();
  return {
    server,
    database,
    async process(name, log = quietLog) {
      const made = await openProcess(server.url, database, name, log);
      processes.add(made);
      return made;
    },
    async sql<Row>(text: string, values: readonly unknown[] = []) {
      return (await owner.query(text, [...values])).rows as Row[];
    },
    async close() {
      await Promise.all([...processes].map((each) => each.close()));
      await owner.end();
      await database.drop();
      await server.stop();
    },
  };
}

async function openProcess(url: string, database: TestDatabase, name: string, log: Log): Promise<NatsProcess> {
  const ports = { clock: systemClock(), timers: systemTimers(), random: systemRandom(), log };
  const metrics = createMetrics({ service: name });
  const connecting = { log, applicationName: name };
  const open = () => openClient(database.address.app, connecting);
  const pool = openPool(database.address.app, { ...connecting, sizeMax: 6 });
  const wake = createWake({ ...ports, open });
  const session = createBusSession({ ...ports, open, holder: name });
  const locks = createLocks({ ...ports, open });
  const tracer = { span: <T>(_name: string, _fields: unknown, work: () => Promise<T>) => work() };
  const store = createPostgresStore({ ...ports, pool, metrics, tracer, source: name, wake });
  const parking = createParking({ store, parkedSubject: subjects.busParked, clock: ports.clock, log, metrics });
  const relays: Relay[] = [];
  const links: NatsLink[] = [];
  const never = new AbortController().signal;
  await Promise.all([wake.ready(never), session.opened(never)]);

  async function link(): Promise<NatsLink> {
    const made = await connectNats({ url, name, log, reconnectMsMin: 20, reconnectMsMax: 100 });
    links.push(made);
    return made;
  }

  async function openBus(): Promise<Bus> {
    const options = { ...ports, stream: testStream, source: name, lookup: testLookup, recordMs: 100 };
    const prove = proveOnPostgres(session.run);
    // As behind a server with a login for each; guard.test.ts has those that are open.
    const guard = { isClosed: async () => true, mayPublishOwn: () => true };
    const logins = createLogins({ clock: ports.clock, read: () => pairedOnPostgres(session, ports.clock.now()) });
    const outbox = { head: () => session.end(), relayed: () => relayedOnPostgres(session) };
    return createNatsBus({
      ...options,
      guard,
      logins,
      link: await link(),
      lead: locks.lead,
      parking,
      prove,
      ...outbox,
    });
  }

  async function endDatabase(): Promise<void> {
    await Promise.all([wake.close(), session.close(), locks.close()]);
    await pool.end();
  }

  let bus = await openBus();
  let ended: Promise<void> | undefined;
  return {
    store,
    bus,
    get link() {
      return links[0] as NatsLink;
    },
    async reopenBus() {
      await bus.close();
      bus = await openBus();
      return bus;
    },
    async startRelay(settings = {}, wrapLead = (lead) => lead) {
      const lead = wrapLead(relayOnPostgres({ ...ports, session, patterns: [everySubject] }));
      const park = parkOnPostgres(parking, ports.clock);
      const onPoke = wake.onPoke.bind(wake);
      const relay = startRelay({ ...ports, link: await link(), stream: testStream, lead, park, onPoke, ...settings });
      relays.push(relay);
      return relay;
    },
    async die() {
      ended ??= Promise.all(links.map((each) => each.connection.close())).then(endDatabase);
      await ended;
    },
    async close() {
      ended ??= bus
        .close()
        .then(() => Promise.all(relays.map((each) => each.close())))
        .then(() => store.close())
        .then(endDatabase);
      await ended;
    },
  };
}

export async function openNatsFixture(): Promise<BusFixture> {
  const fixture = await openNatsPlatform();
  const first = await fixture.process("first");
  const relayProcess = await fixture.process("relay");
  await relayProcess.startRelay();
  return {
    store: first.store,
    bus: first.bus,
    another: () => fixture.process("another"),
    reopenBus: () => first.reopenBus(),
    holdEvent: (event) => holdInOutbox(fixture.database.address.owner, event),
    async injectRaw({ subject, key, payload }) {
      const id = randomUUID();
      await fixture.sql(
        "insert into outbox (event_id, at_us, subject, key, source, payload) values ($1, 1, $2, $3, 'test', $4)",
        [id, subject, key, Buffer.from(JSON.stringify(payload))],
      );
      return id;
    },
    async parked() {
      const text = `select subscription, event_id as "eventId" from parked_event order by parked_us`;
      return fixture.sql<{ subscription: string; eventId: string }>(text);
    },
    async outage() {
      await fixture.server.kill();
      return () => fixture.server.restart();
    },
    close: () => fixture.close(),
  };
}
