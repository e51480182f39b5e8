// One transaction of the memory store: what it wrote is kept aside until it commits, rows that it changed are locked, and
// its operations run one after the other as on one database connection.

import type { ChangeWatch } from "../../adapters/records/audited-changes.ts";
import { type MayPublish, mustBeForeign, mustBePublisher } from "../../adapters/transport/publish-authority.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { encode } from "./codec.ts";
import { type RecordTools, writtenTables } from "./layered-map.ts";
import { parkedChanges } from "./parked-events.ts";
import type { MemoryProcess, MemoryTables, WrittenEvent } from "./tables.ts";
import { auditAnewChanges } from "./units/audit-anew.ts";
import { auditStandingChanges } from "./units/audit-standing.ts";
import { actionChanges } from "./units/corporate-actions.ts";
import { firstSeenChanges } from "./units/first-seen.ts";
import { flattenChanges } from "./units/flatten.ts";
import { foreignChanges } from "./units/foreign.ts";
import { haltChanges } from "./units/halt.ts";
import { handledChanges } from "./units/handled.ts";
import { instanceChanges } from "./units/instances.ts";
import { ledgerChanges } from "./units/ledger.ts";
import { lossChanges } from "./units/loss.ts";
import { marketChanges } from "./units/market.ts";
import { omsChanges } from "./units/oms.ts";
import { faultsChanges } from "./units/paper-faults.ts";
import { quoteChanges } from "./units/quotes.ts";
import { reconcileChanges } from "./units/reconcile.ts";
import { configurationChanges, referenceChanges, riskChanges, treasuryChanges } from "./units/records.ts";
import { reportRunChanges } from "./units/report-runs.ts";
import { reportChanges } from "./units/reports.ts";
import { requestKeyChanges } from "./units/request-keys.ts";
import { researchChanges } from "./units/research.ts";
import { restrictionChanges } from "./units/restrictions.ts";
import { signalChanges } from "./units/signals.ts";
import { stepUpChanges } from "./units/step-up.ts";
import { stopChanges } from "./units/stop.ts";
import { watchdogChanges } from "./units/watchdogs.ts";

export interface Transaction {
  readonly id: string;
  readonly unit: UnitOfWork;
  /** The names under which it reports what it writes. */
  readonly tableNames: readonly string[];
  /** True when a deadlock has doomed it, whatever its work made of that. */
  isDoomed(): boolean;
  hasPublished(): boolean;
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

type PendingEvent = WrittenEvent & { readonly sequence: number };

/** Every row that changes and every event is reported to `watch`. */
export function beginTransaction(name: string, ports: TransactionPorts, watch?: ChangeWatch): Transaction {
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
  const tools = { ...writtenTables((record) => watch?.wrote(record)), inTurn, lock };
  const published: PendingEvent[] = [];
  let isAsideChanged = false;
  const events = eventWriter(ports, inTurn, (event, subject) => {
    published.push(event);
    watch?.published(subject);
  });

  return {
    id: tables.nextTransaction(),
    unit: {
      ...unitOf(tables, events, tools),
      parked: parkedChanges(tables.parked, tools, () => {
        isAsideChanged = true;
      }),
    },
    tableNames: [...tools.names],
    isDoomed: () => state === "doomed",
    hasPublished: () => published.length > 0,
    apply() {
      tools.apply();
      tables.append(published);
      // Subscriptions look what is asked of them.
      if (isAsideChanged) for (const watcher of [...tables.watchers]) watcher.stirred();
    },
    end() {
      state = "ended";
      tables.locks.release(owner);
    },
  };
}

function eventWriter(
  ports: TransactionPorts,
  inTurn: RecordTools["inTurn"],
  publish: (event: PendingEvent, subject: Subject<never>) => void,
): UnitOfWork["events"] {
  const { tables, name } = ports.process;
  const add = <Payload>(source: string, subject: Subject<Payload>, payload: Payload): Promise<string> => {
    const checked = subject.schema.safeParse(payload);
    if (!checked.success) throw new Defect(`a payload for ${subject.name} does not match: ${checked.error.message}`);
    const key = subject.key(payload);
    const bytes = encode(payload);
    return inTurn(async () => {
      const id = ports.random.uuid();
      const at = ports.clock.now();
      const event = { id, subject: subject.name, key, at, source, bytes, sequence: tables.nextSequence() };
      publish(event, subject as Subject<never>);
      return id;
    });
  };
  return {
    async publish(subject, payload) {
      mustBePublisher(ports.mayPublish, name, subject.name);
      return add(name, subject, payload);
    },
    async publishFor(source, subject, payload) {
      mustBeForeign(ports.mayPublish, source, subject.name);
      return add(source, subject, payload);
    },
  };
}

function unitOf(tables: MemoryTables, events: UnitOfWork["events"], tools: RecordTools): Omit<UnitOfWork, "parked"> {
  const treasury = treasuryChanges(tables.risk, tools);
  return {
    events,
    treasury,
    risk: riskChanges(tables.risk, tools),
    reference: referenceChanges(tables.risk, tools),
    configuration: configurationChanges(tables.risk, tools),
    stepUps: stepUpChanges(tables.stepUps, tables.loginsEnded, events, tools),
    halts: haltChanges(tables.halts, tools),
    ...flattenChanges(tables.flattens, tools),
    oms: omsChanges(tables.oms, tables.risk, tables.ledger, tools),
    quotes: quoteChanges(tables.quotes, tools),
    market: marketChanges(tables.market, tools),
    ledger: ledgerChanges(tables.ledger, treasury, tools),
    losses: lossChanges(tables.losses, tools),
    research: researchChanges(tables.research, tools),
    stops: stopChanges(tables.stops, tools),
    reconcile: reconcileChanges(tables.reconcile, tools),
    paperFaults: faultsChanges(tables.paperFaults, tools),
    restrictions: restrictionChanges(tables.restrictions, tools),
    corporateActions: actionChanges(tables.corporateActions, tools),
    auditStanding: auditStandingChanges(tables.auditStanding, tools),
    firstSeen: firstSeenChanges(tables.firstSeen, tools),
    foreign: foreignChanges(tables.foreign, tools),
    auditAnew: auditAnewChanges(tables.auditAnew, tools),
    watchdogs: watchdogChanges(tables.watchdogs, tools),
    requestKeys: requestKeyChanges(tables.requestKeys, tools),
    signals: signalChanges(tables.signals, tools),
    reports: reportChanges(tables.reports, tools),
    // Nobody reaches these records but units of work, which are refused without their event.
    unauditedChanges: { accept: async () => [] },
    reportRuns: reportRunChanges(tables.reportRuns, tools),
    handled: handledChanges(tables.handled, tools),
    instances: instanceChanges(tables.instances, tools),
  };
}
