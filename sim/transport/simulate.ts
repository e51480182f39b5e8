// One simulated run from one seed: services on the memory store and bus under the virtual scheduler, under faults, with
// crashes and restarts; after every step the invariants, and at the end it goes on without faults until nothing is left to do.
import { createHash } from "node:crypto";
import { Fault } from "../../contracts/src/fault.ts";
import { memoryBus } from "../../testkit/memory/bus.ts";
import type { LogReader } from "../../testkit/memory/reader.ts";
import { memoryStore } from "../../testkit/memory/store.ts";
import { type MemoryTables, memoryTables } from "../../testkit/memory/tables.ts";
import { type Incarnation, incarnation } from "../../testkit/virtual/incarnation.ts";
import { type Scheduler, scheduler } from "../../testkit/virtual/scheduler.ts";
import { type Witness, witness } from "./evidence.ts";
import { type Faults, faults } from "./faults.ts";
import { firstViolation, type Violation } from "./invariants.ts";
import { auditor, registerRows, type SimPorts, type SimService, subscriber, writer } from "./services.ts";
import { simSubjectByName } from "./subjects.ts";

export interface SimOptions {
  readonly seed: number;
  /** Steps with faults; the run is then brought to its end without them. */
  readonly steps: number;
  /** Plants a subscriber that forgets to de-duplicate, to show that the invariants can fail. */
  readonly canary?: boolean;
  /** Plants another way to go through the log. */
  readonly reader?: LogReader;
}

export interface SimReport {
  readonly steps: number;
  readonly elapsedMs: number;
  readonly committed: number;
  readonly deliveries: number;
  readonly repeated: number;
  readonly parked: number;
  readonly crashes: number;
  readonly fates: readonly (readonly [fate: string, count: number])[];
  /** One hash of everything that was committed and delivered, in order: equal runs have equal ones. */
  readonly trace: string;
  readonly violation?: Violation;
}

/** Without faults a run of this size comes to rest long before; more means that a service is going in circles. */
const restStepsMax = 200_000;

interface Run {
  readonly time: Scheduler;
  readonly tables: MemoryTables;
  readonly faults: Faults;
  readonly witness: Witness;
  readonly options: SimOptions;
  readonly living: Map<string, Incarnation<SimPorts>>;
  starts: number;
  crashes: number;
}

function servicesOf(canary: boolean): readonly SimService[] {
  const counters = new Map<string, number>();
  const mirror = { subscription: "sim.mirror", forgetsToDeduplicate: false };
  return [
    ...["writer-1", "writer-2", "writer-3"].map((name) => writer(name, counters)),
    subscriber({ name: "ledger", subscription: "sim.ledger", forgetsToDeduplicate: canary }),
    subscriber({ name: "mirror-1", ...mirror }),
    subscriber({ name: "mirror-2", ...mirror }),
    auditor("auditor"),
  ];
}

function portsOf(run: Run, name: string) {
  const process = run.tables.process(name);
  const random = run.time.prng.fork(`random of ${name}`);
  const basic = { clock: run.time.clock, timers: run.time.timers, random };
  const store = memoryStore({ ...basic, process });
  const reader = run.options.reader === undefined ? {} : { reader: run.options.reader };
  const bus = memoryBus({ ...basic, ...reader, process, subjectByName: simSubjectByName });
  return { process, ports: { ...basic, store, bus } };
}

function start(run: Run, service: SimService): void {
  run.starts += 1;
  const name = `${service.name}#${run.starts}`;
  const { process, ports } = portsOf(run, name);
  const life = incarnation<SimPorts>(name, ports, () => {
    process.kill();
    run.witness.died(name);
    run.living.delete(service.name);
    // A supervisor starts it again after a while.
    run.time.timers.after(1 + run.time.prng.below(100), () => start(run, service));
  });
  run.living.set(service.name, life);
  service
    .start({
      incarnation: name,
      ports: life.ports,
      prng: run.time.prng.fork(`PRNG of ${name}`),
      witness: run.witness,
      isStopping: () => !run.faults.isFoul(),
    })
    .catch((thrown: unknown) => {
      // Anything but a fault that the service deals with itself is a defect of the simulation: let the scheduler throw it.
      run.time.timers.after(0, () => {
        throw thrown;
      });
    });
}

/** Crashes somebody every now and then, for as long as there are faults. */
function reap(run: Run): void {
  run.time.timers.after(20 + run.time.prng.below(120), () => {
    if (!run.faults.isFoul()) return;
    const names = [...run.living.keys()];
    const victim = run.living.get(names[run.time.prng.below(names.length)] ?? "");
    if (victim !== undefined) {
      run.crashes += 1;
      victim.end();
    }
    reap(run);
  });
}

async function stepThrough(run: Run): Promise<Violation | undefined> {
  let looked = -1;
  const look = (settled: boolean) => {
    if (run.witness.version() === looked && !settled) return undefined;
    looked = run.witness.version();
    return firstViolation(run.witness.evidence(settled));
  };
  for (let step = 0; step < run.options.steps; step += 1) {
    await run.time.step();
    const violation = look(false);
    if (violation !== undefined) return violation;
  }
  run.faults.clearUp();
  for (let step = 0; await run.time.step(); step += 1) {
    if (step >= restStepsMax)
      throw new Error(`seed ${run.options.seed} does not come to rest in ${restStepsMax} steps`);
    const violation = look(false);
    if (violation !== undefined) return violation;
  }
  return look(true);
}

export async function simulate(options: SimOptions): Promise<SimReport> {
  const time = scheduler({ seed: options.seed });
  const sky = faults(time.prng.fork("weather"));
  const tables = memoryTables(sky.faults);
  const services = servicesOf(options.canary ?? false);
  const subscribed = new Map(services.flatMap(({ subscription: one }) => (one ? [[one.name, one]] : [])));
  const run: Run = {
    time,
    tables,
    faults: sky,
    witness: witness(tables, [...subscribed.values()]),
    options,
    living: new Map(),
    starts: 0,
    crashes: 0,
  };
  await setUp(run);
  for (const service of services) start(run, service);
  reap(run);
  const violation = await stepThrough(run);
  return { ...reportOf(run), ...(violation === undefined ? {} : { violation }) };
}

/** The rows must be there before anybody changes them, so this one transaction is tried until it has gone through. */
async function setUp(run: Run): Promise<void> {
  const { store } = portsOf(run, "setup").ports;
  const register = async (): Promise<void> => {
    try {
      await registerRows(store, run.time.clock.now());
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      if (run.tables.instances.size === 0) await register();
    }
  };
  await run.time.finish("the setup", register());
}

function reportOf(run: Run): SimReport {
  const { log, deliveries } = run.witness.evidence(false);
  const hash = createHash("sha256");
  for (const event of log) hash.update(`${event.id} ${event.subject} ${event.text}\n`);
  for (const delivery of deliveries)
    hash.update(`${delivery.subscription} ${delivery.eventId} ${delivery.logLength}\n`);
  return {
    steps: run.time.steps(),
    elapsedMs: run.time.elapsedMs(),
    committed: log.length,
    deliveries: deliveries.length,
    repeated: deliveries.length - new Set(deliveries.map((one) => `${one.subscription} ${one.eventId}`)).size,
    parked: run.tables.parked.length,
    crashes: run.crashes,
    fates: run.faults.fates(),
    trace: hash.digest("hex"),
  };
}
