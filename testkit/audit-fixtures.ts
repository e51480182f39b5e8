// Fixtures that put the audit logs under their suite: on PostgreSQL behind a proxy that can lose the answer to an append, and in memory in virtual
// time.

import type { LibraryInternals } from "../adapters/library-internals/library-internals.ts";
import { createPostgresAuditLog, type PostgresAuditLog } from "../adapters/postgres/audit/audit-log.ts";
import { createOutboxReader } from "../adapters/postgres/bus/outbox-reader.ts";
import { type ConnectionTarget, openClient } from "../adapters/postgres/connection.ts";
import type { Migration } from "../adapters/postgres/migrate.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { AuditLogFixture, PublishedEntry } from "./conformance/audit-log-fixture.ts";
import { type CutProxy, startCutProxy } from "./cut-proxy.ts";
import { internalsUnderTest } from "./http/test-ports.ts";
import { memoryAuditLog } from "./memory/audit-log.ts";
import { auditTables } from "./memory/audit-tables.ts";
import { type CommitFate, type MemoryFaults, noFaults } from "./memory/faults.ts";
import { memoryTables } from "./memory/tables.ts";
import { noMetrics } from "./no-telemetry.ts";
import { type TestDatabase, testDatabase } from "./postgres.ts";
import { openPeer, type PostgresPeer } from "./postgres-fixture.ts";
import { quietLog } from "./quiet-log.ts";
import { scheduler } from "./virtual/scheduler.ts";

/** As pg_stat_activity shows the connection that appends. */
export const auditFixtureName = "fixture audit";

export interface AuditPeer extends PostgresPeer {
  readonly audit: PostgresAuditLog;
}

/** Everything that the operations process has on PostgreSQL. */
export function openAuditPeer(
  target: ConnectionTarget,
  answerMsMax = 10_000,
  internals: LibraryInternals = internalsUnderTest,
): AuditPeer {
  const peer = openPeer(target, { answerMsMax });
  const audit = createPostgresAuditLog({
    open: () => openClient(target, { log: quietLog, applicationName: auditFixtureName, answerMsMax }),
    pool: peer.pool,
    wake: peer.wake,
    clock: systemClock(),
    timers: systemTimers(),
    random: systemRandom(),
    log: quietLog,
    metrics: noMetrics,
    internals,
  });
  return {
    ...peer,
    audit,
    async close() {
      await audit.close();
      await peer.close();
    },
  };
}

export interface PostgresAuditFixture extends AuditLogFixture {
  readonly audit: PostgresAuditLog;
  readonly database: TestDatabase;
  readonly proxy: CutProxy;
  readonly peer: AuditPeer;
}

/** One database for a whole file of tests, because making one takes longer than a check. */
export interface AuditFixture {
  /** A fixture on an empty log. Only one at a time. */
  open(answerMsMax?: number): Promise<PostgresAuditFixture>;
  close(): Promise<void>;
}

// What no program may do: only a superuser, and only with the triggers out of the way.
const emptyText = `
begin;
alter table audit_entry disable trigger append_only;
alter table audit_checkpoint disable trigger append_only;
alter table audit_closed_log disable trigger append_only;
truncate audit_entry, audit_checkpoint, audit_tile, audit_closed_log;
update audit_head set pen = 0, incarnation = '', taken_us = 0, size = 0, hash = repeat('0', 64), "timestamp" = '';
alter table audit_entry enable always trigger append_only;
alter table audit_checkpoint enable always trigger append_only;
alter table audit_closed_log enable always trigger append_only;
commit`;

export function auditFixture(migrations?: readonly Migration[], internals?: LibraryInternals): AuditFixture {
  let making: Promise<TestDatabase> | undefined;
  return {
    async open(answerMsMax) {
      if (making !== undefined) await empty(await making);
      making ??= testDatabase(migrations);
      return openFixture(await making, answerMsMax, internals);
    },
    async close() {
      await (await making)?.drop();
    },
  };
}

async function empty(database: TestDatabase): Promise<void> {
  const owner = await openClient(database.address.owner, { log: quietLog, applicationName: "emptying" });
  await owner.query(emptyText).finally(() => owner.end());
}

async function openFixture(
  database: TestDatabase,
  answerMsMax?: number,
  internals?: LibraryInternals,
): Promise<PostgresAuditFixture> {
  const proxy = await startCutProxy(database.address.app, { message: "audit_append", answer: "SELECT 1\0" });
  const peer = openAuditPeer(proxy.target, answerMsMax, internals);
  const others: AuditPeer[] = [];
  return {
    database,
    proxy,
    peer,
    audit: peer.audit,
    now: systemClock().now,
    async another() {
      const other = openAuditPeer(database.address.app, undefined, internals);
      others.push(other);
      return other.audit;
    },
    async published() {
      const session = await openClient(database.address.app, { log: quietLog, applicationName: "fixture hearing" });
      try {
        const reader = createOutboxReader({
          run: (statement) => session.query(statement),
          clock: systemClock(),
          patienceMs: 0,
        });
        const patterns = [subjects.auditAppended.name];
        const heard: PublishedEntry[] = [];
        // A hole is met twice before it is passed over.
        for (let after = 0n, quiet = 0; quiet < 3; ) {
          const { rows, through, more, held } = await reader.read(after, 1_000, patterns);
          for (const { eventId: id, key, source, at, payload } of rows) heard.push({ id, key, source, at, payload });
          quiet = more || through > after ? 0 : quiet + (held ? 1 : 3);
          after = through;
        }
        return heard;
      } finally {
        await session.end();
      }
    },
    async loseNextAnswer(outcome) {
      proxy.loseNextCommitAnswer(outcome);
    },
    async close() {
      for (const one of [...others, peer]) await one.close();
      await proxy.close();
    },
  };
}

export interface MemoryAuditFixtureOptions {
  readonly seed: number;
  readonly faults?: Partial<MemoryFaults>;
}

export async function memoryAuditLogFixture(options: MemoryAuditFixtureOptions): Promise<AuditLogFixture> {
  const time = scheduler({ seed: options.seed });
  const fates: CommitFate[] = [];
  const tables = memoryTables({ ...noFaults, ...options.faults, commit: () => fates.shift() ?? "committed" });
  const audit = auditTables();
  const stop = time.pump();
  const { clock, timers } = time;
  let starts = 0;
  const start = () => {
    starts += 1;
    return memoryAuditLog({ process: tables.process(`process-${starts}`), timers, audit });
  };
  return {
    audit: start(),
    now: clock.now,
    settle: (ms) => timers.sleep(ms),
    published: async () =>
      tables.log
        .filter(({ subject }) => subject === subjects.auditAppended.name)
        .map(({ id, key, source, at, bytes }) => ({ id, key, source, at, payload: new TextDecoder().decode(bytes) })),
    another: async () => start(),
    async loseNextAnswer(outcome) {
      fates.push(outcome === "committed" ? "lost, committed" : "lost, not committed");
    },
    close: stop,
  };
}
