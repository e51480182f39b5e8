// The recorder behind every gate's notes: flat columns that are filled again for each check, so that looking costs no objects. Whatever
// outlives the next check is copied out first; the generation tells whether it is still there.
import { Defect } from "../../contracts/src/fault.ts";
import type { GateName } from "../../contracts/src/records/values.ts";
import type { Amount } from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import type { Notes } from "./gate.ts";

/** How a figure is shown: a word or a count as it is, an amount as the decimal it is, a product of two rounded up to the cent. */
const wordInput = 0;
export const countInput = 1;
export const amountInput = 2;
export const exactInput = 3;
/** Several times what all gates together write. */
const figuresMax = 256;

/** How much of a limit would be used. */
export interface LimitShare {
  readonly limit: string;
  readonly used: exact.Notional;
  readonly allowed: exact.Notional;
}

/** One gate that was reached: its figures are the columns' from `start` up to `end`, its shares end before `shareEnd`. */
export interface GateNote {
  gate: GateName;
  passed: boolean;
  microseconds: number;
  start: number;
  end: number;
  shareEnd: number;
}

/** What was noted, in columns. */
export interface NoteColumns {
  readonly gateCount: number;
  readonly gates: readonly Readonly<GateNote>[];
  readonly names: readonly string[];
  readonly kinds: Uint8Array;
  /** Words, and amounts that are not plain. */
  readonly values: readonly (bigint | string)[];
  /** Counts and plain amounts; NaN for what stands among the values. */
  readonly numbers: Float64Array;
  /** In milliseconds; NaN for what cannot age. */
  readonly ages: Float64Array;
  readonly shareCount: number;
  readonly shares: readonly LimitShare[];
}

export interface NoteBook extends Notes, NoteColumns {
  gateCount: number;
  shareCount: number;
  /** Figures so far. */
  figureCount: number;
  /** Counts the checks; what an earlier one wrote is gone. */
  generation: number;
  /** Begins a new check. */
  reset(): void;
  begin(gate: GateName): void;
  end(passed: boolean, microseconds: number): void;
  /** What was written since belongs to the last gate as well. */
  extend(): void;
  /** What was written, to outlive the next check. */
  copy(): NoteColumns;
  /** Begins a new check with what the first so many gates of another one wrote. */
  resume(copied: NoteColumns, gateCountMax: number): void;
}

// tidy: long because the recorder is one object whose parts write into the same columns.
export function createNoteBook(): NoteBook {
  const gates: GateNote[] = [];
  const shares: LimitShare[] = [];
  const names: string[] = new Array(figuresMax).fill("");
  const values: (bigint | string)[] = new Array(figuresMax).fill("");
  const numbers = new Float64Array(figuresMax);
  const kinds = new Uint8Array(figuresMax);
  const ages = new Float64Array(figuresMax);

  /** The columns have room for more than all gates together write; writing into them is all that a figure costs. */
  function write(name: string, kind: number, number: number, ageMs: number): number {
    const place = book.figureCount;
    if (place === figuresMax) throw new Defect(`a check noted more than ${figuresMax} figures`);
    names[place] = name;
    kinds[place] = kind;
    numbers[place] = number;
    ages[place] = ageMs;
    book.figureCount = place + 1;
    return place;
  }

  function writeValue(name: string, kind: number, value: bigint | string, ageMs: number): void {
    values[write(name, kind, Number.NaN, ageMs)] = value;
  }

  const book: NoteBook = {
    generation: 0,
    gateCount: 0,
    shareCount: 0,
    figureCount: 0,
    gates,
    names,
    values,
    numbers,
    kinds,
    ages,
    shares,
    decimal(name: string, value: Amount, ageMs = Number.NaN) {
      if (typeof value === "number") write(name, amountInput, value, ageMs);
      else writeValue(name, amountInput, value, ageMs);
    },
    exact(name: string, value: exact.Notional) {
      if (typeof value === "number") write(name, exactInput, value, Number.NaN);
      else writeValue(name, exactInput, value, Number.NaN);
    },
    word: (name: string, value: string, ageMs = Number.NaN) => writeValue(name, wordInput, value, ageMs),
    count(name: string, value: number) {
      write(name, countInput, value, Number.NaN);
    },
    share(limit, used, allowed) {
      // Below half of a limit nobody is warned.
      if (exact.isLessThanHalf(used, allowed) || !exact.isPositive(used)) return;
      shares[book.shareCount] = { limit, used, allowed };
      book.shareCount += 1;
    },
    reset() {
      book.generation += 1;
      book.gateCount = 0;
      book.shareCount = 0;
      book.figureCount = 0;
    },
    begin(gate) {
      const start = book.figureCount;
      const note = gates[book.gateCount];
      if (note === undefined) gates.push({ gate, passed: false, microseconds: 0, start, end: start, shareEnd: 0 });
      else {
        note.gate = gate;
        note.start = start;
      }
      book.gateCount += 1;
    },
    end(passed, microseconds) {
      const note = gates[book.gateCount - 1];
      if (note === undefined) return;
      note.passed = passed;
      note.microseconds = microseconds;
      note.end = book.figureCount;
      note.shareEnd = book.shareCount;
    },
    extend() {
      const note = gates[book.gateCount - 1];
      if (note !== undefined) note.end = book.figureCount;
    },
    copy() {
      const { gateCount, shareCount, figureCount: count } = book;
      return {
        gateCount,
        gates: gates.slice(0, gateCount).map((note) => ({ ...note })),
        names: names.slice(0, count),
        kinds: kinds.slice(0, count),
        values: values.slice(0, count),
        numbers: numbers.slice(0, count),
        ages: ages.slice(0, count),
        shareCount,
        shares: shares.slice(0, shareCount),
      };
    },
    resume(copied, gateCountMax) {
      book.reset();
      const kept = copied.gates.slice(0, gateCountMax);
      const last = kept.at(-1);
      for (const [index, note] of kept.entries()) gates[index] = { ...note };
      for (const [index, name] of copied.names.slice(0, last?.end ?? 0).entries()) {
        const [number = Number.NaN, ageMs = Number.NaN] = [copied.numbers[index], copied.ages[index]];
        values[write(name, copied.kinds[index] ?? wordInput, number, ageMs)] = copied.values[index] ?? "";
      }
      for (const [index, share] of copied.shares.slice(0, last?.shareEnd ?? 0).entries()) shares[index] = share;
      book.gateCount = kept.length;
      book.shareCount = last?.shareEnd ?? 0;
    },
  };
  return book;
}

const ignore = (): void => undefined;

/** For whoever only wants to know the answer. */
export const noNotes: Notes = { decimal: ignore, exact: ignore, word: ignore, count: ignore, share: ignore };
