// Fixtures that put the risk engine's stores and the reference data under their suites: on PostgreSQL behind a proxy that can lose the
// answer to an append, and in memory in virtual time.
import { randomUUID } from "node:crypto";
import type { LibraryInternals } from "../../adapters/library-internals/library-internals.ts";
import { type ConnectionTarget, openClient } from "../../adapters/postgres/connection.ts";
import { createPostgresReferenceData } from "../../adapters/postgres/queries/reference-store.ts";
import { createPostgresRiskStore, type PostgresRiskStore } from "../../adapters/postgres/risk/risk-store.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import type { ReferenceFixture } from "../conformance/reference-data.ts";
import type { RiskStoreFixture } from "../conformance/risk-store-fixture.ts";
import { type CutProxy, startCutProxy } from "../cut-proxy.ts";
import { internalsUnderTest } from "../http/test-ports.ts";
import { type CommitFate, type MemoryFaults, noFaults } from "../memory/faults.ts";
import { memoryReferenceData } from "../memory/reference-data.ts";
import { memoryRiskStore } from "../memory/risk-store.ts";
import { memoryStore } from "../memory/store.ts";
import { memoryTables } from "../memory/tables.ts";
import { noMetrics } from "../no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../postgres.ts";
import { openPeer, type PostgresPeer } from "../postgres-fixture.ts";
import { quietLog } from "../quiet-log.ts";
import { scheduler } from "../virtual/scheduler.ts";

export interface RiskPeer extends PostgresPeer {
  readonly risk: PostgresRiskStore;
}

/** Everything that the risk engine's process has on PostgreSQL. */
export interface RiskPeerOptions {
  readonly answerMsMax?: number;
  readonly internals?: LibraryInternals;
}

export function openRiskPeer(
  target: ConnectionTarget,
  { answerMsMax = 10_000, internals = internalsUnderTest }: RiskPeerOptions = {},
): RiskPeer {
  const peer = openPeer(target, { answerMsMax });
  const risk = createPostgresRiskStore({
    open: () => openClient(target, { log: quietLog, applicationName: "fixture journal", answerMsMax }),
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
    risk,
    async close() {
      await risk.close();
      await peer.close();
    },
  };
}

export interface PostgresRiskFixture extends RiskStoreFixture {
  readonly risk: PostgresRiskStore;
  readonly database: TestDatabase;
  readonly proxy: CutProxy;
  readonly peer: RiskPeer;
}

export async function postgresRiskStoreFixture(options: RiskPeerOptions = {}): Promise<PostgresRiskFixture> {
  const database = await testDatabase();
  const proxy = await startCutProxy(database.address.app, { message: "risk_append", answer: "SELECT 1\0" });
  const peer = openRiskPeer(proxy.target, options);
  const others: RiskPeer[] = [];
  const { now } = systemClock();
  return {
    database,
    proxy,
    peer,
    risk: peer.risk,
    store: peer.store,
    now,
    uuid: randomUUID,
    async another() {
      const other = openRiskPeer(database.address.app, options);
      others.push(other);
      return other.risk;
    },
    async loseNextAnswer(outcome) {
      proxy.loseNextCommitAnswer(outcome);
    },
    async close() {
      for (const one of [...others, peer]) await one.close();
      await proxy.close();
      await database.drop();
    },
  };
}

export async function postgresReferenceFixture(): Promise<ReferenceFixture> {
  const database = await testDatabase();
  const peer = openPeer(database.address.app);
  return {
    store: peer.store,
    reference: createPostgresReferenceData(peer.pool),
    async close() {
      await peer.close();
      await database.drop();
    },
  };
}

export interface MemoryRiskFixtureOptions {
  readonly seed: number;
  readonly faults?: Partial<MemoryFaults>;
}

export async function memoryRiskStoreFixture(
  options: MemoryRiskFixtureOptions,
): Promise<RiskStoreFixture & ReferenceFixture> {
  const time = scheduler({ seed: options.seed });
  const fates: CommitFate[] = [];
  const tables = memoryTables({ ...noFaults, ...options.faults, commit: () => fates.shift() ?? "committed" });
  const stop = time.pump();
  const { clock, timers, prng } = time;
  let starts = 0;
  const start = () => {
    starts += 1;
    const process = tables.process(`process-${starts}`);
    const store = memoryStore({ process, clock, timers, random: prng.fork(process.name), attemptsMax: 8 });
    return { store, risk: memoryRiskStore({ process, timers }), reference: memoryReferenceData(process) };
  };
  return {
    ...start(),
    now: clock.now,
    uuid: () => prng.uuid(),
    settle: (ms) => timers.sleep(ms),
    another: async () => start().risk,
    async loseNextAnswer(outcome) {
      fates.push(outcome === "committed" ? "lost, committed" : "lost, not committed");
    },
    close: stop,
  };
}
