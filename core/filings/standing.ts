// Where a submission file and a record stand, as it follows from what was sealed, what was sent, and what the regulator said.
//
//  1. CAT lists no acceptances: a file is accepted when its ingestion feedback is there with all the errors that it announces.
//  2. 1103 says that the same file had arrived before: it is no rejection.
//  3. A record is accepted when its file is, and none of the errors is its own; an error that comes later makes it rejected all the same.
const filingStates = ["OPEN", "SEALED", "UPLOADED", "ACKNOWLEDGED", "ACCEPTED", "REJECTED"] as const;
export type FilingState = (typeof filingStates)[number];

const recordStates = ["WRITTEN", "QUARANTINED", "SEALED", "ACCEPTED", "REJECTED", "CORRECTED", "DISMISSED"] as const;
type RecordState = (typeof recordStates)[number];

interface HeardFeedback {
  readonly stage?: string | undefined;
  readonly status?: "Success" | "Failure" | undefined;
  readonly code?: string | undefined;
  /** Of an ingestion feedback: errors that it announces. */
  readonly errorCount?: number | undefined;
  /** Of a file of errors: those that it has. */
  readonly errors?: number | undefined;
}

const arrivedBefore = "1103";

export function filingStateOf(
  file: { readonly isSent: boolean; readonly feedback: readonly HeardFeedback[] } | undefined,
): FilingState {
  if (file === undefined) return "OPEN";
  const heard = file.feedback.filter(({ status, code }) => status !== "Failure" || code !== arrivedBefore);
  if (heard.some(({ status }) => status === "Failure")) return "REJECTED";
  const ingestion = heard.find(({ stage, status }) => stage === "ingestion" && status === "Success");
  const listed = Math.max(
    0,
    ...heard.filter(({ stage }) => stage === "ingestion-error").map(({ errors = 0 }) => errors),
  );
  if (ingestion !== undefined && listed >= (ingestion.errorCount ?? 0)) return "ACCEPTED";
  if (heard.some(({ status }) => status === "Success")) return "ACKNOWLEDGED";
  return file.isSent ? "UPLOADED" : "SEALED";
}

interface RecordStanding {
  readonly status: "WRITTEN" | "QUARANTINED";
  readonly file: FilingState;
  readonly isRejected: boolean;
  /** By what a person did about it. */
  readonly correction?: { readonly action: string; readonly hasRecord: boolean } | undefined;
}

export function recordStateOf({ status, file, isRejected, correction }: RecordStanding): RecordState {
  if (correction !== undefined) return correction.hasRecord ? "CORRECTED" : "DISMISSED";
  if (status === "QUARANTINED") return "QUARANTINED";
  if (isRejected || file === "REJECTED") return "REJECTED";
  if (file === "OPEN") return "WRITTEN";
  return file === "ACCEPTED" ? "ACCEPTED" : "SEALED";
}
