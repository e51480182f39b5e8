// Where a foreign publisher's numbering stands: the last number heard of a fund and kind, and what is missing below it. Numbers may arrive in another
// order than they were given, twice, or never.
//
// Invariants (numbering.test.ts holds them against a set of numbers):
//  1. The count begins with 1: whoever is heard for the first time with a later number has lost, or never sent, what comes before it. `last` never falls.
//  2. A number is missing exactly when it lies between 1 and the last, was never heard, and nobody accepted that it is gone.
//  3. What belongs to one gap is known by its id, also when a part of it has arrived; a gap is closed when nothing of it is missing.
//  4. A number whose event was refused without using it up is missing like any other; that it was refused is kept beside it until the number comes.
//  5. At most `rangesMax` ranges are kept. Beyond that a gap is described as wider than it is, never as narrower: only an operator closes it then.
import type { Instant } from "../../contracts/src/instant.ts";

/** What is numbered, each by itself in every fund. */
export const foreignKinds = ["orders", "fills", "values"] as const;
export type ForeignKind = (typeof foreignKinds)[number];

/** Numbers that were skipped, both ends included. */
interface MissingRange {
  readonly from: number;
  readonly to: number;
  /** Since when they are missing. */
  readonly since: Instant;
  readonly gapId: string;
}

export interface ForeignPosition {
  /** Undefined: nothing with a number was heard. */
  readonly last: number | undefined;
  /** In order, without overlaps. */
  readonly missing: readonly MissingRange[];
  /** Of events that were refused and did not use up their numbers, the newest ones; absent: none. */
  readonly refused?: readonly RefusedNumber[] | undefined;
}

interface RefusedNumber {
  readonly number: number;
  readonly code: string;
}

/** NEXT: the one that was due. GAP: numbers before it are missing. LATE: it was missing and has come. REPEATED: it was heard before, or given up. */
export type Numbering = "NEXT" | "GAP" | "LATE" | "REPEATED";

interface Numbered {
  readonly position: ForeignPosition;
  readonly numbering: Numbering;
}

export const rangesMax = 200;
const refusedMax = 200;

export const nothingHeard: ForeignPosition = { last: undefined, missing: [] };

/** Hears a number; `gapId` names the gap that it may open. */
export function hearNumber(position: ForeignPosition, sequence: number, at: Instant, gapId: string): Numbered {
  const { missing } = position;
  const last = position.last ?? 0;
  const others = withoutNumber(position, sequence);
  if (sequence === last + 1 || (sequence === 0 && position.last === undefined))
    return { position: { last: sequence, missing, ...others }, numbering: "NEXT" };
  if (sequence > last) {
    const skipped = { from: last + 1, to: sequence - 1, since: at, gapId };
    return { position: { last: sequence, missing: withGap(missing, skipped), ...others }, numbering: "GAP" };
  }
  const index = missing.findIndex(({ from, to }) => from <= sequence && sequence <= to);
  const range = missing[index];
  if (range === undefined) return { position, numbering: "REPEATED" };
  const parts = [
    { ...range, to: sequence - 1 },
    { ...range, from: sequence + 1 },
  ].filter(({ from, to }) => from <= to);
  // Invariant 5: without room for another part the range stays whole.
  if (missing.length - 1 + parts.length > rangesMax) return { position, numbering: "LATE" };
  return { position: { last, missing: missing.toSpliced(index, 1, ...parts), ...others }, numbering: "LATE" };
}

function withoutNumber({ refused = [] }: ForeignPosition, sequence: number): Pick<ForeignPosition, "refused"> {
  const left = refused.filter(({ number }) => number !== sequence);
  return left.length === 0 ? {} : { refused: left };
}

/** An event was refused that did not use up its number; of one that was heard, or given up, nothing is to be said. */
export function noteRefused(position: ForeignPosition, number: number, code: string): ForeignPosition {
  const { last = 0, missing } = position;
  if (number <= last && !missing.some(({ from, to }) => from <= number && number <= to)) return position;
  const { refused = [] } = withoutNumber(position, number);
  return { ...position, refused: [...refused, { number, code }].slice(-refusedMax) };
}

function withGap(missing: readonly MissingRange[], skipped: MissingRange): readonly MissingRange[] {
  const newest = missing.at(-1);
  if (newest === undefined || missing.length < rangesMax) return [...missing, skipped];
  // What is accepted together must be one gap: the widened one has a new name, so that nobody has accepted it yet.
  return [...missing.slice(0, -1), { ...newest, to: skipped.to, gapId: skipped.gapId }];
}

/** An operator accepts that what is missing of the gap does not come. */
export function acceptGap({ last, missing }: ForeignPosition, gapId: string): ForeignPosition {
  return { last, missing: missing.filter((range) => range.gapId !== gapId) };
}

/** Every gap that is open, oldest first, with its numbers as one piece of text. */
export function openGaps({ missing }: ForeignPosition): readonly OpenGap[] {
  const ids = [...new Set(missing.map(({ gapId }) => gapId))];
  return ids.map((gapId) => {
    const ranges = missing.filter((range) => range.gapId === gapId);
    const since = ranges.reduce(
      (oldest, range) => (range.since < oldest ? range.since : oldest),
      ranges[0]?.since ?? 0,
    );
    return { gapId, since: since as Instant, numbers: numbersOf(ranges) };
  });
}

export interface OpenGap {
  readonly gapId: string;
  readonly since: Instant;
  /** "7, 9 to 12" */
  readonly numbers: string;
}

const shownMax = 5;

function numbersOf(ranges: readonly MissingRange[]): string {
  const shown = ranges.slice(0, shownMax).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  return ranges.length <= shownMax ? shown.join(", ") : `${shown.join(", ")} and more`;
}
