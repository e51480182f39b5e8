// What makes one report: a process of its own, as whoever composes the gateway starts it.
import type { ReportFormat, ReportParameters } from "../../../contracts/src/records/report.ts";

export interface ReportTask {
  /** As specified: nav_report. */
  readonly report: string;
  readonly parameters: ReportParameters;
  readonly format: ReportFormat;
}

export type ReportOutcome =
  /** The document as JSON is always among the files. */
  | { readonly kind: "made"; readonly files: ReadonlyMap<ReportFormat, Uint8Array> }
  | { readonly kind: "failed"; readonly detail: string };

/** Resolves also when the process died; `say` hears what it is at. */
export type MakeReport = (
  task: ReportTask,
  say: (progress: string) => void,
  signal: AbortSignal,
) => Promise<ReportOutcome>;
