// Requests to close a broken audit log and to begin another, as a part of a unit of work. One is written once and never changed: whether it still counts
// follows from its time and from the log that it names.
import type { Instant } from "../contracts/src/instant.ts";

export interface StoredAnew {
  readonly requestId: string;
  /** The log that is to be closed: its number and its name. */
  readonly log: number;
  readonly origin: string;
  readonly reason: string;
  /** As entries name the person, and as the identity provider does. */
  readonly requestedBy: string;
  readonly subject: string;
  readonly at: Instant;
  readonly expiresAt: Instant;
}

export interface AuditAnewRecords {
  put(request: StoredAnew): Promise<void>;
  request(requestId: string): Promise<StoredAnew | undefined>;
}
