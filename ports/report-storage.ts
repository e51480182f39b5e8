// Where reports are put as files: a folder, or a bucket of an S3-compatible service.
//
// What every adapter promises (testkit/conformance/report-storage.ts):
//  1. `put` resolves when the file is kept, and rejects with REPORT_STORAGE_UNAVAILABLE when that is not known.
//  2. A file is there whole or not at all.
//  3. The same key with the same content is one file, however often it is put; with other content it is a REPORT_STORAGE_CONFLICT, and the first stays.
//  4. A key names a file below the place, and nothing else: what does not is INVALID_ARGUMENT.
//  5. A service is never waited for longer than `deadlineMs`.
export interface StoredFile {
  /** Names divided by slashes, each of letters, digits, dots, dashes and underscores. */
  readonly key: string;
  readonly contentType: string;
  readonly content: Uint8Array;
}

export interface ReportStorage {
  readonly name: string;
  /** Answers where it is, for people. */
  put(file: StoredFile, deadlineMs: number): Promise<string>;
  close(): Promise<void>;
}
