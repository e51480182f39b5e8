// One transaction of the memory store: what it wrote is kept aside until it commits, rows that it changed are locked, and
// its operations run one after the other as on one database connection.
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { Instance, UnitOfWork } from "../../ports/store.ts";
import { type MayPublish, mustBePublisher } from "../transport/publish-authority.ts";
import { encode } from "./codec.ts";
import { parkedChanges } from "./parked-events.ts";
import type { MemoryProcess, WrittenEvent } from "./tables.ts";
import { auditAnewChanges } from "./units/audit-anew.ts";
import { auditStandingChanges } from "./units/audit-standing.ts";
import { actionChanges } from "./units/corporate-actions.ts";
import { firstSeenChanges } from "./units/first-seen.ts";
import { flattenChanges } from "./units/flatten.ts";
import { haltChanges } from "./units/halt.ts";
import { ledgerChanges } from "./units/ledger.ts";
import { lossChanges } from "./units/loss.ts";
import { omsChanges } from "./units/oms.ts";
import { faultsChanges } from "./units/paper-faults.ts";
import { reconcileChanges } from "./units/reconcile.ts";
import { type RecordChanges, recordChanges } from "./units/records.ts";
import { researchChanges } from "./units/research.ts";
import { restrictionChanges } from "./units/restrictions.ts";
import { stepUpChanges } from "./units/step-up.ts";
import { stopChanges } from "./units/stop.ts";
import { watchdogChanges } from "./units/watchdogs.ts";

export interface Transaction {
  readonly id: string;
  readonly unit: UnitOfWork;
  /** True when a deadlock has doomed it, whatever its work made of that. */
  isDoomed(): boolean;
  /** Makes everything durable in one step. */
  apply(): void;
  /** Ends it: the unit refuses from now on, and the rows are free. */
  end(): void;
}

export interface TransactionPorts {
  readonly process: MemoryProcess;
  readonly clock: Clock;
  readonly random: Random;
  readonly mayPublish?: MayPublish;
}

/** Thrown into a work that would wait in a circle; the store runs the work again. */
export function conflict(name: string): Fault {
  return new Fault("STORE_CONFLICT", `a concurrent change collided with ${name}`, { retry: "now" });
}

interface Pending {
  readonly events: (WrittenEvent & { readonly sequence: number })[];
  readonly handled: Set<string>;
  /** Undefined stands for a retired one. */
  readonly instances: Map<string, Instance | undefined>;
  /** Of the single services' repositories. */
  readonly records: RecordChanges;
  readonly halts: ReturnType<typeof haltChanges>;
  readonly flattens: ReturnType<typeof flattenChanges>;
  readonly oms: ReturnType<typeof omsChanges>;
  readonly ledger: ReturnType<typeof ledgerChanges>;
  readonly losses: ReturnType<typeof lossChanges>;
  readonly research: ReturnType<typeof researchChanges>;
  readonly stops: ReturnType<typeof stopChanges>;
  readonly reconcile: ReturnType<typeof reconcileChanges>;
  readonly paperFaults: ReturnType<typeof faultsChanges>;
  readonly restrictions: ReturnType<typeof restrictionChanges>;
  readonly corporateActions: ReturnType<typeof actionChanges>;
  readonly stepUps: ReturnType<typeof stepUpChanges>;
  readonly auditStanding: ReturnType<typeof auditStandingChanges>;
  readonly firstSeen: ReturnType<typeof firstSeenChanges>;
  readonly parked: ReturnType<typeof parkedChanges>;
  readonly auditAnew: ReturnType<typeof auditAnewChanges>;
  readonly watchdogs: ReturnType<typeof watchdogChanges>;
}

export function beginTransaction(name: string, ports: TransactionPorts): Transaction {
  const { process } = ports;
  const { tables } = process;
  const owner = {};
  let state: "open" | "doomed" | "ended" = "open";
  let last: Promise<unknown> = Promise.resolve();

  const check = () => {
    if (state === "ended") throw new Defect(`the unit of work of ${name} was used after its end`);
    if (state === "doomed") throw conflict(name);
  };
  /** One operation at a time; the next begins when the one before has ended, however it ended. */
  const inTurn = <T>(operation: () => Promise<T>): Promise<T> => {
    const run = async () => {
      check();
      return operation();
    };
    const result = last.then(run, run);
    last = result.catch(() => undefined);
    return result;
  };
  const lock = async (row: string) => {
    if (await tables.locks.acquire(row, owner)) {
      if (state === "ended") tables.locks.release(owner);
      return check();
    }
    state = "doomed";
    tables.locks.release(owner);
    throw conflict(name);
  };
  const records = recordChanges(tables.risk, { inTurn, lock });
  const halts = haltChanges(tables.halts, { inTurn, lock });
  const flattens = flattenChanges(tables.flattens, { inTurn, lock });
  const oms = omsChanges(tables.oms, tables.risk, tables.ledger, { inTurn, lock });
  const ledger = ledgerChanges(tables.ledger, records.treasury, { inTurn, lock });
  const losses = lossChanges(tables.losses, { inTurn, lock });
  const research = researchChanges(tables.research, { inTurn, lock });
  const stops = stopChanges(tables.stops, { inTurn, lock });
  const reconcile = reconcileChanges(tables.reconcile, { inTurn, lock });
  const paperFaults = faultsChanges(tables.paperFaults, { inTurn, lock });
  const restrictions = restrictionChanges(tables.restrictions, { inTurn, lock });
  const corporateActions = actionChanges(tables.corporateActions, { inTurn, lock });
  const stepUps = stepUpChanges(tables.stepUps, { inTurn, lock });
  const auditStanding = auditStandingChanges(tables.auditStanding, { inTurn, lock });
  const firstSeen = firstSeenChanges(tables.firstSeen, { inTurn, lock });
  const parked = parkedChanges(tables.parked, { inTurn, lock });
  const auditAnew = auditAnewChanges(tables.auditAnew, { inTurn });
  const watchdogs = watchdogChanges(tables.watchdogs, { inTurn, lock });
  const pending: Pending = {
    events: [],
    handled: new Set(),
    instances: new Map(),
    records,
    halts,
    flattens,
    oms,
    ledger,
    losses,
    research,
    stops,
    reconcile,
    paperFaults,
    restrictions,
    corporateActions,
    stepUps,
    auditStanding,
    firstSeen,
    parked,
    auditAnew,
    watchdogs,
  };

  return {
    id: tables.nextTransaction(),
    unit: unitOf(ports, pending, inTurn, lock),
    isDoomed: () => state === "doomed",
    apply() {
      for (const row of pending.handled) tables.handled.add(row);
      for (const [incarnation, instance] of pending.instances) {
        if (instance === undefined) tables.instances.delete(incarnation);
        else tables.instances.set(incarnation, instance);
      }
      pending.records.apply();
      pending.halts.apply();
      pending.flattens.apply();
      pending.oms.apply();
      pending.ledger.apply();
      pending.losses.apply();
      pending.research.apply();
      pending.stops.apply();
      pending.reconcile.apply();
      pending.paperFaults.apply();
      pending.restrictions.apply();
      pending.corporateActions.apply();
      pending.stepUps.apply();
      pending.auditStanding.apply();
      pending.firstSeen.apply();
      pending.auditAnew.apply();
      pending.watchdogs.apply();
      tables.append(pending.events);
      // Subscriptions look what is asked of them.
      if (pending.parked.apply()) for (const watcher of [...tables.watchers]) watcher.stirred();
    },
    end() {
      state = "ended";
      tables.locks.release(owner);
    },
  };
}

function unitOf(
  ports: TransactionPorts,
  pending: Pending,
  inTurn: <T>(operation: () => Promise<T>) => Promise<T>,
  lock: (row: string) => Promise<void>,
): UnitOfWork {
  const { tables, name: source } = ports.process;
  const instanceOf = (incarnation: string) =>
    pending.instances.has(incarnation) ? pending.instances.get(incarnation) : tables.instances.get(incarnation);
  const known = (): Instance[] =>
    [...new Set([...tables.instances.keys(), ...pending.instances.keys()])]
      .map(instanceOf)
      .filter((instance) => instance !== undefined)
      .sort((one, other) => one.startedAt - other.startedAt)
      .map((instance) => ({ ...instance }));
  const { risk, reference, treasury, configuration } = pending.records;
  const events: UnitOfWork["events"] = {
    async publish(subject, payload) {
      mustBePublisher(ports.mayPublish, source, subject.name);
      const checked = subject.schema.safeParse(payload);
      if (!checked.success) throw new Defect(`a payload for ${subject.name} does not match: ${checked.error.message}`);
      const key = subject.key(payload);
      const bytes = encode(payload);
      return inTurn(async () => {
        const id = ports.random.uuid();
        const at = ports.clock.now();
        pending.events.push({ id, subject: subject.name, key, at, source, bytes, sequence: tables.nextSequence() });
        return id;
      });
    },
  };
  return {
    risk,
    reference,
    treasury,
    configuration,
    stepUps: pending.stepUps.records(events),
    events,
    halts: pending.halts.records,
    flattens: pending.flattens.flattens,
    drills: pending.flattens.drills,
    oms: pending.oms.records,
    ledger: pending.ledger.records,
    losses: pending.losses.records,
    research: pending.research.records,
    stops: pending.stops.records,
    reconcile: pending.reconcile.records,
    paperFaults: pending.paperFaults.records,
    restrictions: pending.restrictions.records,
    corporateActions: pending.corporateActions.records,
    auditStanding: pending.auditStanding.records,
    firstSeen: pending.firstSeen.records,
    parked: pending.parked.records,
    auditAnew: pending.auditAnew.records,
    watchdogs: pending.watchdogs.records,
    handled: {
      firstTime: (subscription, eventId) =>
        inTurn(async () => {
          const row = JSON.stringify([subscription, eventId]);
          await lock(`handled ${row}`);
          if (tables.handled.has(row) || pending.handled.has(row)) return false;
          pending.handled.add(row);
          return true;
        }),
      firstTimes: (subscription, eventIds) =>
        inTurn(async () => {
          const first = new Set<string>();
          for (const eventId of [...eventIds].sort()) {
            const row = JSON.stringify([subscription, eventId]);
            await lock(`handled ${row}`);
            if (tables.handled.has(row) || pending.handled.has(row)) continue;
            pending.handled.add(row);
            first.add(eventId);
          }
          return first;
        }),
    },
    instances: {
      register: (instance) =>
        inTurn(async () => {
          await lock(`instance ${instance.incarnation}`);
          if (instanceOf(instance.incarnation) !== undefined) {
            throw new Defect(`the incarnation ${instance.incarnation} was registered before`);
          }
          pending.instances.set(instance.incarnation, { ...instance });
        }),
      renew: (incarnation, leaseUntil) =>
        inTurn(async () => {
          await lock(`instance ${incarnation}`);
          const known = instanceOf(incarnation);
          if (known === undefined) return false;
          pending.instances.set(incarnation, { ...known, leaseUntil });
          return true;
        }),
      retire: (incarnation) =>
        inTurn(async () => {
          await lock(`instance ${incarnation}`);
          pending.instances.set(incarnation, undefined);
        }),
      alive: (at) => inTurn(async () => known().filter((instance) => instance.leaseUntil > at)),
      declareLost: (at) =>
        inTurn(async () => {
          const lost: Instance[] = [];
          for (const { incarnation } of known().filter((instance) => instance.leaseUntil <= at)) {
            await lock(`instance ${incarnation}`);
            // Whoever held the row before may have renewed or buried it, so it is read again.
            const instance = instanceOf(incarnation);
            if (instance === undefined || instance.leaseUntil > at) continue;
            pending.instances.set(incarnation, undefined);
            lost.push(instance);
          }
          return lost;
        }),
    },
  };
}
