// Numbering of foreign publishers against a plain set of numbers; the headers' invariants are named.
import { expect, test } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import {
  acceptGap,
  type ForeignPosition,
  hearNumber,
  noteRefused,
  nothingHeard,
  openGaps,
  rangeOf,
  rangesMax,
  rangeText,
} from "./numbering.ts";

const at = fromMicroseconds(1_000);

function heard(numbers: readonly number[], from: ForeignPosition = nothingHeard): ForeignPosition {
  return numbers.reduce((position, number) => hearNumber(position, number, at, `g${number}`).position, from);
}

/** Of gaps that have waited long enough: the id, with what is missing. */
const gapsIn = (position: ForeignPosition): readonly (readonly string[])[] =>
  openGaps(position, at, 0).map(({ gapId, missing }) => [gapId, ...missing.map(rangeText)]);

const missingIn = ({ missing }: ForeignPosition): readonly number[] =>
  missing.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));

test("32.4: the count begins with 1, and what was lost before anything was heard is missing as well", () => {
  expect(hearNumber(nothingHeard, 1, at, "g")).toEqual({ position: { last: 1, missing: [] }, numbering: "NEXT" });
  expect(hearNumber(nothingHeard, 0, at, "g")).toEqual({ position: { last: 0, missing: [] }, numbering: "NEXT" });
  expect(hearNumber(nothingHeard, 3, at, "g")).toEqual({
    position: { last: 3, missing: [{ from: 1, to: 2, since: at, gapId: "g" }] },
    numbering: "GAP",
  });
});

test("32.4: the next is due, and a skipped one opens a gap that its coming closes", () => {
  const gap = hearNumber(acceptGap(heard([7, 8]), "g7", undefined, "left"), 11, at, "g");
  expect(gap).toEqual({
    position: { last: 11, missing: [{ from: 9, to: 10, since: at, gapId: "g" }] },
    numbering: "GAP",
  });
  const late = hearNumber(gap.position, 9, at, "other");
  expect(late.numbering).toBe("LATE");
  expect(gapsIn(late.position)).toEqual([["g", "10"]]);
  expect(hearNumber(late.position, 9, at, "x")).toEqual({ position: late.position, numbering: "REPEATED" });
  expect(gapsIn(heard([10], late.position))).toEqual([]);
});

test("45.2: invariant 3: all that is missing is one gap under its first id, also what earlier versions kept apart", () => {
  const position = heard([1, 6, 10, 4]);
  expect(gapsIn(position)).toEqual([["g6", "2 to 3", "5", "7 to 9"]]);
  const apart = { ...position, missing: position.missing.map((range) => ({ ...range, gapId: `own-${range.from}` })) };
  expect(gapsIn(apart)).toEqual([
    ["own-2", "2 to 3"],
    ["own-5", "5"],
    ["own-7", "7 to 9"],
  ]);
  expect(gapsIn(heard([12], apart))).toEqual([["own-2", "2 to 3", "5", "7 to 9", "11"]]);
});

test("45.2: invariant 6: accepting gives up the numbers that were named, and what is left is another gap", () => {
  const position = heard([1, 6, 10]);
  const named = [
    { from: 2, to: 5 },
    { from: 8, to: 8 },
  ];
  const accepted = acceptGap(position, "g6", named, "left");
  expect(gapsIn(accepted)).toEqual([["left", "7", "9"]]);
  expect(hearNumber(accepted, 2, at, "x").numbering).toBe("REPEATED");
  // As before ranges were named; and an id that is none of its own takes nothing.
  expect(missingIn(acceptGap(position, "g6", undefined, "left"))).toEqual([]);
  expect(missingIn(acceptGap(position, "left", named, "left"))).toEqual([2, 3, 4, 5, 7, 8, 9]);
});

test("45.2: a gap is due range by range, and names which of its numbers were refused until they are given up", () => {
  const later = fromMicroseconds(3_000_000);
  const one = noteRefused(heard([1, 3]), 2, "BUS_PAYLOAD_INVALID");
  const position = noteRefused(hearNumber(one, 5, later, "x").position, 6, "EVENT_ID_REUSED");
  const due = { gapId: "g3", missing: [{ from: 2, to: 2 }], refused: [{ number: 2, code: "BUS_PAYLOAD_INVALID" }] };
  expect(openGaps(position, later, 2_000)).toEqual([due]);
  expect(openGaps(position, fromMicroseconds(1_500_000), 2_000)).toMatchObject([{ missing: [{ from: 4, to: 4 }] }]);
  const accepted = acceptGap(position, "g3", [{ from: 2, to: 2 }], "left");
  expect(accepted.refused).toEqual([{ number: 6, code: "EVENT_ID_REUSED" }]);
});

test("45.2: a range is read as it is written, and nothing else is", () => {
  expect(["7", "9 to 12"].map((text) => rangeText(rangeOf(text) ?? { from: 0, to: 0 }))).toEqual(["7", "9 to 12"]);
  for (const text of ["", "x", "1 to", "-1", "1 to 2 to 3", "7, 9"]) expect(rangeOf(text)).toBeUndefined();
});

test("32.4: invariants 1 and 2 for any order of arrival, with repetitions", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = prng(seed);
    const first = random.below(20);
    const given = Array.from({ length: 60 }, () => first + random.below(40));
    let position = nothingHeard;
    const seen = new Set<number>();
    for (const number of given) {
      position = hearNumber(position, number, at, `g${number}`).position;
      seen.add(number);
      const last = Math.max(...seen);
      const lacking: number[] = [];
      for (let each = 1; each <= last; each += 1) if (!seen.has(each)) lacking.push(each);
      expect({ seed, last: position.last, missing: missingIn(position) }).toEqual({ seed, last, missing: lacking });
    }
  }
});

test("32.4: invariant 5: without room a gap is described wider, never narrower", () => {
  const everySecond = Array.from({ length: rangesMax + 3 }, (_, index) => index * 2);
  const position = heard(everySecond);
  expect(position.missing).toHaveLength(rangesMax);
  const missing = new Set(missingIn(position));
  for (let odd = 1; odd < (position.last ?? 0); odd += 2) expect(missing.has(odd)).toBe(true);
  const wide = heard([0, 100, 200], heard(everySecond.map((number) => number * 1_000)));
  // A part out of the middle finds no room: the range stays whole.
  expect(wide.missing).toHaveLength(rangesMax);
  expect(new Set(missingIn(wide)).has(100)).toBe(true);
});
