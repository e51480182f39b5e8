// What is done for filings in a process of its own, so that neither its time nor its memory is operations': compressing, sending, and reading what nobody vouches for.
//
//  1. A piece of work that dies rejects with FILING_WORK_DIED; what it had done is looked up by the next one.
//  2. It ends when whoever asked for it is gone.
import type { RegimeName } from "../contracts/src/records/filing.ts";
import type { FilingPath } from "./filing-files.ts";
import type { FeedbackListed } from "./filing-transport.ts";

/** A range of a submission file in portions, each with the SHA-256 of what the rows say it is. */
export interface RangeToCompress {
  readonly path: FilingPath;
  readonly from: number;
  readonly portions: readonly { readonly bytes: number; readonly sha256: string }[];
}

/** A file that is sent, as it lies under the folder of filings. */
export interface FileToSend {
  readonly path: FilingPath;
  readonly name: string;
  readonly sha256: string;
}

/** One record that feedback rejects. */
export interface ReadError {
  readonly codes: readonly string[];
  readonly errorRoeId: string;
  readonly firmRoeId: string;
}

export type ReadFeedback = { readonly name: string; readonly bytes: number; readonly sha256: string } & (
  | {
      readonly receipt: {
        readonly status: "Success" | "Failure";
        readonly code?: string;
        readonly errorCount?: number;
      };
    }
  | { readonly errors: readonly ReadError[] }
  | { readonly problem: string }
);

export interface FilingWork {
  /** With bzip2. "CHANGED": the file is not what the rows say. */
  compress(range: RangeToCompress, signal: AbortSignal): Promise<Uint8Array | "CHANGED">;
  /** In this order; the answer is of each what became of it. */
  send(regime: RegimeName, files: readonly FileToSend[], signal: AbortSignal): Promise<readonly ("SENT" | "THERE")[]>;
  listFeedback(regime: RegimeName, signal: AbortSignal): Promise<readonly FeedbackListed[]>;
  readFeedback(regime: RegimeName, names: readonly string[], signal: AbortSignal): Promise<readonly ReadFeedback[]>;
  /** One that a person has. */
  readGiven(name: string, content: Uint8Array, signal: AbortSignal): Promise<ReadFeedback>;
}
