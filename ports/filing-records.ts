// The records that are reported to regulators, in a unit of work. Only operations writes them; a row never changes, and the day's submission file is its image.
//
// What every store promises (testkit/conformance/filing-records.ts):
//  1. A record of a regime and fund whose event was recorded before, and one at a line that is taken, is a STORE_CONFLICT.
//  2. Lines of a file are counted from 0 without a gap, those that are written and those that are quarantined each for themselves.
//  3. Records are listed in the order of their ids, which is that of fund, date and line.
import type { Instant } from "../contracts/src/instant.ts";
import type { FiledEventType, RegimeName } from "../contracts/src/records/filing.ts";

type FilingRecordStatus = "WRITTEN" | "QUARANTINED";

/** One submission file of a regime and fund; what is quarantined has a file of its own beside it. */
export interface FilingDay {
  readonly regime: RegimeName;
  readonly fundId: string;
  /** YYYY-MM-DD. */
  readonly date: string;
}

export interface FilingFile extends FilingDay {
  readonly status: FilingRecordStatus;
}

interface FilingMistakeRow {
  readonly code: string;
  readonly field?: string;
  readonly sentence: string;
}

export interface FilingRecord extends FilingFile {
  readonly recordId: string;
  /** Its place among the day's lines. */
  readonly line: number;
  /** Of the submission file that its line is a part of; 1 of what is put aside. */
  readonly number: number;
  /** Bytes of that file up to the end of its line; 0 of what is put aside. */
  readonly endsAt: number;
  /** How the record is called where it is handed in; a correction carries the name of what it corrects. */
  readonly reference?: string | undefined;
  /** Names the event over all sources of its fund. */
  readonly eventKey: string;
  /** Of what was reported, to tell the same event from another under its name. */
  readonly contentHash: string;
  readonly orderId: string;
  readonly symbol: string;
  readonly eventType: FiledEventType;
  readonly eventAt: Instant;
  readonly recordedAt: Instant;
  /** Who reported it. */
  readonly source: string;
  readonly mode: "LIVE" | "PAPER";
  /** As the regime names the event. */
  readonly type: string;
  readonly deadline: Instant;
  readonly late: boolean;
  /** The line of the file, without its end. */
  readonly text: string;
  /** The record that it corrects, and how: NEW is one that was put aside and is judged again. */
  readonly corrects?: string | undefined;
  readonly action?: "NEW" | "RPR" | "COR" | "DEL" | undefined;
  /** Of one that is put aside until an order's beginning has a record: that order. */
  readonly waitsFor?: string | undefined;
  /** Why it is quarantined. */
  readonly mistakes: readonly FilingMistakeRow[];
}

export interface FilingQuery {
  readonly regime?: RegimeName;
  readonly fundId?: string;
  readonly date?: string;
  readonly orderId?: string;
  readonly status?: FilingRecordStatus;
  /** From behind this one on. */
  readonly afterRecordId?: string;
  readonly countMax: number;
}

/** What one of a day's files holds. */
export interface FilingDaySum extends FilingDay {
  readonly number: number;
  readonly mode: "LIVE" | "PAPER";
  readonly written: number;
  /** Of those that nobody has judged again or dismissed. */
  readonly quarantined: number;
  readonly late: number;
  /** When the earliest of its events happened. */
  readonly firstAt: Instant;
}

export interface FilingDayQuery {
  readonly regime?: RegimeName;
  readonly fundId?: string;
  readonly date?: string;
  /** From behind this one on, in the order of regime, fund, date and number. */
  readonly after?: FilingDay & { readonly number: number };
  readonly countMax: number;
}

export interface FilingRecords {
  insert(record: FilingRecord): Promise<void>;
  /** Of the event in a regime. */
  ofEvent(regime: RegimeName, fundId: string, eventKey: string): Promise<FilingRecord | undefined>;
  /** The record that says how an order began; undefined while none is written. */
  beginning(
    regime: RegimeName,
    fundId: string,
    orderId: string,
    types: readonly FiledEventType[],
  ): Promise<FilingRecord | undefined>;
  /** Those that are put aside until the beginning of this order has a record, whether or not it has one now; the oldest first. */
  waitingFor(regime: RegimeName, fundId: string, orderId: string, countMax: number): Promise<readonly FilingRecord[]>;
  /** Who reported first on an order of the fund. */
  firstSource(fundId: string, orderId: string): Promise<string | undefined>;
  /** How many lines a file has. */
  lineCount(file: FilingFile): Promise<number>;
  /** Of those that are written the last of its day. */
  last(day: FilingDay): Promise<FilingRecord | undefined>;
  /** So many lines of a file from this one on, without their ends. */
  lines(file: FilingFile, from: number, countMax: number): Promise<readonly string[]>;
  /** The same of the submission file with that number, counted from its own first line. */
  linesOfNumber(
    day: FilingDay & { readonly number: number },
    from: number,
    countMax: number,
  ): Promise<readonly string[]>;
  /** The first line of the submission file with that number, and how many it has; undefined while it has none. */
  range(
    day: FilingDay & { readonly number: number },
  ): Promise<{ readonly fromLine: number; readonly count: number; readonly mode: "LIVE" | "PAPER" } | undefined>;
  /** Those that carry this name, the newest last. */
  called(regime: RegimeName, reference: string): Promise<readonly FilingRecord[]>;
  find(recordId: string): Promise<FilingRecord | undefined>;
  list(query: FilingQuery): Promise<readonly FilingRecord[]>;
  days(query: FilingDayQuery): Promise<readonly FilingDaySum[]>;
}
