// Fixtures that put the PostgreSQL store and bus under the conformance suites: each on a database of its own, each "process"
// behind its own proxy so that it can die, be cut off, or lose an answer.
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { createAlarms, noAlarms } from "../adapters/postgres/alarms.ts";
import { createPostgresBus } from "../adapters/postgres/bus/bus.ts";
import { createWake, type Wake } from "../adapters/postgres/bus/wake.ts";
import { type ConnectionTarget, openClient, openPool } from "../adapters/postgres/connection.ts";
import { createPostgresStore, type PostgresStore } from "../adapters/postgres/store.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import type { Subject } from "../contracts/src/subject.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Bus } from "../ports/bus.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { Timers } from "../ports/timers.ts";
import type { BusFixture, HeldEvent, MortalPeer } from "./conformance/bus-fixture.ts";
import type { StoreFixture } from "./conformance/store-fixture.ts";
import { conformanceSubjects } from "./conformance/subjects.ts";
import { type CutProxy, startCutProxy } from "./cut-proxy.ts";
import { noMetrics, noTracer } from "./no-telemetry.ts";
import { testDatabase } from "./postgres.ts";
import { quietLog } from "./quiet-log.ts";

const known = new Map<string, Subject<unknown>>(
  [...conformanceSubjects, ...Object.values(subjects)].map((one) => [one.name, one as Subject<unknown>]),
);
export const knownSubject = (name: string): Subject<unknown> | undefined => known.get(name);

export interface PostgresPeer {
  readonly store: PostgresStore;
  readonly wake: Wake;
  readonly pool: pg.Pool;
  readonly bus: Bus;
  openBus(): Bus;
  openStore(): PostgresStore;
  close(): Promise<void>;
}

export interface PeerOptions {
  readonly applicationName?: string;
  readonly log?: Log;
  readonly attemptsMax?: number;
  readonly poolSize?: number;
  readonly metrics?: Metrics;
  readonly answerMsMax?: number;
  readonly timers?: Timers;
  /** Publishes alarms, as a service does. */
  readonly alarms?: boolean;
}

/** Everything that one process of the platform has on PostgreSQL. */
export function openPeer(target: ConnectionTarget, options: PeerOptions = {}): PostgresPeer {
  const log = options.log ?? quietLog;
  const connection = {
    log,
    applicationName: options.applicationName ?? "fixture",
    ...(options.answerMsMax === undefined ? {} : { answerMsMax: options.answerMsMax }),
  };
  const pool = openPool(target, { ...connection, sizeMax: options.poolSize ?? 10 });
  const tools = {
    clock: systemClock(),
    random: systemRandom(),
    timers: options.timers ?? systemTimers(),
    log,
    metrics: options.metrics ?? noMetrics,
    tracer: noTracer,
    source: "fixture",
  };
  const open = (): Promise<pg.Client> => openClient(target, connection);
  const wake = createWake({ ...tools, open });
  const attempts = options.attemptsMax === undefined ? {} : { attemptsMax: options.attemptsMax };
  const openStore = (): PostgresStore => createPostgresStore({ ...tools, pool, wake, ...attempts });
  const store = openStore();
  const alarms = options.alarms === true ? createAlarms({ ...tools, store, subject: subjects.alarmRaised }) : noAlarms;
  const named = { subjectByName: knownSubject, parkedSubject: subjects.busParked };
  const openBus = (): Bus => createPostgresBus({ ...tools, ...named, open, store, wake, alarms });
  const bus = openBus();
  return {
    store,
    wake,
    pool,
    bus,
    openBus,
    openStore,
    async close() {
      await bus.close();
      await store.close();
      await wake.close();
      await pool.end();
    },
  };
}

const insertEvent = "insert into outbox (event_id, at_us, subject, key, source, payload) values ($1,$2,$3,$4,$5,$6)";

function rowOf(id: string, event: { readonly subject: string; readonly key: string; readonly payload: unknown }) {
  return [id, 1_000_000, event.subject, event.key, "foreign", Buffer.from(JSON.stringify(event.payload))];
}

/** A transaction that has drawn its number in the outbox and does not end until it is told to. */
export async function holdInOutbox(
  owner: ConnectionTarget,
  event: { readonly subject: string; readonly key: string; readonly payload: unknown },
): Promise<HeldEvent> {
  const client = await openClient(owner, { log: quietLog, applicationName: "a slow transaction" });
  await client.query("begin");
  await client.query(insertEvent, rowOf(randomUUID(), event));
  const end = async (how: "commit" | "rollback"): Promise<void> => {
    await client.query(how);
    await client.end();
  };
  return { commit: () => end("commit"), rollback: () => end("rollback") };
}

/** The fixture, and the database behind it as its owner sees it. */
export type PostgresBusFixture = BusFixture & { readonly owner: ConnectionTarget };

export async function postgresBusFixture(options: PeerOptions = {}): Promise<PostgresBusFixture> {
  const database = await testDatabase();
  const owner = openPool(database.address.owner, { log: quietLog, applicationName: "fixture owner", sizeMax: 2 });
  const proxy = await startCutProxy(database.address.app);
  const first = openPeer(proxy.target, options);
  const others: { readonly peer: PostgresPeer; readonly proxy: CutProxy }[] = [];
  let bus = first.bus;
  return {
    owner: database.address.owner,
    store: first.store,
    bus,
    async another(): Promise<MortalPeer> {
      const itsProxy = await startCutProxy(database.address.app);
      const peer = openPeer(itsProxy.target, options);
      others.push({ peer, proxy: itsProxy });
      return { store: peer.store, bus: peer.bus, die: async () => itsProxy.cut() };
    },
    async reopenBus() {
      await bus.close();
      bus = first.openBus();
      return bus;
    },
    async injectRaw(event) {
      const id = randomUUID();
      await owner.query(insertEvent, rowOf(id, event));
      return id;
    },
    holdEvent: (event) => holdInOutbox(database.address.owner, event),
    async parked() {
      const found = await owner.query("select subscription, event_id from parked_event order by parked_us");
      const reported = await owner.query(
        "select convert_from(payload, 'UTF8') as text from outbox where subject = $1",
        [subjects.busParked.name],
      );
      const ids = new Set(reported.rows.map((row) => JSON.parse(row.text).event_id));
      return found.rows
        .filter((row) => ids.has(row.event_id))
        .map((row) => ({ subscription: row.subscription, eventId: row.event_id }));
    },
    async outage() {
      proxy.cut();
      return async () => proxy.restore();
    },
    async close() {
      // A handler of a dead process may hang for ever, so the dead are not waited for.
      for (const one of others) one.proxy.cut();
      await Promise.race([
        Promise.all([bus.close(), ...others.map((one) => one.peer.close())]),
        new Promise((resolve) => setTimeout(resolve, 1_000)),
      ]);
      await first.close();
      await owner.end();
      for (const one of others) await one.proxy.close();
      await proxy.close();
      await database.drop();
    },
  };
}

export async function postgresStoreFixture(options: PeerOptions = {}): Promise<StoreFixture> {
  const attemptsMax = 4;
  const database = await testDatabase();
  const owner = openPool(database.address.owner, { log: quietLog, applicationName: "fixture owner", sizeMax: 2 });
  const proxy = await startCutProxy(database.address.app);
  const peer = openPeer(proxy.target, { ...options, attemptsMax });
  let current = peer.store;
  return {
    store: peer.store,
    attemptsMax,
    async committed() {
      const found = await owner.query(
        "select event_id, subject, key, convert_from(payload, 'UTF8') as text from outbox order by id",
      );
      return found.rows.map((row) => ({
        id: row.event_id,
        subject: row.subject,
        key: row.key,
        payload: JSON.parse(row.text),
      }));
    },
    async conflictNext(times) {
      await owner.query(`
        drop sequence if exists planned_conflict; create sequence planned_conflict;
        create or replace function plan_conflict() returns trigger language plpgsql security definer
          set search_path = portcullis, pg_temp as $$
        begin
          if nextval('planned_conflict') <= ${times} then raise exception 'planned' using errcode = '40001'; end if;
          return null;
        end $$;
        create or replace trigger planned_conflict after insert on outbox execute function plan_conflict()`);
    },
    async loseNextCommitAnswer(outcome) {
      proxy.loseNextCommitAnswer(outcome);
    },
    async reopen() {
      await current.close();
      current = peer.openStore();
      return current;
    },
    async close() {
      await current.close();
      await peer.close();
      await owner.end();
      await proxy.close();
      await database.drop();
    },
  };
}
