// The recorder behind every gate's notes: flat columns that are filled again for each check, so that looking costs no objects. Whatever
// outlives the next check is copied out first; the generation tells whether it is still there.
import type { Decimal } from "../contracts/src/decimal.ts";
import { Defect } from "../contracts/src/fault.ts";
import type { GateName } from "../contracts/src/records/values.ts";
import type { Exact } from "./exact.ts";
import type { Notes } from "./gates/gate.ts";

/** How a figure is shown: as the decimal it is, or as a product of two. Words and counts show themselves. */
const plainFigure = 0;
export const exactFigure = 1;
/** Several times what all gates together write. */
const figuresMax = 256;

/** How much of a limit would be used. */
export interface LimitShare {
  readonly limit: string;
  readonly used: bigint;
  readonly allowed: bigint;
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
  readonly values: readonly (bigint | string | number)[];
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
  const values: (bigint | string | number)[] = new Array(figuresMax).fill("");
  const kinds = new Uint8Array(figuresMax);
  const ages = new Float64Array(figuresMax);

  /** The columns have room for more than all gates together write; writing into them is all that a figure costs. */
  function write(name: string, kind: number, value: bigint | string | number, ageMs: number): void {
    const place = book.figureCount;
    if (place === figuresMax) throw new Defect(`a check noted more than ${figuresMax} figures`);
    names[place] = name;
    values[place] = value;
    kinds[place] = kind;
    ages[place] = ageMs;
    book.figureCount = place + 1;
  }

  const book: NoteBook = {
    generation: 0,
    gateCount: 0,
    shareCount: 0,
    figureCount: 0,
    gates,
    names,
    values,
    kinds,
    ages,
    shares,
    decimal: (name: string, value: Decimal, ageMs = Number.NaN) => write(name, plainFigure, value, ageMs),
    exact: (name: string, value: Exact) => write(name, exactFigure, value, Number.NaN),
    word: (name: string, value: string, ageMs = Number.NaN) => write(name, plainFigure, value, ageMs),
    count: (name: string, value: number) => write(name, plainFigure, value, Number.NaN),
    share(limit, used, allowed, half) {
      // Below half of a limit nobody is warned. Whoever asks often knows where that is, which saves an addition.
      if (half === undefined ? used + used < allowed : used < half) return;
      if (used <= 0n) return;
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
    copy() {
      const { gateCount, shareCount, figureCount: count } = book;
      return {
        gateCount,
        gates: gates.slice(0, gateCount).map((note) => ({ ...note })),
        names: names.slice(0, count),
        kinds: kinds.slice(0, count),
        values: values.slice(0, count),
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
        write(name, copied.kinds[index] ?? plainFigure, copied.values[index] ?? "", copied.ages[index] ?? Number.NaN);
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
