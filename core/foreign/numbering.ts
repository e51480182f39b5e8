// Where a foreign publisher's numbering stands: the last number heard of a fund and kind, and what is missing below it. Numbers may arrive in another
// order than they were given, twice, or never.
//
// Invariants (numbering.test.ts holds them against a set of numbers):
//  1. The count begins with 1: whoever is heard for the first time with a later number has lost, or never sent, what comes before it. `last` never falls.
//  2. A number is missing exactly when it lies between 1 and the last, was never heard, and nobody accepted that it is gone.
//  3. Whatever is missing is one gap, known by the id that it was opened with, also when a part of it has arrived or more is missing; it is closed when nothing
//     of it is missing. What was skipped before versions that joined is joined by the next number that skips.
//  4. A number whose event was refused without using it up is missing like any other; that it was refused is kept beside it until the number comes.
//  5. At most `rangesMax` ranges are kept. Beyond that a gap is described as wider than it is, never as narrower: only an operator closes it then.
//  6. Accepted are the numbers that were named. What is missing beside them is a gap of its own from then on, which nobody has accepted.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";

/** What is numbered, each by itself in every fund. */
export const foreignKinds = ["orders", "fills", "values"] as const;
export type ForeignKind = (typeof foreignKinds)[number];

/** Both ends included. */
interface NumberRange {
  readonly from: number;
  readonly to: number;
}

/** Numbers that were skipped. */
interface MissingRange extends NumberRange {
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
  if (number <= last && !isIn(missing, number)) return position;
  const { refused = [] } = withoutNumber(position, number);
  return { ...position, refused: [...refused, { number, code }].slice(-refusedMax) };
}

function withGap(missing: readonly MissingRange[], skipped: MissingRange): readonly MissingRange[] {
  const gapId = missing[0]?.gapId ?? skipped.gapId;
  const joined = missing.map((range) => ({ ...range, gapId }));
  const newest = joined.at(-1);
  if (newest === undefined || joined.length < rangesMax) return [...joined, { ...skipped, gapId }];
  return [...joined.slice(0, -1), { ...newest, to: skipped.to }];
}

/**
 * An operator accepts that these numbers of the gap do not come; all of it when none are named, as acceptances of before have it. What is left of it is
 * known as `leftId` (invariant 6).
 */
export function acceptGap(
  { last, missing, refused = [] }: ForeignPosition,
  gapId: string,
  accepted: readonly NumberRange[] | undefined,
  leftId: string,
): ForeignPosition {
  const left = missing.flatMap((range): readonly MissingRange[] => {
    if (range.gapId !== gapId) return [range];
    if (accepted === undefined) return [];
    return rangesWithout([range], accepted).map(({ from, to }) => ({ from, to, since: range.since, gapId: leftId }));
  });
  const stillRefused = refused.filter(({ number }) => number > (last ?? 0) || isIn(left, number));
  return { last, missing: left, ...(stillRefused.length > 0 && { refused: stillRefused }) };
}

/** What of the first is not in the second. */
export function rangesWithout(ranges: readonly NumberRange[], taken: readonly NumberRange[]): readonly NumberRange[] {
  return taken.reduce<readonly NumberRange[]>(
    (left, { from, to }) =>
      left.flatMap((range) => {
        if (to < range.from || range.to < from) return [range];
        const parts = [
          { from: range.from, to: from - 1 },
          { from: to + 1, to: range.to },
        ];
        return parts.filter((part) => part.from <= part.to);
      }),
    ranges,
  );
}

const isIn = (ranges: readonly NumberRange[], number: number): boolean =>
  ranges.some(({ from, to }) => from <= number && number <= to);

/** What has been missing for `graceMs`: events may overtake each other, and a clock that was set back is no reason to wait longer. */
export function openGaps(
  { missing, refused = [] }: ForeignPosition,
  now: Instant,
  graceMs: number,
): readonly OpenGap[] {
  const ids = [...new Set(missing.map(({ gapId }) => gapId))];
  return ids.map((gapId) => {
    const due = missing.filter((range) => range.gapId === gapId && isDue(range, now, graceMs));
    return {
      gapId,
      missing: due.map(({ from, to }) => ({ from, to })),
      refused: refused.filter(({ number }) => isIn(due, number)),
    };
  });
}

function isDue({ since }: MissingRange, now: Instant, graceMs: number): boolean {
  const openMs = millisecondsBetween(since, now);
  return openMs >= graceMs || openMs < 0;
}

export interface OpenGap {
  readonly gapId: string;
  /** In order; none while all of it may still come. */
  readonly missing: readonly NumberRange[];
  readonly refused: readonly RefusedNumber[];
}

/** "7" or "9 to 12" */
export function rangeText({ from, to }: NumberRange): string {
  return from === to ? `${from}` : `${from} to ${to}`;
}

/** The other way around; undefined for any other text. */
export function rangeOf(text: string): NumberRange | undefined {
  const [, from = "", to = from] = /^(\d{1,16})(?: to (\d{1,16}))?$/.exec(text) ?? [];
  return from === "" ? undefined : { from: Number(from), to: Number(to) };
}
