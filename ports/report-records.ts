// The reports that the platform made, in a unit of work: each with what was asked for, how it stands, and its documents. Only the gateway writes.
//
// What every store promises (testkit/conformance/report-records.ts):
//  1. What is kept of a report is what was put in, a document's bytes included.
//  2. `trimReports` never removes one that waits or runs; with a report go its documents.
import type { Instant } from "../contracts/src/instant.ts";
import type { ReportFormat, ReportParameters, ReportStatus, Restatement } from "../contracts/src/records/report.ts";

export interface StoredReport {
  readonly reportId: string;
  /** As specified: nav_report. */
  readonly report: string;
  readonly parameters: ReportParameters;
  readonly format: ReportFormat;
  readonly requestedBy: string;
  readonly requestedAt: Instant;
  readonly status: ReportStatus;
  /** What it is at, in a few words. */
  readonly progress: string;
  readonly endedAt?: Instant;
  /** Why it failed. */
  readonly detail?: string;
  /** Of one that is done. */
  readonly made?: {
    readonly title: string;
    readonly reconciled: boolean;
    readonly factsSha256: string;
    /** Of report, fund, period and parameters: equal for those that answer the same question. */
    readonly question: string;
    readonly documents: Partial<Record<ReportFormat, { readonly sha256: string; readonly bytes: number }>>;
    readonly restates?: Restatement;
  };
}

export interface ReportRecords {
  /** A report_id that exists already is a STORE_CONFLICT. */
  insertReport(report: StoredReport): Promise<void>;
  updateReport(report: StoredReport): Promise<void>;
  report(reportId: string): Promise<StoredReport | undefined>;
  /** Newest first; those after, which means older than, the named one. */
  reports(asked: { readonly countMax: number; readonly after?: string | undefined }): Promise<readonly StoredReport[]>;
  /** Those that are QUEUED or RUNNING, oldest first. */
  unfinishedReports(): Promise<readonly StoredReport[]>;
  /** The newest that is DONE and answered this question. */
  newestAnswer(question: string): Promise<StoredReport | undefined>;
  putReportDocument(reportId: string, format: ReportFormat, content: Uint8Array): Promise<void>;
  reportDocument(reportId: string, format: ReportFormat): Promise<Uint8Array | undefined>;
  /** Forgets ended ones beyond the newest so many of all; answers how many. */
  trimReports(keep: number): Promise<number>;
}
