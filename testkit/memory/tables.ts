// What memory stores and memory buses share: everything that would be on disk. A process of it can be killed and started
// again; the world stays, so durable cursors, handled events and the log survive, and nothing else does.
//
//  1. The log is in commit order; `sequence` was taken when the event was published, so it may run against that order.
//  2. Payloads are bytes. Whoever reads one decodes a copy of its own.
//  3. Nothing in here calls a handler: watchers only take note, and act when their own timers say so.
import type { Instant } from "../../contracts/src/instant.ts";
import type { Outcome } from "../../ports/store.ts";
import { type MemoryFaults, noFaults } from "./faults.ts";
import { type RowLocks, rowLocks } from "./locks.ts";
import type { ParkedTables } from "./parked-events.ts";
import { type RiskTables, riskTables } from "./risk-tables.ts";
import type { AuditAnewTables } from "./units/audit-anew.ts";
import type { AuditStandingTables } from "./units/audit-standing.ts";
import { type BotTables, botTables } from "./units/bots.ts";
import type { ActionTables } from "./units/corporate-actions.ts";
import { type FilingStepTables, filingStepTables } from "./units/filing-steps.ts";
import { type FilingSubmissionTables, filingSubmissionTables } from "./units/filing-submissions.ts";
import type { FilingTables } from "./units/filings.ts";
import type { FirstSeenTables } from "./units/first-seen.ts";
import { type FlattenTables, flattenTables } from "./units/flatten.ts";
import { type ForeignTables, foreignTables } from "./units/foreign.ts";
import { type HaltTables, haltTables } from "./units/halt.ts";
import type { HandledTables } from "./units/handled.ts";
import type { InstanceTables } from "./units/instances.ts";
import { type LedgerTables, ledgerTables } from "./units/ledger.ts";
import { type LossTables, lossTables } from "./units/loss.ts";
import { type MarketTables, marketTables } from "./units/market.ts";
import { type OmsTables, omsTables } from "./units/oms.ts";
import type { WeatherTables } from "./units/paper-faults.ts";
import { type QuoteTables, quoteTables } from "./units/quotes.ts";
import { type ReconcileTables, reconcileTables } from "./units/reconcile.ts";
import { type ReportRunTables, reportRunTables } from "./units/report-runs.ts";
import { type ReportTables, reportTables } from "./units/reports.ts";
import type { RequestKeyTables } from "./units/request-keys.ts";
import { type ResearchTables, researchTables } from "./units/research.ts";
import type { RestrictionTables } from "./units/restrictions.ts";
import { type SignalTables, signalTables } from "./units/signals.ts";
import type { StepUpTables } from "./units/step-up.ts";
import type { StopTables } from "./units/stop.ts";
import { type WatchdogTables, watchdogTables } from "./units/watchdogs.ts";

export interface WrittenEvent {
  readonly id: string;
  readonly subject: string;
  readonly key: string;
  readonly at: Instant;
  readonly source: string;
  /** Of one that came straight from NATS: the login under which it did. */
  readonly login?: string;
  readonly funds?: readonly string[];
  readonly isRevoked?: true;
  readonly bytes: Uint8Array;
}

export interface LogEntry extends WrittenEvent {
  /** Place in commit order, from 0. */
  readonly position: number;
  /** Taken at publish time, from 1. */
  readonly sequence: number;
}

/** The durable side of a subscription. `place` is the reader's business; `done` are events handled ahead of it. */
export interface DurableState {
  place: number;
  done: Set<number>;
  /** The process whose subscription handles at present; others stand by. */
  holder: object | undefined;
}

/** Told of everything new, in the stack of the one who made it: take note and return. */
export interface Watcher {
  committed(entry: LogEntry): void;
  broadcast(event: WrittenEvent): void;
  /** Something else has changed: a holder left, a connection came back. */
  stirred(): void;
}

export interface MemoryTables {
  readonly faults: MemoryFaults;
  readonly log: LogEntry[];
  readonly handled: HandledTables;
  readonly instances: InstanceTables;
  readonly outcomes: Map<string, Outcome>;
  readonly durables: Map<string, DurableState>;
  readonly parked: ParkedTables;
  readonly locks: RowLocks;
  readonly risk: RiskTables;
  readonly halts: HaltTables;
  readonly flattens: FlattenTables;
  readonly oms: OmsTables;
  readonly quotes: QuoteTables;
  readonly market: MarketTables;
  readonly filings: FilingTables;
  readonly filingSteps: FilingStepTables;
  readonly filingSubmissions: FilingSubmissionTables;
  readonly ledger: LedgerTables;
  readonly losses: LossTables;
  readonly research: ResearchTables;
  readonly stops: StopTables;
  readonly reconcile: ReconcileTables;
  readonly paperFaults: WeatherTables;
  readonly corporateActions: ActionTables;
  readonly restrictions: RestrictionTables;
  readonly stepUps: StepUpTables;
  /** When an admin ended somebody's logins, by how records name them. */
  readonly loginsEnded: Map<string, Instant>;
  readonly auditStanding: AuditStandingTables;
  readonly auditAnew: AuditAnewTables;
  readonly firstSeen: FirstSeenTables;
  readonly foreign: ForeignTables;
  readonly watchdogs: WatchdogTables;
  readonly requestKeys: RequestKeyTables;
  readonly signals: SignalTables;
  readonly reports: ReportTables;
  readonly reportRuns: ReportRunTables;
  readonly bots: BotTables;
  readonly watchers: Set<Watcher>;
  nextSequence(): number;
  nextTransaction(): string;
  /** Appends what a transaction published, in one step, and tells the watchers. */
  append(events: readonly (WrittenEvent & { readonly sequence: number })[]): void;
  /** Starts a process: what its stores and buses hold is let go when it is killed. */
  process(name: string): MemoryProcess;
}

export interface MemoryProcess {
  readonly tables: MemoryTables;
  /** The source of its events. */
  readonly name: string;
  isAlive(): boolean;
  isReachable(): boolean;
  /** As kill -9: nothing of it happens any more, and the world lets go of what it held. */
  kill(): void;
  /** Cuts it off from the world, or lets it back in. */
  setReachable(reachable: boolean): void;
  /** Registers what has to be let go at its death; gives the function that takes the registration back. */
  onKill(letGo: () => void): () => void;
}

/** A promise that never settles: all that a dead process ever hears. */
export const never: Promise<never> = new Promise<never>(() => undefined);

export function memoryTables(faults: MemoryFaults = noFaults): MemoryTables {
  let sequence = 0;
  let transaction = 0;
  const tables: MemoryTables = {
    faults,
    log: [],
    handled: new Map(),
    instances: new Map(),
    outcomes: new Map(),
    durables: new Map(),
    parked: [],
    locks: rowLocks(),
    risk: riskTables(),
    halts: haltTables(),
    flattens: flattenTables(),
    oms: omsTables(),
    quotes: quoteTables(),
    market: marketTables(),
    filings: new Map(),
    filingSteps: filingStepTables(),
    filingSubmissions: filingSubmissionTables(),
    ledger: ledgerTables(),
    losses: lossTables(),
    research: researchTables(),
    stops: new Map(),
    reconcile: reconcileTables(),
    paperFaults: { current: undefined },
    corporateActions: new Map(),
    restrictions: new Map(),
    stepUps: new Map(),
    loginsEnded: new Map(),
    auditStanding: { current: undefined },
    auditAnew: new Map(),
    firstSeen: new Map(),
    foreign: foreignTables(),
    watchdogs: watchdogTables(),
    requestKeys: new Map(),
    signals: signalTables(),
    reports: reportTables(),
    reportRuns: reportRunTables(),
    bots: botTables(),
    watchers: new Set(),
    nextSequence() {
      sequence += 1;
      return sequence;
    },
    nextTransaction() {
      transaction += 1;
      return `memory-${transaction}`;
    },
    append(events) {
      const entries = events.map((event, index) => ({ ...event, position: tables.log.length + index }));
      tables.log.push(...entries);
      for (const entry of entries) for (const watcher of [...tables.watchers]) watcher.committed(entry);
    },
    process: (name) => memoryProcess(tables, name),
  };
  return tables;
}

function memoryProcess(tables: MemoryTables, name: string): MemoryProcess {
  const toLetGo = new Set<() => void>();
  let alive = true;
  let reachable = true;
  const stirAll = () => {
    for (const watcher of [...tables.watchers]) watcher.stirred();
  };
  return {
    tables,
    name,
    isAlive: () => alive,
    isReachable: () => alive && reachable,
    kill() {
      if (!alive) return;
      alive = false;
      for (const letGo of [...toLetGo]) letGo();
      stirAll();
    },
    setReachable(next) {
      reachable = next;
      stirAll();
    },
    onKill(letGo) {
      toLetGo.add(letGo);
      return () => toLetGo.delete(letGo);
    },
  };
}
