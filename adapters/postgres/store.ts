// The store on PostgreSQL: runs a unit of work in one transaction, again when it collided, and tells the truth about a
// commit whose answer was lost. The pool belongs to whoever made it; closing the store does not end it.
import type pg from "pg";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { Outcome, Store, StoreHealth, UnitOfWork, WorkKind } from "../../ports/store.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Tracer } from "../../ports/tracer.ts";
import {
  type ChangeWatch,
  statementReader,
  type UnauditedChange,
  watchChanges,
  watchedEvents,
} from "../records/audited-changes.ts";
import type { MayPublish } from "../transport/publish-authority.ts";
import { createOutboxLane } from "./bus/outbox-key.ts";
import type { Wake } from "./bus/wake.ts";
import { storeFault } from "./store-fault.ts";
import { createOutageNotes } from "./store-outage.ts";
import { askOutcome } from "./store-outcome.ts";
import { openStatement } from "./store-statement.ts";
import { openTransaction, type Sql } from "./store-transaction.ts";
import { createUnitOfWork } from "./unit-of-work.ts";

interface PostgresStoreOptions {
  /** Connections of the app role. */
  readonly pool: pg.Pool;
  /** Connections that only halting uses; those of the pool when absent. */
  readonly haltPool?: pg.Pool;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  /** The publishing service's name, in every event. */
  readonly source: string;
  /** Which subjects this process may publish; any other is a Defect. Absent: all of them. */
  readonly mayPublish?: MayPublish;
  /** Which changes the audit log would not know of: they are a Defect and never committed. Absent: all are let through. */
  readonly unauditedChange?: UnauditedChange;
  /** What the database login lacks, for health. */
  readonly complaint?: () => string | undefined;
  /** Told after every commit that had events. */
  readonly wake: Pick<Wake, "poke">;
  /** Runs of one work before STORE_CONFLICT; default 8. */
  readonly attemptsMax?: number;
}

export interface PostgresStore extends Store {
  /** As `transact`, for adapters that keep tables of their own beside the unit of work. */
  transactSql<T>(name: string, work: (unit: UnitOfWork, sql: Sql) => Promise<T>, kind?: WorkKind): Promise<T>;
}

const attemptsMaxDefault = 8;
const backOffMsMin = 2;
const backOffMsMax = 100;
const closeMsMax = 5_000;
const healthMsMax = 2_000;
/** As often as health is asked for. */
const freshMs = 500;

export function createPostgresStore(options: PostgresStoreOptions): PostgresStore {
  const { pool, log, timers, tracer, wake } = options;
  const attemptsMax = options.attemptsMax ?? attemptsMaxDefault;
  const lane = createOutboxLane(pool);
  const outage = createOutageNotes(log);
  const recordsOf = statementReader();
  const finished = options.metrics.counter("portcullis_store_transactions_total", "Transactions by their end.", [
    "end",
  ]);
  const retried = options.metrics.counter("portcullis_store_retries_total", "Transactions run again after a conflict.");
  const running = new Set<Promise<unknown>>();
  /** By the name of the work: what the database role was refused, until the same succeeds. */
  const forbidden = new Map<string, string>();
  let closed = false;
  /** When the newest work began that was done. */
  let answeredAt: Instant | undefined;

  function closedFault(): Fault {
    return new Fault("STORE_UNAVAILABLE", "the store has been closed", { retry: "never" });
  }

  async function attempt<T>(
    name: string,
    work: (unit: UnitOfWork, sql: Sql) => Promise<T>,
    kind: WorkKind | undefined,
  ): Promise<T> {
    const marker = () => ({ id: options.random.uuid(), at: options.clock.now() });
    const isAlone = kind?.isOneStatement === true;
    const place = { pool: isHalting(name) ? (options.haltPool ?? pool) : pool, name };
    const transaction = isAlone ? openStatement(place) : openTransaction({ ...place, marker });
    const watch = options.unauditedChange === undefined ? undefined : watchChanges(name, options.unauditedChange);
    const sql = watch === undefined ? transaction : watchedSql(transaction, watch, recordsOf);
    const watchEvents = (events: UnitOfWork["events"]) => (watch === undefined ? events : watchedEvents(events, watch));
    const buffered = createUnitOfWork({ ...options, sql, watchEvents });
    const { unit } = buffered;
    let result: T;
    try {
      result = await work(unit, sql);
      // A statement that the work did not await belongs to it all the same.
      await transaction.idle();
      const failure = transaction.failure();
      if (failure !== undefined) throw failure;
      watch?.judge();
    } catch (thrown) {
      buffered.seal();
      await transaction.rollback();
      // The work may have wrapped the conflict in an error of its own; it is a conflict all the same.
      throw transaction.failure()?.code === "STORE_CONFLICT" ? transaction.failure() : thrown;
    }
    const entries = buffered.seal();
    const begun = transaction.begun();
    if (begun) await transaction.commit(entries);
    else {
      await transaction.rollback();
      if (entries.length > 0) await lane.append(entries);
    }
    if (begun || entries.length > 0) outage.committed();
    if (entries.length > 0) wake.poke("events", new Set(entries.map(({ subject }) => subject)));
    return result;
  }

  async function attempts<T>(
    name: string,
    work: (unit: UnitOfWork, sql: Sql) => Promise<T>,
    kind: WorkKind | undefined,
  ): Promise<T> {
    for (let count = 1; ; count += 1) {
      const begunAt = options.clock.now();
      try {
        const result = await attempt(name, work, kind);
        finished.add(1, { end: "committed" });
        forbidden.delete(name);
        answeredAt = begunAt;
        return result;
      } catch (thrown) {
        const conflict = thrown instanceof Fault && thrown.code === "STORE_CONFLICT";
        if (!conflict || count >= attemptsMax) {
          finished.add(1, { end: endOf(thrown) });
          if (thrown instanceof Fault) outage.failed(name, thrown);
          if (thrown instanceof Fault && thrown.code === "STORE_FORBIDDEN") forbidden.set(name, thrown.message);
          throw thrown;
        }
        retried.add(1);
        await timers.sleep(jittered(options.random, count));
      }
    }
  }

  async function transactSql<T>(
    name: string,
    work: (unit: UnitOfWork, sql: Sql) => Promise<T>,
    kind?: WorkKind,
  ): Promise<T> {
    if (closed) throw closedFault();
    const run = tracer.span("store.transact", { name }, () => attempts(name, work, kind));
    running.add(run);
    try {
      return await run;
    } finally {
      running.delete(run);
    }
  }

  return {
    transactSql,
    transact: (name, work, kind) => transactSql(name, (unit) => work(unit), kind),
    async outcomeOf(transaction): Promise<Outcome> {
      if (closed) throw closedFault();
      return askOutcome(pool, timers, transaction);
    },
    async health(): Promise<StoreHealth> {
      if (closed) return { reachable: false, complaint: "the store has been closed" };
      const complaint = options.complaint?.() ?? [...forbidden.values()][0];
      if (complaint !== undefined) return { reachable: false, complaint };
      // What it did a moment ago says as much as a question would.
      const isFresh =
        answeredAt !== undefined && Math.abs(millisecondsBetween(answeredAt, options.clock.now())) < freshMs;
      return isFresh && answeredAt !== undefined ? { reachable: true, answeredAt } : askHealth(pool, timers);
    },
    async close(): Promise<void> {
      closed = true;
      await within(timers, closeMsMax, Promise.allSettled([...running]));
    },
  };
}

/** A statement that changed no row changed nothing. */
function watchedSql(sql: Sql, watch: ChangeWatch, recordsOf: ReturnType<typeof statementReader>): Sql {
  return {
    read: sql.read,
    async write(statement) {
      const result = await sql.write(statement);
      if (result.rowCount !== 0) for (const record of recordsOf(statement.text)) watch.wrote(record);
      return result;
    },
  };
}

function endOf(thrown: unknown): string {
  if (thrown instanceof Fault) return thrown.code;
  return thrown instanceof Defect ? "defect" : "refused";
}

/** Doubling with full jitter, so that those who collided do not meet again. */
function jittered(random: Random, attempt: number): number {
  const spanMs = Math.min(backOffMsMax, backOffMsMin * 2 ** attempt);
  const byte = random.bytes(1)[0] ?? 0;
  return backOffMsMin + (spanMs * byte) / 255;
}

async function within<T>(timers: Timers, ms: number, promise: Promise<T>): Promise<T | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([promise, timers.sleep(ms, done.signal).then(() => undefined)]);
  } finally {
    done.abort();
  }
}

/** Latching, adopting, reading and lifting halts: however many wait for the pool, these do not. */
const isHalting = (name: string): boolean => name.startsWith("halts.") || name === "risk.halt";

async function askHealth(pool: pg.Pool, timers: Timers): Promise<StoreHealth> {
  const asked = pool.query("select 1").then(
    (): StoreHealth => ({ reachable: true }),
    (thrown: unknown): StoreHealth => ({ reachable: false, complaint: storeFault(thrown, "a health check").message }),
  );
  const answer = await within(timers, healthMsMax, asked);
  return answer ?? { reachable: false, complaint: `the database did not answer within ${healthMsMax} ms` };
}
