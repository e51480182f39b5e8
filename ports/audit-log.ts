// Where the audit chain is kept: entries as the bytes that are verified, the head, checkpoints, and what can be derived from the entries
// (tiles of the tree). Who chains, signs and verifies is not asked here; the store keeps, refuses a second writer, and gives back.
//
// What every adapter promises (testkit/conformance/audit-log.ts):
//  1. `append` is one transaction: all entries of a batch and the new head, or nothing. It is durable when it resolves.
//  2. Only who took the writer epoch last can append or put a checkpoint; anybody else is refused with STORE_CONFLICT, for good. A batch that does
//     not begin where the head is, is refused as well.
//  3. When `append` rejects with anything but STORE_COMMIT_UNKNOWN, nothing of the batch remains. After STORE_COMMIT_UNKNOWN the head
//     tells: taking the writer epoch anew waits for whatever is still under way.
//  4. An event id is in the log at most once; a batch that would bring it again is refused with INVALID_ARGUMENT.
//  5. Entries and checkpoints are never changed or removed: the database itself refuses both to the app's role, and to its owner until
//     a trigger is taken away. What stands beside an entry can be put right, and only to what its text says.
//  6. Entries are read back byte for byte, in order, without holes.
//  7. An append publishes one `audit.appended` for each of its entries, in the order of the log, with the entry's text as its payload, in the
//     same transaction: what was not committed is never heard of, and what was committed is heard.
//  8. Logs follow each other and one is written: `beginAnew` closes it and begins the next, numbered one higher, in one transaction. A closed log
//     stays as it is and can be read for ever; nothing of it is read through the next one but where an event of its stands (4 holds across all).
import type { Instant } from "../contracts/src/instant.ts";

/** The newest entry. */
export interface AuditHead {
  /** How many entries there are; the next one has this sequence. */
  readonly size: number;
  /** 64 hex digits; of the newest entry, zeros when there is none. */
  readonly hash: string;
  /** As it stands in the newest entry; empty when there is none. */
  readonly timestamp: string;
}

export interface AuditRow {
  readonly sequence: number;
  /** The text of all eight fields, in UTF-8. */
  readonly text: Uint8Array;
}

export interface NewAuditRow extends AuditRow {
  /** What the entry was made of, for example a bus event; unique in the log. */
  readonly eventId: string;
  /** Kept beside the text so that it can be found; `fsck` compares. */
  readonly subjectId: string;
  readonly action: string;
  /** As it stands in the text; the event about the entry carries it as its time. */
  readonly timestamp: string;
}

/** What stands beside the text of an entry. Nothing of it is hashed, and nobody who verifies believes it. */
export interface AuditIndexRow extends Pick<NewAuditRow, "sequence" | "eventId" | "subjectId" | "action"> {
  readonly at: Instant;
}

export interface AuditBatch {
  /** As `takeWriterEpoch` gave it. */
  readonly writerEpoch: number;
  /** Where the head must be: the size before the batch. */
  readonly after: number;
  readonly rows: readonly NewAuditRow[];
  readonly head: AuditHead;
}

export interface StoredCheckpoint {
  readonly size: number;
  /** The note with every signature that it has so far. */
  readonly note: string;
  readonly at: Instant;
}

/** Where the subject's entries are, by the index and not by the log. */
export interface SubjectRow extends AuditRow {
  readonly subjectId: string;
}

export interface StoredTile {
  readonly level: number;
  readonly index: number;
  /** 32 bytes for each of 1 to 256 hashes. */
  readonly hashes: Uint8Array;
}

/** A log that was closed, as its head was then. */
export interface ClosedLog {
  /** 1 for the first log of all. */
  readonly number: number;
  readonly head: AuditHead;
  readonly at: Instant;
}

/** The beginning of the next log, and the end of the one before. */
export interface NewLog {
  readonly writerEpoch: number;
  /** When the old one was closed. */
  readonly at: Instant;
  readonly rows: readonly NewAuditRow[];
  readonly head: AuditHead;
}

export type ClosedLogReads = Pick<
  AuditLog,
  | "head"
  | "read"
  | "readSubject"
  | "readIndex"
  | "readKeyChanges"
  | "readAlarms"
  | "count"
  | "newestCheckpoint"
  | "checkpoints"
  | "readTile"
  | "readTiles"
>;

export interface AuditLog {
  /** From now on only the caller may write; waits for a batch that is under way. `number` says which log is written. */
  takeWriterEpoch(
    incarnation: string,
  ): Promise<{ readonly writerEpoch: number; readonly head: AuditHead; readonly number: number }>;
  /** Closes the log that the writer epoch is for and begins the next with these entries. Refused as `append` is; the writer epoch stays in force. */
  beginAnew(begun: NewLog): Promise<void>;
  /** The oldest first. */
  closedLogs(): Promise<readonly ClosedLog[]>;
  /** What is kept of a closed log. */
  closed(log: ClosedLog): ClosedLogReads;
  head(): Promise<AuditHead>;
  append(batch: AuditBatch): Promise<void>;
  /** Most likely the next batch, while the one before is on its way: what can be done for it already is done. It changes nothing. */
  preEncode?(batch: AuditBatch): void;
  /** Of these event ids, those that are in the log, with their sequence. One below 0 stands in a closed log; `read` of one entry there finds it. */
  sequencesOf(eventIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Of these subjects, the sequence of the newest entry about each; a subject without one is not in the map. */
  newestOf(subjectIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** At most `count` entries from that sequence on. */
  read(from: number, count: number): Promise<readonly AuditRow[]>;
  /** Entries about the subject by the index, ascending, from that sequence on. */
  readSubject(subjectId: string, from: number, count: number): Promise<readonly SubjectRow[]>;
  /** What stands beside the entries from that sequence on, for comparing it with them. */
  readIndex(from: number, count: number): Promise<readonly AuditIndexRow[]>;
  /**
   * Puts right what stands beside these entries, and says of how many. What the text of an entry does not say is not written: the time is taken
   * from the text, and a row that does not fit it stays as it is. Entries themselves are not touched.
   */
  repairIndex(writerEpoch: number, rows: readonly Omit<AuditIndexRow, "at">[]): Promise<number>;
  /** Entries that the index says change a key of the log, ascending, from that sequence on. */
  readKeyChanges(from: number, count: number): Promise<readonly AuditRow[]>;
  /** Entries that the index says tell of a raised alarm, newest first, from before that sequence on. */
  readAlarms(before: number, count: number): Promise<readonly AuditRow[]>;
  /** How many rows there are from that sequence on and before the other, counted and not taken from the head. */
  count(from: number, end: number): Promise<number>;
  /** Another text than before when entries may have been changed or removed; no proof of either, only a reason to verify. */
  rewrites(): Promise<string>;
  /** A second one of the same size replaces the note only by one with the same text and more signatures. */
  putCheckpoint(writerEpoch: number, checkpoint: StoredCheckpoint): Promise<void>;
  /** The largest, if there is one. */
  newestCheckpoint(): Promise<StoredCheckpoint | undefined>;
  /** Ascending, from that size on. */
  checkpoints(fromSize: number, count: number): Promise<readonly StoredCheckpoint[]>;
  /** Derived: may be written anew at any time. A wider tile replaces a narrower one. */
  putTiles(tiles: readonly StoredTile[]): Promise<void>;
  /** Also by a narrower one, when what is stored is still what was read; says whether it was. */
  replaceTile(tile: StoredTile, was: Uint8Array): Promise<boolean>;
  readTile(level: number, index: number): Promise<Uint8Array | undefined>;
  /** As many at once, in the order in which they were asked for. */
  readTiles(places: readonly Pick<StoredTile, "level" | "index">[]): Promise<readonly (Uint8Array | undefined)[]>;
  /** Called after appends, here or elsewhere; gives the function that ends it. */
  onAppend(run: () => void): () => void;
}
