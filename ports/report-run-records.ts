// The runs of scheduled reports and their deliveries, in a unit of work. Only the gateway writes.
//
// What every store promises (testkit/conformance/report-run-records.ts):
//  1. Of one schedule, fund and moment there is one run, whoever enters it and however many do so at once; those that people ask for are apart.
//  2. `updateRun` and `updateDelivery` change what nobody has changed since it was read, and answer undefined otherwise.
//  3. `trimRuns` never removes a run that is not over, or one of which a delivery is pending.
import type { Instant } from "../contracts/src/instant.ts";
import type { ReportFormat, ReportParameters } from "../contracts/src/records/report.ts";
import type {
  DeliveryStatus,
  ReportTarget,
  RunStatus,
  RunTrigger,
  ScheduledReport,
} from "../contracts/src/records/report-schedule.ts";

export interface ReportRun {
  readonly runId: string;
  readonly schedule: string;
  readonly report: ScheduledReport;
  readonly fundId: string;
  readonly dueAt: Instant;
  readonly trigger: RunTrigger;
  readonly requestedBy: string;
  /** In their words, of one that somebody asked for. */
  readonly reason?: string;
  readonly createdAt: Instant;
  readonly parameters: ReportParameters;
  readonly format: ReportFormat;
  readonly targets: readonly ReportTarget[];
  readonly status: RunStatus;
  /** How often making it has begun. */
  readonly attempts: number;
  /** Not before then. */
  readonly nextAt: Instant;
  /** Counts changes. */
  readonly version: number;
  /** The process that is at it, as the leases name it. */
  readonly holder?: string;
  /** Of the newest attempt. */
  readonly reportId?: string;
  readonly reconciled?: boolean;
  readonly detail?: string;
  readonly endedAt?: Instant;
}

export interface ReportDelivery {
  readonly runId: string;
  readonly target: ReportTarget;
  readonly reportId: string;
  readonly status: DeliveryStatus;
  readonly createdAt: Instant;
  /** Counted before each attempt: one that died in the middle counts. */
  readonly attempts: number;
  readonly nextAt: Instant;
  readonly version: number;
  readonly holder?: string;
  readonly reference: string;
  readonly detail?: string;
  readonly endedAt?: Instant;
}

/** How far a schedule's moments have their runs. */
export interface ScheduleCursor {
  /** Cron line and time zone: where they change, the schedule begins anew. */
  readonly definition: string;
  readonly considered: Instant;
}

export interface ReportRunRecords {
  cursor(schedule: string, fundId: string): Promise<ScheduleCursor | undefined>;
  putCursor(schedule: string, fundId: string, cursor: ScheduleCursor): Promise<void>;
  /** False when there is one already. */
  insertRun(run: ReportRun): Promise<boolean>;
  /** The run as it is kept now. */
  updateRun(run: ReportRun): Promise<ReportRun | undefined>;
  run(runId: string): Promise<ReportRun | undefined>;
  /** DUE or MAKING, those that were due first. */
  openRuns(countMax: number): Promise<readonly ReportRun[]>;
  /** Newest first; those after, which means older than, the named one. */
  runs(asked: {
    readonly schedule: string;
    readonly fundId?: string | undefined;
    readonly countMax: number;
    readonly after?: string | undefined;
  }): Promise<readonly ReportRun[]>;
  insertDelivery(delivery: ReportDelivery): Promise<void>;
  updateDelivery(delivery: ReportDelivery): Promise<ReportDelivery | undefined>;
  /** Those of one run. */
  deliveries(runId: string): Promise<readonly ReportDelivery[]>;
  /** PENDING, those whose turn comes first. */
  openDeliveries(countMax: number): Promise<readonly ReportDelivery[]>;
  /** Forgets ended ones beyond the newest so many of all; answers how many. */
  trimRuns(keep: number): Promise<number>;
}
