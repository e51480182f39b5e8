// Submission files as they were sealed and sent, what the regulator said of them, and what people did about it; in a unit of work. Only operations writes it,
// and no row changes.
//
// What every store promises (testkit/conformance/filing-submissions.ts):
//  1. A file whose number or name is taken is a STORE_CONFLICT, and so is a second correction of a record.
//  2. Its bytes come back as they were.
//  3. The same feedback, sending or rejection again changes nothing, and says so.
//  4. Files come in the order of regime, fund, date and number.
import type { Instant } from "../contracts/src/instant.ts";
import type { CorrectionAction, RegimeName } from "../contracts/src/records/filing.ts";
import type { FilingDay } from "./filing-records.ts";

/** One submission file. */
export interface FilingKey extends FilingDay {
  readonly number: number;
}

export interface SealedFile extends FilingKey {
  readonly mode: "LIVE" | "PAPER";
  /** Its lines, the second not among them. */
  readonly fromLine: number;
  readonly toLine: number;
  /** Its name without what stands behind the last word. */
  readonly base: string;
  readonly name: string;
  readonly meta?: { readonly name: string; readonly text: string } | undefined;
  readonly bytes: number;
  readonly sha256: string;
  readonly sealedBy: string;
  readonly at: Instant;
}

export interface FilingSending extends FilingKey {
  readonly at: Instant;
  readonly how: "SENT" | "THERE" | "BY_HAND";
  readonly sentBy: string;
}

export interface FilingFeedbackRow {
  readonly regime: RegimeName;
  /** Of the feedback file. */
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  /** The submission file that it is about. */
  readonly file?: FilingKey | undefined;
  readonly outcome: "TAKEN" | "UNREADABLE" | "FOREIGN";
  readonly stage?: string | undefined;
  readonly status?: "Success" | "Failure" | undefined;
  readonly code?: string | undefined;
  readonly errorCount?: number | undefined;
  /** Of a file of errors: how many it has. */
  readonly errors?: number | undefined;
  readonly problem?: string | undefined;
  readonly at: Instant;
}

export interface FilingRejection {
  readonly recordId: string;
  /** As the regulator numbers it. */
  readonly errorRoeId: string;
  readonly codes: readonly string[];
  /** The file that said it. */
  readonly feedback: string;
  readonly at: Instant;
}

export interface FilingCorrection {
  readonly recordId: string;
  readonly action: CorrectionAction;
  /** The record that says so; none of one that is dismissed. */
  readonly correctionId?: string | undefined;
  readonly correctedBy: string;
  readonly reason: string;
  readonly at: Instant;
}

/** A sealed file with what became of it. */
export interface FilingStanding {
  readonly file: SealedFile;
  /** The first that arrived. */
  readonly sending?: FilingSending | undefined;
  /** What was taken of it. */
  readonly feedback: readonly FilingFeedbackRow[];
  /** Its records that were rejected and that nobody has done anything about. */
  readonly rejected: number;
}

/** A day on which something is not in a sealed file, or not in one that arrived. */
export interface UnsentDay extends FilingDay {
  readonly mode: "LIVE" | "PAPER";
  /** Of the events that have not arrived: when the earliest happened. */
  readonly firstAt: Instant;
  readonly records: number;
}

export interface FilingSubmissions {
  seal(file: SealedFile, content: Uint8Array): Promise<void>;
  content(key: FilingKey): Promise<Uint8Array | undefined>;
  /** From this one to that one, both with what became of them. */
  between(from: FilingKey, to: FilingKey): Promise<readonly FilingStanding[]>;
  /** By the name without what stands behind its last word. */
  named(regime: RegimeName, base: string): Promise<SealedFile | undefined>;
  /** Takes no more lines from now on: what comes goes into the next number. */
  close(key: FilingKey, at: Instant): Promise<void>;
  /** The last number that takes no more lines, sealed or not; 0 before there is one. */
  lastNumber(day: FilingDay): Promise<number>;
  /** Bytes of the day's lines that stand before those of this number. */
  bytesBefore(key: FilingKey): Promise<number>;
  /** False where it was known to have arrived at that moment. */
  sent(sending: FilingSending): Promise<boolean>;
  /** Whether any file of the regime arrived since then. */
  hasSentSince(regime: RegimeName, since: Instant): Promise<boolean>;
  unsent(regime: RegimeName, countMax: number): Promise<readonly UnsentDay[]>;
  /** False where it was read before. */
  takeFeedback(row: FilingFeedbackRow): Promise<boolean>;
  /** Of these names those that were read, with the bytes that they had. */
  readFeedback(
    regime: RegimeName,
    names: readonly string[],
  ): Promise<readonly Pick<FilingFeedbackRow, "name" | "bytes" | "sha256">[]>;
  /** False where it is known. */
  reject(rejection: FilingRejection): Promise<boolean>;
  rejections(recordIds: readonly string[]): Promise<readonly FilingRejection[]>;
  correct(correction: FilingCorrection): Promise<void>;
  corrections(recordIds: readonly string[]): Promise<readonly FilingCorrection[]>;
}
