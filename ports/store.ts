// The store: one durable truth. A state change and its event are written by one unit of work and become visible together
// or not at all. Services say what happened in the domain's words (a repository per service hangs on the unit of work);
// lists, history and reports do not come through here.
//
// What every store promises (testkit/conformance/store.ts):
//  1. When `transact` resolves, everything the work wrote is durable, its events included.
//  2. When it rejects with anything but STORE_COMMIT_UNKNOWN, nothing the work wrote remains.
//  3. STORE_COMMIT_UNKNOWN means that the answer to COMMIT was lost: the caller asks `outcomeOf` before it goes on.
//  4. Serialization failures and deadlocks are retried up to `attemptsMax` times; the work must be safe to run again.
//  5. Events of two transactions that touched the same row are ordered as the transactions were.
//  6. A work that says that it is one statement is whole without a transaction; an event or a second statement in it is a Defect.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";
import type { JudgedNav } from "../contracts/src/records/fund.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import type { ReferenceKind } from "../contracts/src/records/reference.ts";
import type { Subject } from "../contracts/src/subject.ts";
import type { AuditAnewRecords } from "./audit-anew.ts";
import type { AuditStandingRecords } from "./audit-standing.ts";
import type { BotRecords } from "./bot-records.ts";
import type { CorporateActionRecords } from "./corporate-actions.ts";
import type { DrillRecords } from "./drill-records.ts";
import type { FilingRecords } from "./filing-records.ts";
import type { FilingStepRecords } from "./filing-steps.ts";
import type { FilingSubmissions } from "./filing-submissions.ts";
import type { FirstSeenRecords } from "./first-seen.ts";
import type { FlattenRecords } from "./flatten-records.ts";
import type { ForeignRecords } from "./foreign-records.ts";
import type { HaltRecords } from "./halt-records.ts";
import type { LedgerRecords } from "./ledger-records.ts";
import type { LossRecords } from "./loss-records.ts";
import type { MarketRecords } from "./market-records.ts";
import type { OmsRecords } from "./oms-records.ts";
import type { PaperFaultsRecords } from "./paper-faults.ts";
import type { ParkedRecords } from "./parked-events.ts";
import type { QuoteRecords } from "./quote-records.ts";
import type { ReconcileRecords } from "./reconcile-records.ts";
import type { ReportRecords } from "./report-records.ts";
import type { ReportRunRecords } from "./report-run-records.ts";
import type { RequestKeyRecords } from "./request-keys.ts";
import type { ResearchRecords } from "./research-records.ts";
import type { RestrictionRecords } from "./restriction-records.ts";
import type { SignalRecords } from "./signal-records.ts";
import type { StepUpRecords } from "./step-ups.ts";
import type { StopRecords } from "./stop-records.ts";
import type { UnauditedChangeRecords } from "./unaudited-changes.ts";
import type { WatchdogRecords } from "./watchdog-records.ts";

/** The outbox: what the world shall hear if, and only if, this unit of work commits. */
export interface EventWriter {
  /** Resolves to the event's id. The payload must match the subject's schema: a mismatch is a Defect. */
  publish<Payload>(subject: Subject<Payload>, payload: Payload): Promise<string>;
  /**
   * The same in the name of a program outside the platform, which proved it: what contracts/src/foreign-events.ts lists and nothing else, by operations
   * alone. A Defect for a source that is one of ours.
   */
  publishFor<Payload>(source: string, subject: Subject<Payload>, payload: Payload): Promise<string>;
}

/** The inbox: which events a durable subscription has already acted on. */
export interface HandledEvents {
  /** True the first time and false ever after, decided by the same transaction as the handler's own change. */
  firstTime(subscription: string, eventId: string): Promise<boolean>;
  /** The same for many in one go: those of them whose first time this is. */
  firstTimes(subscription: string, eventIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * The same for events whose ids their publishers chose, each with the hash of its content, and no id twice: what was known under the id before. Of an
   * id that was remembered without a content the content is taken to be the same.
   */
  contents(subscription: string, events: readonly HashedEvent[]): Promise<ReadonlyMap<string, KnownContent>>;
}

/** An event's id and the hash of what it says. */
export interface HashedEvent {
  readonly eventId: string;
  readonly hash: string;
}

export type KnownContent = "NEW" | "SAME" | "OTHER";

/** One running process of a service. An engine whose lease ran out is dead to the rest of the platform. */
export interface Instance {
  readonly service: string;
  /** A new one for every start, so that a restarted process is never mistaken for its predecessor. */
  readonly incarnation: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: Instant;
  readonly leaseUntil: Instant;
}

export interface Instances {
  /** Records a start. */
  register(instance: Instance): Promise<void>;
  /** Extends the lease; false when this incarnation is no longer known. */
  renew(incarnation: string, leaseUntil: Instant): Promise<boolean>;
  /** Records a clean end. */
  retire(incarnation: string): Promise<void>;
  /** Those whose lease had not run out at that moment, oldest first. */
  alive(at: Instant): Promise<readonly Instance[]>;
  /** Those whose lease had run out without a clean end; each is returned once per registration, then it is forgotten. */
  declareLost(at: Instant): Promise<readonly Instance[]>;
}

/**
 * By which rule of core/halts/halts.ts halts are lifted: one scope's own by an operator (the default), the same with losses counted anew, every halt by whoever signs
 * a request, a drill's own by the drill.
 */
export type LiftRule =
  | { readonly kind: "scope" }
  | { readonly kind: "drill" }
  | { readonly kind: "rebase"; readonly subject: string }
  | { readonly kind: "sign"; readonly requestId: string; readonly subject: string };

/** Limits, halts and valuations, changed in the same transaction as the event that says so. */
export interface RiskRecords {
  /** The newest version, kept from others until this unit ends; undefined when the fund has none. */
  lockEnvelope(fundId: string): Promise<RiskEnvelope | undefined>;
  /** A version that exists already is a STORE_CONFLICT. */
  putEnvelope(envelope: RiskEnvelope): Promise<void>;
  /** Those in force, and the epoch; no halt is latched or lifted by others until this unit ends. */
  lockHalts(): Promise<{ readonly epoch: number; readonly active: readonly ActiveHalt[] }>;
  /** Latches and gives the halt with its epoch. The same halt_id twice is one halt. */
  latchHalt(halt: Omit<ActiveHalt, "epoch">): Promise<ActiveHalt>;
  /**
   * Lifts these, all or none, and gives the new epoch: one for all of them. One that is not in force is a STORE_CONFLICT: whoever lifts holds
   * the halts locked and has just looked. What the rule asks for is looked for by the store as well, where the caller's login is a service's own.
   */
  liftHalts(haltIds: readonly string[], at: Instant, rule?: LiftRule): Promise<number>;
  /**
   * Keeps the newest valuation by `as_of`; false when this one is not newer. A kept one that is dated after `believedUntil` gives way to any that
   * is numbered after it: the clock was set back.
   */
  putNav(nav: JudgedNav, believedUntil: Instant): Promise<boolean>;
}

/** One version of one kind of reference data. */
export interface ReferenceVersion {
  readonly kind: ReferenceKind;
  readonly version: number;
  readonly content: unknown;
  readonly setBy: string;
  readonly setAt: Instant;
  readonly reason: string;
  readonly hash: string;
}

/** A change that loosens during a halt, as one person asked for it; another one signs. */
export interface ReferenceRequest {
  readonly requestId: string;
  readonly kind: ReferenceKind;
  readonly version: number;
  readonly content: unknown;
  readonly reason: string;
  /** As entries name the person, and as the identity provider does. */
  readonly requestedBy: string;
  readonly subject: string;
  readonly at: Instant;
  readonly expiresAt: Instant;
}

export interface ReferenceRecords {
  /** The newest, kept from others until this unit ends. */
  lock(kind: ReferenceKind): Promise<ReferenceVersion | undefined>;
  /** The one that was in force at that moment: the newest that was set until then, or the first of all. */
  asOf(kind: ReferenceKind, at: Instant): Promise<ReferenceVersion | undefined>;
  put(version: ReferenceVersion): Promise<void>;
  /** Kept for good: whether it still counts follows from its time and its version. */
  ask(request: ReferenceRequest): Promise<void>;
  asked(requestId: string): Promise<ReferenceRequest | undefined>;
  /** The newest versions of what orders name, 0 for none, kept as they are until this unit ends; other units may look at them at the same time. */
  atSending(): Promise<{ readonly instruments: number; readonly funds: number }>;
}

/** What the paper treasury holds for a fund: cash and quantities, moved by the entries of its ledger. */
export interface TreasuryRecords {
  /** Adds to a holding; the symbol of cash is the currency itself. */
  add(fundId: string, symbol: string, quantity: Decimal): Promise<void>;
  holdings(): Promise<readonly { readonly fundId: string; readonly symbol: string; readonly quantity: Decimal }[]>;
}

/** One key of the configuration as the last start had it. */
export interface ConfigurationValue {
  readonly path: string;
  /** What may be shown of its value. */
  readonly shown: string;
  /** Says whether another value is the same. */
  readonly digest: string;
}

/** The configuration of the last start, by the part that speaks for the process which started. */
export interface ConfigurationRecords {
  /** In order of their paths, kept from others until this unit ends. */
  lock(service: string): Promise<readonly ConfigurationValue[]>;
  /** Adds these or puts them in place of those of the same paths. */
  put(service: string, values: readonly ConfigurationValue[]): Promise<void>;
  remove(service: string, paths: readonly string[]): Promise<void>;
}

export interface UnitOfWork {
  readonly events: EventWriter;
  readonly handled: HandledEvents;
  readonly instances: Instances;
  readonly risk: RiskRecords;
  readonly halts: HaltRecords;
  readonly flattens: FlattenRecords;
  readonly drills: DrillRecords;
  readonly reference: ReferenceRecords;
  readonly treasury: TreasuryRecords;
  readonly ledger: LedgerRecords;
  readonly losses: LossRecords;
  readonly configuration: ConfigurationRecords;
  readonly oms: OmsRecords;
  readonly quotes: QuoteRecords;
  readonly market: MarketRecords;
  readonly filings: FilingRecords;
  readonly filingSteps: FilingStepRecords;
  readonly filingSubmissions: FilingSubmissions;
  readonly research: ResearchRecords;
  readonly corporateActions: CorporateActionRecords;
  readonly stops: StopRecords;
  readonly reconcile: ReconcileRecords;
  readonly restrictions: RestrictionRecords;
  readonly paperFaults: PaperFaultsRecords;
  readonly stepUps: StepUpRecords;
  readonly auditStanding: AuditStandingRecords;
  readonly firstSeen: FirstSeenRecords;
  readonly parked: ParkedRecords;
  readonly auditAnew: AuditAnewRecords;
  readonly watchdogs: WatchdogRecords;
  readonly requestKeys: RequestKeyRecords;
  readonly signals: SignalRecords;
  readonly reports: ReportRecords;
  readonly unauditedChanges: UnauditedChangeRecords;
  readonly reportRuns: ReportRunRecords;
  readonly bots: BotRecords;
  readonly foreign: ForeignRecords;
}

export type Outcome = "committed" | "not committed";

export interface StoreHealth {
  /** When the question was asked that it answered last, where that was not this one. */
  readonly answeredAt?: Instant;
  readonly reachable: boolean;
  readonly complaint?: string;
}

export interface WorkKind {
  /**
   * It is one statement, which needs no transaction around it: one read, or one write that is simply done again where its answer was lost. It publishes nothing;
   * an event or a second statement is a Defect.
   */
  readonly isOneStatement?: true;
}

export interface Store {
  /** Runs the work in one transaction. `name` is for logs, metrics and the outcome question. */
  transact<T>(name: string, work: (unit: UnitOfWork) => Promise<T>, kind?: WorkKind): Promise<T>;
  /** Whether the transaction behind a STORE_COMMIT_UNKNOWN (its fact `transaction`) became durable. */
  outcomeOf(transaction: string): Promise<Outcome>;
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}
