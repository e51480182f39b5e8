// Where the numbering of each foreign publisher stands, as a part of a unit of work: one row for a source, a fund and a kind. What stands there outlives
// the platform's processes, the publisher's, and the bus with its disk.
//
// What every store promises (testkit/conformance/foreign-records.ts):
//  1. `lock` keeps the row from others until the unit ends, also when there is none yet.
//  2. `put` replaces the position and nothing else; `noteUnnumbered` is true exactly once for each source.
import type { Instant } from "../contracts/src/instant.ts";

export interface ForeignStream {
  /** The token's name over gRPC, the login's over NATS. */
  readonly source: string;
  readonly fundId: string;
  readonly kind: "orders" | "fills" | "values";
}

export interface KeptRange {
  readonly from: number;
  readonly to: number;
  readonly since: Instant;
  readonly gapId: string;
}

export interface KeptPosition {
  readonly last: number | undefined;
  readonly missing: readonly KeptRange[];
}

export interface ForeignRecords {
  /** Undefined: nothing was heard. */
  lock(stream: ForeignStream): Promise<KeptPosition | undefined>;
  put(stream: ForeignStream, position: KeptPosition, at: Instant): Promise<void>;
  /** An event of the source has no number: whether it is the first. */
  noteUnnumbered(source: string, at: Instant): Promise<boolean>;
  /** Of a source in a fund, by kind. */
  positions(source: string, fundId: string): Promise<readonly (ForeignStream & KeptPosition)[]>;
  /** Those with something missing, in order of source, fund and kind. */
  withGaps(): Promise<readonly (ForeignStream & KeptPosition)[]>;
}
