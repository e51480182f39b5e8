// Numbering of foreign publishers against a plain set of numbers; the headers' invariants are named.
import { expect, test } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { acceptGap, type ForeignPosition, hearNumber, nothingHeard, openGaps, rangesMax } from "./numbering.ts";

const at = fromMicroseconds(1_000);

function heard(numbers: readonly number[], from: ForeignPosition = nothingHeard): ForeignPosition {
  return numbers.reduce((position, number) => hearNumber(position, number, at, `g${number}`).position, from);
}

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
  const gap = hearNumber(acceptGap(heard([7, 8]), "g7"), 11, at, "g");
  expect(gap).toEqual({
    position: { last: 11, missing: [{ from: 9, to: 10, since: at, gapId: "g" }] },
    numbering: "GAP",
  });
  const late = hearNumber(gap.position, 9, at, "other");
  expect(late.numbering).toBe("LATE");
  expect(openGaps(late.position)).toEqual([{ gapId: "g", since: at, numbers: "10" }]);
  expect(hearNumber(late.position, 9, at, "x")).toEqual({ position: late.position, numbering: "REPEATED" });
  expect(openGaps(heard([10], late.position))).toEqual([]);
});

test("32.4: invariant 3: a part that came leaves one gap; accepting it gives up all of it and nothing else", () => {
  const position = heard([1, 6, 10, 4]);
  expect(openGaps(position)).toEqual([
    { gapId: "g6", since: at, numbers: "2 to 3, 5" },
    { gapId: "g10", since: at, numbers: "7 to 9" },
  ]);
  const accepted = acceptGap(position, "g6");
  expect(missingIn(accepted)).toEqual([7, 8, 9]);
  expect(hearNumber(accepted, 2, at, "x").numbering).toBe("REPEATED");
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

test("32.4: invariant 4: without room a gap is described wider, never narrower, and under a name that nobody accepted", () => {
  const everySecond = Array.from({ length: rangesMax + 3 }, (_, index) => index * 2);
  const position = heard(everySecond);
  expect(position.missing).toHaveLength(rangesMax);
  const missing = new Set(missingIn(position));
  for (let odd = 1; odd < (position.last ?? 0); odd += 2) expect(missing.has(odd)).toBe(true);
  expect(position.missing.at(-1)?.gapId).toBe(`g${position.last}`);
  const wide = heard([0, 100, 200], heard(everySecond.map((number) => number * 1_000)));
  // A part out of the middle finds no room: the range stays whole.
  expect(wide.missing).toHaveLength(rangesMax);
  expect(new Set(missingIn(wide)).has(100)).toBe(true);
});
