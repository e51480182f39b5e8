// The rigs on which the memory store and bus are held to the conformance suites, in virtual time: a whole suite takes as
// long as its promises take to settle.
import { memoryBus } from "../../adapters/memory/bus.ts";
import { encode } from "../../adapters/memory/codec.ts";
import { type CommitFate, type MemoryFaults, noFaults } from "../../adapters/memory/faults.ts";
import type { LogReader } from "../../adapters/memory/reader.ts";
import { memoryStore } from "../../adapters/memory/store.ts";
import { type MemoryProcess, type MemoryWorld, memoryWorld } from "../../adapters/memory/world.ts";
import type { BusRig } from "../conformance/bus-rig.ts";
import type { StoreRig } from "../conformance/store-rig.ts";
import { conformanceSubjectByName } from "../conformance/subjects.ts";
import { type Scheduler, scheduler } from "./scheduler.ts";

export interface MemoryRigOptions {
  readonly seed: number;
  readonly faults?: Partial<MemoryFaults>;
  /** A planted reader, to show that the suite notices. */
  readonly reader?: LogReader;
}

interface Bench {
  readonly world: MemoryWorld;
  readonly time: Scheduler;
  /** Fates of the next commits; when it is empty they commit. */
  readonly fates: CommitFate[];
  settle(ms: number): Promise<void>;
  close(): Promise<void>;
}

function bench(options: MemoryRigOptions): Bench {
  const fates: CommitFate[] = [];
  const time = scheduler({ seed: options.seed });
  const world = memoryWorld({ ...noFaults, ...options.faults, commit: () => fates.shift() ?? "committed" });
  const stop = time.pump();
  return { world, time, fates, settle: (ms) => time.timers.sleep(ms), close: stop };
}

function portsOf({ time }: Bench, process: MemoryProcess) {
  const random = time.dice.fork(process.name);
  return { process, clock: time.clock, timers: time.timers, random };
}

const attemptsMax = 4;

export async function memoryStoreRig(options: MemoryRigOptions): Promise<StoreRig> {
  const made = bench(options);
  let starts = 0;
  const start = () => {
    starts += 1;
    return memoryStore({ ...portsOf(made, made.world.process(`process-${starts}`)), attemptsMax });
  };
  let store = start();
  return {
    store,
    attemptsMax,
    settle: made.settle,
    close: made.close,
    committed: async () =>
      made.world.log.map(({ id, subject, key, bytes }) => ({
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

export async function memoryBusRig(options: MemoryRigOptions): Promise<BusRig> {
  const made = bench(options);
  const { world, time } = made;
  let starts = 0;
  const start = () => {
    starts += 1;
    const process = world.process(`process-${starts}`);
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
      const id = time.dice.uuid();
      const event = { id, subject, key, at: time.clock.now(), source: "foreign", bytes: encode(payload) };
      world.append([{ ...event, sequence: world.nextSequence() }]);
      return id;
    },
    parked: async () => world.parked.map(({ subscription, eventId }) => ({ subscription, eventId })),
    async outage() {
      first.process.setReachable(false);
      return async () => first.process.setReachable(true);
    },
  };
}
