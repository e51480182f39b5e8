// The risk engine's part of the store: the journal of its decisions and of what changed its books, and what it reads back when it
// starts. Envelopes, halts and valuations are changed through the unit of work (ports/store.ts) and read here.
//
// What every adapter promises (testkit/conformance/risk-store.ts):
//  1. `append` is one transaction: all entries of a batch or none, numbered in their order, durable when it resolves.
//  2. When it rejects with anything but STORE_COMMIT_UNKNOWN, nothing of the batch remains and nothing will.
//  3. After STORE_COMMIT_UNKNOWN `outcomeOf` tells, by the batch's id, which of the two it was, once and for all. To be sure that what is
//     not there can never come, asking takes the writer epoch away: the caller takes it again before its next append.
//  4. Only the engine that took the writer epoch last can append: anybody else's batch is refused with STORE_CONFLICT, for good.
//  5. Entries are read back in the order in which they were appended, without holes in what is returned.
//  6. A decision is delivered on the bus as one message per gate that was reached, then as decision.made, to whoever subscribed.
import type { Instant } from "../contracts/src/instant.ts";
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";
import type { JudgedNav } from "../contracts/src/records/fund.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import type { Outcome } from "./store.ts";

/**
 * fill: payload is the JSON of a fill. transition: of an order's transition. release: of a throttle's release. expiry: of an approval that
 * ran out unsent. sent: of its owner's word that it was sent. block: of what an operator must accept. unblock: of its end. end: of an operator's word that
 * an order has ended. decision: DecisionRecord bytes.
 */
export type JournalKind =
  | "decision"
  | "fill"
  | "transition"
  | "release"
  | "expiry"
  | "sent"
  | "block"
  | "unblock"
  | "end";

export interface JournalEntry {
  readonly kind: JournalKind;
  readonly at: Instant;
  readonly fundId: string;
  readonly orderId: string;
  /** Decisions: of the idempotency key and of the whole order, in as many bytes as core/engine/fast/order-hash.ts stores. */
  readonly keyHash?: Uint8Array;
  readonly bodyHash?: Uint8Array;
  /** Decisions: a UUID, which is also the event's id. */
  readonly decisionId?: string;
  readonly approved?: boolean;
  /** Decisions: the denial's code, empty when approved. */
  readonly code?: string;
  /** Fills: unique over all entries. */
  readonly fillId?: string;
  readonly payload: Uint8Array;
}

export interface JournalBatch {
  /** A UUID; what `outcomeOf` asks by. */
  readonly id: string;
  /** As `takeWriterEpoch` gave it. */
  readonly writerEpoch: number;
  readonly entries: readonly JournalEntry[];
}

/** An entry as it is read back. */
export interface JournalRow extends JournalEntry {
  readonly id: bigint;
  // Ids that a database's text cannot hold (zero characters, more than 128) may come back in another form; the payload has the truth.
}

/** The engine's books as they stood right after entry `through`; the content is the engine's own form. */
export interface Snapshot {
  readonly through: bigint;
  readonly takenAt: Instant;
  readonly content: Uint8Array;
}

export interface SeenKey {
  readonly keyHash: Uint8Array;
  readonly bodyHash: Uint8Array;
  readonly at: Instant;
}

interface Halts {
  /** Grows with every halt and every lift. */
  readonly epoch: number;
  readonly active: readonly ActiveHalt[];
}

/** An approval as it was asked for. */
export interface AskedOrder {
  readonly orderId: string;
  /** As records name it; empty where that was not kept. */
  readonly askedBy: string;
  readonly at: Instant;
}

export interface RiskStore {
  /** From now on only the caller may append; the number goes into every batch. */
  takeWriterEpoch(incarnation: string): Promise<number>;
  /** An empty batch is nothing to append. A fill that the journal has, or that the batch has twice, is refused with INVALID_ARGUMENT. */
  append(batch: JournalBatch): Promise<void>;
  /** Asked of the store that sent the batch, before that appends anything else. */
  outcomeOf(batchId: string): Promise<Outcome>;
  /** The newest one. */
  snapshot(): Promise<Snapshot | undefined>;
  saveSnapshot(snapshot: Snapshot): Promise<void>;
  /** Entries after that number, at most so many, oldest first. */
  entries(after: bigint, countMax: number): Promise<readonly JournalRow[]>;
  /** The first decision of each key since then (not the denials of its repetitions), oldest first, at most so many after the given number; `next` continues. */
  keysSince(
    since: Instant,
    after: bigint,
    countMax: number,
  ): Promise<{ readonly keys: readonly SeenKey[]; readonly next: bigint | undefined }>;
  /** The DecisionRecord bytes of the first decision under this key that is not older than that. */
  decisionByKey(keyHash: Uint8Array, since: Instant): Promise<Uint8Array | undefined>;
  /** Decisions about an order and its fills, oldest first, at most so many. */
  entriesOfOrder(orderId: string, countMax: number): Promise<readonly JournalRow[]>;
  /** Who asked for the orders of these ids: of each the first decision that approved it, and the newest where that is another; none of one that nobody asked about. */
  askers(orderIds: readonly string[]): Promise<readonly AskedOrder[]>;
  /** A fill as the journal has it. */
  fillEntry(fillId: string): Promise<Uint8Array | undefined>;
  /** Which of these fills are in the journal. */
  knownFills(fillIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** The newest version of every fund's envelope. */
  envelopes(): Promise<readonly RiskEnvelope[]>;
  /** The newest valuation of every fund, as it was judged. */
  navs(): Promise<readonly JudgedNav[]>;
  /** One number, cheap enough to ask four times a second. */
  haltEpoch(): Promise<number>;
  halts(): Promise<Halts>;
  /** Calls back when a halt or an envelope may have changed elsewhere; gives the function that stops it. */
  onChange(run: () => void): () => void;
}
