// What the replay reads of the past: entries of the audit log by fund and time, what strategies said, and whose a halt was. Only PostgreSQL answers
// it: histories are no part of the state machine. Nothing of it changes anything.
import type { Instant } from "../contracts/src/instant.ts";
import type { Baseline } from "../contracts/src/losses.ts";
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import type { NewRestriction } from "../contracts/src/records/restriction.ts";
import type { NavPoint } from "./ledger-records.ts";
import type { Reference } from "./reference-data.ts";
import type { JournalRow } from "./risk-store.ts";

export interface TimelineMark {
  readonly at: Instant;
  /** Of the audit log; entries of a log that was closed stand before those of the next. */
  readonly sequence: number;
}

export interface TimelineEntry extends TimelineMark {
  readonly eventId: string;
  readonly action: string;
  /** The bytes that were hashed. */
  readonly text: Uint8Array;
  /** In the log that is written; another one stands in a log that was closed. */
  readonly isCurrent: boolean;
}

interface TimelineQuery {
  /** Also those that name no fund: they concern all. */
  readonly fundId: string;
  readonly actions: readonly string[];
  /** Both included. */
  readonly from: Instant;
  readonly to: Instant;
  readonly after?: TimelineMark;
  readonly countMax: number;
}

interface SignalMark {
  readonly at: Instant;
  readonly strategyId: string;
  readonly symbol: string;
}

/** What a strategy said, without what came of it. */
export interface SaidSignal extends SignalMark {
  readonly value: number;
  readonly price: string;
  readonly horizonS: number;
}

interface SignalsQuery {
  readonly fundId: string;
  readonly from: Instant;
  readonly to: Instant;
  readonly after?: SignalMark;
  readonly countMax: number;
}

export interface HaltScope {
  readonly severity: string;
  readonly fundId: string;
  readonly strategyId?: string;
}

/** A decision of the journal as its columns have it, with its entry of the audit log. */
export interface RecordedDecision {
  readonly id: bigint;
  readonly decisionId: string;
  readonly at: Instant;
  readonly approved: boolean;
  readonly code: string;
  readonly orderId: string;
  /** DecisionRecord bytes. */
  readonly payload: Uint8Array;
  readonly entry?: { readonly sequence: number; readonly action: string; readonly text: Uint8Array };
}

/** The engine's books after entry `through`, and what positions cost, both in the forms of their makers. */
export interface KeptBooks {
  readonly through: bigint;
  readonly at: Instant;
  readonly engine: Uint8Array;
  readonly costs: string;
}

interface JournalQuery {
  /** All funds' where none is named. */
  readonly fundId?: string;
  readonly after: bigint;
  /** Up to this entry. */
  readonly through?: bigint;
  /** Recorded up to this moment. */
  readonly at: Instant;
  readonly countMax: number;
}

/** What stood at a moment, of what was recorded by then. */
export interface Standing {
  readonly reference: Reference;
  readonly envelope: RiskEnvelope | undefined;
  /** The newest value of a second or a minute that is kept. */
  readonly nav: NavPoint | undefined;
  readonly halts: readonly ActiveHalt[];
  /** As they were opened. */
  readonly restrictions: readonly NewRestriction[];
  /** Newest first, at most a thousand. */
  readonly baselines: readonly Baseline[];
}

interface DecisionsQuery {
  readonly fundId: string;
  readonly from: Instant;
  /** Before this moment. */
  readonly to: Instant;
  readonly after: bigint;
}

export interface ReplayQueries {
  /** Oldest first, by when they were recorded. */
  entries(query: TimelineQuery): Promise<readonly TimelineEntry[]>;
  /** Where they stand alone, which is read along an index. */
  entryMarks(query: TimelineQuery): Promise<readonly TimelineMark[]>;
  /** By their places in the log, in its order. */
  entryTexts(sequences: readonly number[]): Promise<readonly Pick<TimelineEntry, "sequence" | "text">[]>;
  /** Numbers of decisions of a fund in that time, in the order of the journal; `through` is up to where it was looked, absent at the end. */
  decisionNumbers(
    query: DecisionsQuery,
  ): Promise<{ readonly ids: readonly bigint[]; readonly through: bigint | undefined }>;
  /** In the order of the journal. */
  decisions(ids: readonly bigint[]): Promise<readonly RecordedDecision[]>;
  /** What stood then for a fund: its own, and what concerns all. */
  standing(fundId: string, at: Instant): Promise<Standing>;
  /** The newest that was kept by then. */
  booksBefore(at: Instant): Promise<KeptBooks | undefined>;
  /** Once for each entry; older ones than that are removed. */
  keepBooks(books: KeptBooks, forgetBefore: Instant): Promise<void>;
  /** What moved the books: approvals, and whatever else is no denial, in its order. */
  journal(query: JournalQuery): Promise<readonly JournalRow[]>;
  entryOf(eventId: string): Promise<TimelineMark | undefined>;
  /** Oldest first. */
  signals(query: SignalsQuery): Promise<readonly SaidSignal[]>;
  /** By the halts' ids. */
  haltScopes(haltIds: readonly string[]): Promise<ReadonlyMap<string, HaltScope>>;
}
