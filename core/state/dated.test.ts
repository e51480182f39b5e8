// Dates from the future, and clocks that are set back.
import { expect, test } from "vitest";
import { fromUnixMs, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { ageMsOf, isAhead, isNewest } from "./dated.ts";

const now = fromUnixMs(1_800_000_000_000);
const at = (ms: number): Instant => plusMilliseconds(now, ms);

test("5 s ahead is believed, a microsecond more is not", () => {
  expect(isAhead(at(5_000), now)).toBe(false);
  expect(isAhead(at(5_000.001), now)).toBe(true);
});

test.each<[string, number, number | undefined, boolean]>([
  ["the first", 0, undefined, true],
  ["a newer one", 1, 0, true],
  ["one of the same moment", 0, 0, true],
  ["an older one", -1, 0, false],
  ["one from the future", 5_001, 0, false],
  ["a first one from the future", 5_001, undefined, false],
  ["one of today after one from the future", 0, 5_001, true],
  ["an old one after one from the future", -60_000, 5_001, true],
  ["an older one after one that may be right", 0, 5_000, false],
])("23.10: %s", (_, heard, known, is) => {
  expect(isNewest(at(heard), known === undefined ? undefined : at(known), now)).toBe(is);
});

test("what lies ahead by more than clocks differ counts as being that old", () => {
  expect([-10, 0, 5_000, 5_001].map((ms) => ageMsOf(at(ms), now))).toEqual([10, 0, 0, 5_001]);
});
