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
import { botChanges } from "./units/bots.ts";
import { actionChanges } from "./units/corporate-actions.ts";
import { filingStepChanges } from "./units/filing-steps.ts";
import { filingSubmissionChanges } from "./units/filing-submissions.ts";
import { filingChanges } from "./units/filings.ts";
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
  tableNames(): readonly string[];
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

  const parked = () =>
    parkedChanges(tables.parked, tools, () => {
      isAsideChanged = true;
    });
  const unit = unitOf({ tables, events, tools, parked });

  return {
    id: tables.nextTransaction(),
    unit,
    tableNames() {
      for (const repository of Object.keys(makers)) void unit[repository as keyof UnitOfWork];
      return [...tools.names];
    },
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

/** What a repository is made of. */
interface Parts {
  readonly tables: MemoryTables;
  readonly events: UnitOfWork["events"];
  readonly tools: RecordTools;
  readonly parked: () => UnitOfWork["parked"];
  /** Both on the same tables. */
  readonly flatten: () => Pick<UnitOfWork, "flattens" | "drills">;
  readonly unit: UnitOfWork;
}

type Makers = { readonly [Repository in keyof UnitOfWork]: (parts: Parts) => UnitOfWork[Repository] };

const makers: Makers = {
  events: ({ events }) => events,
  treasury: ({ tables, tools }) => treasuryChanges(tables.risk, tools),
  risk: ({ tables, tools }) => riskChanges(tables.risk, tools),
  reference: ({ tables, tools }) => referenceChanges(tables.risk, tools),
  configuration: ({ tables, tools }) => configurationChanges(tables.risk, tools),
  stepUps: ({ tables, tools, events }) => stepUpChanges(tables.stepUps, tables.loginsEnded, events, tools),
  halts: ({ tables, tools }) => haltChanges(tables.halts, tools),
  flattens: ({ flatten }) => flatten().flattens,
  drills: ({ flatten }) => flatten().drills,
  oms: ({ tables, tools }) => omsChanges(tables.oms, tables.risk, tables.ledger, tools),
  quotes: ({ tables, tools }) => quoteChanges(tables.quotes, tools),
  market: ({ tables, tools }) => marketChanges(tables.market, tools),
  filings: ({ tables, tools }) => filingChanges(tables.filings, tables.filingSubmissions.corrections, tools),
  filingSubmissions: ({ tables, tools }) => filingSubmissionChanges(tables.filingSubmissions, tables.filings, tools),
  filingSteps: ({ tables, tools }) => filingStepChanges(tables.filingSteps, tools),
  ledger: ({ tables, tools, unit }) => ledgerChanges(tables.ledger, unit.treasury, tools),
  losses: ({ tables, tools }) => lossChanges(tables.losses, tools),
  research: ({ tables, tools }) => researchChanges(tables.research, tools),
  stops: ({ tables, tools }) => stopChanges(tables.stops, tools),
  reconcile: ({ tables, tools }) => reconcileChanges(tables.reconcile, tools),
  paperFaults: ({ tables, tools }) => faultsChanges(tables.paperFaults, tools),
  restrictions: ({ tables, tools }) => restrictionChanges(tables.restrictions, tools),
  corporateActions: ({ tables, tools }) => actionChanges(tables.corporateActions, tools),
  auditStanding: ({ tables, tools }) => auditStandingChanges(tables.auditStanding, tools),
  firstSeen: ({ tables, tools }) => firstSeenChanges(tables.firstSeen, tools),
  foreign: ({ tables, tools }) => foreignChanges(tables.foreign, tools),
  auditAnew: ({ tables, tools }) => auditAnewChanges(tables.auditAnew, tools),
  watchdogs: ({ tables, tools }) => watchdogChanges(tables.watchdogs, tools),
  requestKeys: ({ tables, tools }) => requestKeyChanges(tables.requestKeys, tools),
  signals: ({ tables, tools }) => signalChanges(tables.signals, tools),
  reports: ({ tables, tools }) => reportChanges(tables.reports, tools),
  // Nobody reaches these records but units of work, which are refused without their event.
  unauditedChanges: () => ({ accept: async () => [] }),
  reportRuns: ({ tables, tools }) => reportRunChanges(tables.reportRuns, tools),
  bots: ({ tables, tools }) => botChanges(tables.bots, tools),
  handled: ({ tables, tools }) => handledChanges(tables.handled, tools),
  instances: ({ tables, tools }) => instanceChanges(tables.instances, tools),
  parked: ({ parked }) => parked(),
};

/** Each repository is made when the work first asks for it: most ask for one or two of them, and simulators begin thousands of works a second. */
function unitOf(given: Omit<Parts, "unit" | "flatten">): UnitOfWork {
  const { tables, tools } = given;
  let both: ReturnType<Parts["flatten"]> | undefined;
  const flatten: Parts["flatten"] = () => {
    both ??= flattenChanges(tables.flattens, tools);
    return both;
  };
  const made: Partial<Record<string, unknown>> = {};
  const unit: UnitOfWork = new Proxy(makers as never, {
    get(_makers, name) {
      const make = makers[name as keyof UnitOfWork] as Makers[keyof UnitOfWork] | undefined;
      if (make === undefined || typeof name !== "string") return undefined;
      made[name] ??= make(parts);
      return made[name];
    },
  });
  const parts: Parts = { ...given, flatten, unit };
  return unit;
}
