// The recorder behind every gate's notes: flat columns that are filled again for each check, so that looking costs no objects. Whatever
// outlives the next check is copied out first; the generation tells whether it is still there.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { GateName } from "../contracts/src/records/values.ts";
import type { Exact } from "./exact.ts";
import type { Notes } from "./gates/gate.ts";

/** How a figure is shown: as the decimal it is, or as a product of two. Words and counts show themselves. */
export const plainFigure = 0;
export const exactFigure = 1;
const figuresFirst = 64;

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

export function createNoteBook(): NoteBook {
  const gates: GateNote[] = [];
  const shares: LimitShare[] = [];
  let names: string[] = new Array(figuresFirst).fill("");
  let values: (bigint | string | number)[] = new Array(figuresFirst).fill("");
  let kinds = new Uint8Array(figuresFirst);
  let ages = new Float64Array(figuresFirst);
  let count = 0;
  let gateCount = 0;
  let shareCount = 0;

  /** The columns are as long as any check ever needed; writing into them is all that a figure costs. */
  function write(name: string, kind: number, value: bigint | string | number, ageMs: number): void {
    if (count === names.length) grow();
    names[count] = name;
    values[count] = value;
    kinds[count] = kind;
    ages[count] = ageMs;
    count += 1;
  }

  function grow(): void {
    const length = names.length * 2;
    names = [...names, ...new Array<string>(names.length).fill("")];
    values = [...values, ...new Array<string>(values.length).fill("")];
    const [shorterKinds, shorterAges] = [kinds, ages];
    kinds = new Uint8Array(length);
    ages = new Float64Array(length);
    kinds.set(shorterKinds);
    ages.set(shorterAges);
  }

  const book: NoteBook = {
    generation: 0,
    gates,
    shares,
    get gateCount() {
      return gateCount;
    },
    get names() {
      return names;
    },
    get values() {
      return values;
    },
    get kinds() {
      return kinds;
    },
    get ages() {
      return ages;
    },
    get shareCount() {
      return shareCount;
    },
    decimal: (name: string, value: Decimal, ageMs = Number.NaN) => write(name, plainFigure, value, ageMs),
    exact: (name: string, value: Exact) => write(name, exactFigure, value, Number.NaN),
    word: (name: string, value: string, ageMs = Number.NaN) => write(name, plainFigure, value, ageMs),
    count: (name: string, value: number) => write(name, plainFigure, value, Number.NaN),
    share(limit, used, allowed) {
      // Below half of a limit nobody is warned.
      if (used <= 0n || used + used < allowed) return;
      shares[shareCount] = { limit, used, allowed };
      shareCount += 1;
    },
    reset() {
      book.generation += 1;
      gateCount = 0;
      shareCount = 0;
      count = 0;
    },
    begin(gate) {
      const note = gates[gateCount];
      if (note === undefined)
        gates.push({ gate, passed: false, microseconds: 0, start: count, end: count, shareEnd: 0 });
      else {
        note.gate = gate;
        note.start = count;
      }
      gateCount += 1;
    },
    end(passed, microseconds) {
      const note = gates[gateCount - 1];
      if (note === undefined) return;
      note.passed = passed;
      note.microseconds = microseconds;
      note.end = count;
      note.shareEnd = shareCount;
    },
    copy() {
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
      gateCount = kept.length;
      shareCount = last?.shareEnd ?? 0;
    },
  };
  return book;
}

const ignore = (): void => undefined;

/** For whoever only wants to know the answer. */
export const noNotes: Notes = { decimal: ignore, exact: ignore, word: ignore, count: ignore, share: ignore };
