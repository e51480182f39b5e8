// What the engine answers under every set of conditions is what it answered when each of them was kept in a shape of its own (testkit/risk/condition-subsets.ts).
import { describe, expect, it } from "vitest";
import { expectAnswers, subsetCount } from "../../testkit/risk/condition-subsets.ts";

describe("every set of conditions", () => {
  it.each(["increase", "passive", "exit"])("answers %s as before", (asked) => {
    expect(expectAnswers("ordinary", asked)).toBe(subsetCount);
  });
});
