// The fixtures on which the memory store and bus are held to the conformance suites, in virtual time: a whole suite takes as
// long as its promises take to settle.

import type { BusFixture } from "../conformance/bus-fixture.ts";
import type { StoreFixture } from "../conformance/store-fixture.ts";
import { conformanceSubjectByName } from "../conformance/subjects.ts";
import { memoryBus } from "../memory/bus.ts";
import { encode } from "../memory/codec.ts";
import { type CommitFate, type MemoryFaults, noFaults } from "../memory/faults.ts";
import type { LogReader } from "../memory/reader.ts";
import { memoryStore } from "../memory/store.ts";
import { type MemoryProcess, type MemoryTables, memoryTables } from "../memory/tables.ts";
import { type Scheduler, scheduler } from "./scheduler.ts";

export interface MemoryFixtureOptions {
  readonly seed: number;
  readonly faults?: Partial<MemoryFaults>;
  /** A planted reader, to show that the suite notices. */
  readonly reader?: LogReader;
}

interface Bench {
  readonly tables: MemoryTables;
  readonly time: Scheduler;
  /** Fates of the next commits; when it is empty they commit. */
  readonly fates: CommitFate[];
  settle(ms: number): Promise<void>;
  close(): Promise<void>;
}

function bench(options: MemoryFixtureOptions): Bench {
  const fates: CommitFate[] = [];
  const time = scheduler({ seed: options.seed });
  const tables = memoryTables({ ...noFaults, ...options.faults, commit: () => fates.shift() ?? "committed" });
  const stop = time.pump();
  return { tables, time, fates, settle: (ms) => time.timers.sleep(ms), close: stop };
}

function portsOf({ time }: Bench, process: MemoryProcess) {
  const random = time.prng.fork(process.name);
  return { process, clock: time.clock, timers: time.timers, random };
}

const attemptsMax = 4;

export async function memoryStoreFixture(options: MemoryFixtureOptions): Promise<StoreFixture> {
  const made = bench(options);
  let starts = 0;
  const start = () => {
    starts += 1;
    return memoryStore({ ...portsOf(made, made.tables.process(`process-${starts}`)), attemptsMax });
  };
  let store = start();
  return {
    store,
    attemptsMax,
    settle: made.settle,
    close: made.close,
    committed: async () =>
      made.tables.log.map(({ id, subject, key, bytes }) => ({
        id,
        subject,
        key,
        payload: JSON.parse(new TextDecoder().decode(bytes)) as unknown,
      })),
    conflictNext: async (times) => {
      for (let time = 0; time < times; time += 1) made.fates.push("conflict");
    },
    loseNextCommitAnswer: async (outcome) => {
      made.fates.push(outcome === "committed" ? "lost, committed" : "lost, not committed");
    },
    async reopen() {
      await store.close();
      store = start();
      return store;
    },
  };
}

export async function memoryBusFixture(options: MemoryFixtureOptions): Promise<BusFixture> {
  const made = bench(options);
  const { tables, time } = made;
  let starts = 0;
  const start = () => {
    starts += 1;
    const process = tables.process(`process-${starts}`);
    const ports = portsOf(made, process);
    const reader = options.reader === undefined ? {} : { reader: options.reader };
    const openBus = () => memoryBus({ ...ports, ...reader, subjectByName: conformanceSubjectByName });
    return { process, store: memoryStore({ ...ports, attemptsMax }), bus: openBus(), openBus };
  };
  const first = start();
  return {
    store: first.store,
    bus: first.bus,
    settle: made.settle,
    close: made.close,
    async another() {
      const { process, store, bus } = start();
      return { store, bus, die: async () => process.kill() };
    },
    async reopenBus() {
      await first.bus.close();
      return first.openBus();
    },
    async injectRaw({ subject, key, payload }) {
      const id = time.prng.uuid();
      const event = { id, subject, key, at: time.clock.now(), source: "foreign", bytes: encode(payload) };
      tables.append([{ ...event, sequence: tables.nextSequence() }]);
      return id;
    },
    parked: async () => tables.parked.map(({ subscription, eventId }) => ({ subscription, eventId })),
    async outage() {
      first.process.setReachable(false);
      return async () => first.process.setReachable(true);
    },
  };
}
