// The whole product: every set of conditions, under every circumstance, for every kind of order.
import { describe, expect, it } from "vitest";
import { askedOrders, circumstances, expectAnswers, subsetCount } from "../../testkit/risk/condition-subsets.ts";

describe.each(Object.keys(circumstances))("every set of conditions, %s", (circumstance) => {
  it.each(Object.keys(askedOrders))("answers %s as before", (asked) => {
    expect(expectAnswers(circumstance, asked)).toBe(subsetCount);
  });
});
