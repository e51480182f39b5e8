// What the audit log would have on disk in the memory store. It is handed to the logs of all processes that share it, and outlives them.
import type { AuditHead, ClosedLog, NewAuditRow, StoredCheckpoint, StoredTile } from "../../ports/audit-log.ts";

export interface AuditTables {
  writerEpoch: number;
  head: AuditHead;
  /** With their heads as they stood. */
  readonly closed: ClosedLog[];
  readonly rows: NewAuditRow[];
  readonly byEvent: Map<string, number>;
  /** The sequences of each subject's entries, ascending. */
  readonly bySubject: Map<string, number[]>;
  /** By size. */
  readonly checkpoints: Map<number, StoredCheckpoint>;
  /** By level and index, as `3/14`. */
  readonly tiles: Map<string, StoredTile>;
  /** Told of every append, in the stack of the one who made it: take note and return. */
  readonly followers: Set<() => void>;
}

export const noEntries: AuditHead = { size: 0, hash: "0".repeat(64), timestamp: "" };

export function auditTables(): AuditTables {
  return {
    writerEpoch: 0,
    head: { ...noEntries },
    closed: [],
    rows: [],
    byEvent: new Map(),
    bySubject: new Map(),
    checkpoints: new Map(),
    tiles: new Map(),
    followers: new Set(),
  };
}
