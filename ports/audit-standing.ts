// How the audit log stands, as a part of a unit of work: operations writes it about once a second, and risk engines read it, so that an engine
// knows without asking anybody whether what it approves will be recorded. There is one record, and the log's newest writer has it.
import type { Instant } from "../contracts/src/instant.ts";

export interface AuditStanding {
  /** The number under which its writer may append to the log; a report under an older number changes nothing. */
  readonly writerEpoch: number;
  /** Everything that was published before this moment is an entry of the log; it never goes back. */
  readonly through: Instant;
  /** Why the log takes no entries or does not verify, and since when; undefined when it is whole. */
  readonly broken?: { readonly reason: string; readonly since: Instant } | undefined;
}

export interface AuditStandingRecords {
  /** Undefined when nobody has ever reported. */
  read(): Promise<AuditStanding | undefined>;
  /** False when a later writer of the log has reported. */
  report(standing: AuditStanding): Promise<boolean>;
}
