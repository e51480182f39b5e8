// The shape of a service: a name, one human sentence, whom it needs, and one function that takes its ports and starts it.
// A service is a shell: it takes a message, asks the core, commits, answers. It never reaches for the world by itself.

import type { Instant } from "../../contracts/src/instant.ts";
import type { Anchor } from "../../ports/anchors.ts";
import type { AuditLog } from "../../ports/audit-log.ts";
import type { BooksQueries } from "../../ports/books-queries.ts";
import type { Broker } from "../../ports/broker.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Chat } from "../../ports/chat.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Crash } from "../../ports/crash.ts";
import type { DatabaseCare } from "../../ports/database-care.ts";
import type { DiskSpace } from "../../ports/disk-space.ts";
import type { EventFeed } from "../../ports/event-feed.ts";
import type { FilingFiles } from "../../ports/filing-files.ts";
import type { FilingWork } from "../../ports/filing-work.ts";
import type { Blake3, Sha256 } from "../../ports/hashing.ts";
import type { Health } from "../../ports/health.ts";
import type { LanguageModel } from "../../ports/language-model.ts";
import type { Log } from "../../ports/log.ts";
import type { MarketHistory } from "../../ports/market-history.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { OmsQueries } from "../../ports/oms-queries.ts";
import type { OneTimeCodes } from "../../ports/one-time-codes.ts";
import type {
  HaltsConfirmer,
  LimitPreviews,
  OrderManagement,
  RiskBooks,
  RiskChecks,
  Withdrawals,
} from "../../ports/peers.ts";
import type { Quotes } from "../../ports/quotes.ts";
import type { Random } from "../../ports/random.ts";
import type { ReferenceData } from "../../ports/reference-data.ts";
import type { ReplayQueries } from "../../ports/replay-queries.ts";
import type { RiskQueries } from "../../ports/risk-queries.ts";
import type { RiskStore } from "../../ports/risk-store.ts";
import type { RpcService } from "../../ports/rpc.ts";
import type { SafetyReads } from "../../ports/safety-reads.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Sha256OfBytes, Signing } from "../../ports/signing.ts";
import type { StatusFile } from "../../ports/status-file.ts";
import type { StepUps } from "../../ports/step-ups.ts";
import type { Stopwatch } from "../../ports/stopwatch.ts";
import type { Store } from "../../ports/store.ts";
import type { Cipher, SubjectKeys } from "../../ports/subject-keys.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Tracer } from "../../ports/tracer.ts";
import type { TreasuryQueries } from "../../ports/treasury-queries.ts";
import type { UnauditedChanges } from "../../ports/unaudited-changes.ts";
import type { Upstream } from "../../ports/upstream.ts";
import type { Witnesses } from "../../ports/witnesses.ts";

export type ServiceName = "riskengine" | "operations" | "oms" | "treasury" | "research";

export interface ServicePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly crash: Crash;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly store: Store;
  readonly bus: Bus;
  readonly secrets: Secrets;
  readonly sha256: Sha256;
  readonly blake3: Blake3;
  readonly stopwatch: Stopwatch;
  /** Where this process and the embedded database write; undefined where nothing is written to a disk, and none can fill. */
  readonly diskSpace: DiskSpace | undefined;
  /** Undefined where nobody but units of work reaches the records. */
  readonly unauditedChanges: UnauditedChanges | undefined;
  readonly safetyReads?: SafetyReads;
  readonly riskStore: RiskStore;
  readonly riskQueries: RiskQueries;
  /** Undefined where there is no database to read histories from. */
  readonly replayQueries?: ReplayQueries | undefined;
  readonly referenceData: ReferenceData;
  /** Where orders can go; each is named as orders name it. */
  readonly brokers: readonly Broker[];
  readonly omsQueries: OmsQueries;
  readonly treasuryQueries: TreasuryQueries;
  /** Undefined where the books do not lie in one database: then nobody holds them against each other. */
  readonly booksQueries: BooksQueries | undefined;
  /** Undefined where there is no database to take care of: then no watchdog runs. */
  readonly databaseCare: DatabaseCare | undefined;
  /** Of the process that answers for events; undefined elsewhere, and where there is no database to read them from. */
  readonly eventFeed?: Pick<EventFeed, "newest" | "read"> | undefined;
  /** Where submission files for regulators lie. */
  readonly filingFiles: FilingFiles;
  /** Compresses and sends them, and reads what regulators say. */
  readonly filingWork: FilingWork;
  /** `<data dir>/watchdogs.json`. */
  readonly watchdogFile: StatusFile | undefined;
  /** How other services are asked. */
  readonly riskChecks: RiskChecks;
  readonly orderManagement: OrderManagement;
  readonly riskBooks: RiskBooks;
  readonly haltsConfirmer: HaltsConfirmer;
  readonly withdrawals: Withdrawals;
  readonly limitPreviews: LimitPreviews;
  readonly quotes: Quotes;
  readonly marketHistory: MarketHistory;
  readonly auditLog: AuditLog;
  readonly signing: Signing;
  readonly sha256OfBytes: Sha256OfBytes;
  /** Undefined when none is configured: then whoever runs the platform must be trusted, and the audit log's status says so. */
  readonly witnesses: Witnesses | undefined;
  /** Where the audit log's checkpoints are kept a second time. */
  readonly anchors: readonly Anchor[];
  readonly stepUps: StepUps;
  /** Codes that come with a request, for whoever lifts halts. */
  readonly oneTimeCodes: OneTimeCodes;
  readonly subjectKeys: SubjectKeys;
  readonly cipher: Cipher;
  /** Undefined when none is configured: then nobody can veto, and a fund that asks for it is denied by its policy. */
  readonly languageModel: LanguageModel | undefined;
  /** What outside is asked whether it answers: identity, and the language model when one is configured. */
  readonly upstreams: readonly Upstream[];
  /** Where people are notified. */
  readonly chat: Chat;
  readonly settings: Settings;
}

export interface RunningService {
  /** The remote procedures that it answers. */
  readonly rpc: readonly RpcService[];
  /**
   * Called when the process holds its lease and before anybody can ask it anything: what others decided while it held none, they decided
   * without it, so whatever must not be missed is read once more. When it rejects, the process does not serve.
   */
  leased?(lease: Pick<Lease, "heldSince">): Promise<void>;
  /** Whether it can do its own work right now; store and bus are judged by whoever runs it. */
  health(): Health;
  /** Finishes what is in hand and lets go; called once. */
  stop(): Promise<void>;
}

export interface Service {
  readonly name: ServiceName;
  readonly sentence: string;
  /** Services that are started before this one and stopped after it. */
  readonly needs: readonly ServiceName[];
  start(ports: ServicePorts): Promise<RunningService>;
}

export interface Lease {
  /** This process as the store names it. */
  readonly incarnation: string;
  health(): Health;
  /** Since when it has been held without a gap; undefined when it has run out. */
  heldSince(): Instant | undefined;
  /** Records a clean end; after a crash the lease simply runs out. */
  retire(): Promise<void>;
}
