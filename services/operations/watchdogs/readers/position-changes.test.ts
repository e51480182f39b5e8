// Which spans of a position are judged: every one in its final form, also when its last fill came after its last judgement.
import { expect, it } from "vitest";
import { spansToJudge } from "./position-changes.ts";

it("judges the span that was judged last once more, then each that followed", () => {
  expect(spansToJudge(null, 100)).toEqual([100]);
  expect(spansToJudge("100", 100)).toEqual([100]);
  expect(spansToJudge("99", 100)).toEqual([99, 100]);
  expect(spansToJudge("97", 100)).toEqual([97, 98, 99, 100]);
  expect(spansToJudge("80", 100)).toHaveLength(21);
});

it("begins with the running one where nothing is known of those before", () => {
  expect(spansToJudge("79", 100), "too long ago").toEqual([100]);
  expect(spansToJudge("20774", 100), "of longer spans").toEqual([100]);
  expect(spansToJudge("2026-11-17", 100)).toEqual([100]);
});
