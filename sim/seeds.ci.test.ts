// Forty short runs of the whole platform and, for each operation that nobody asked in them, runs that are about it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { shortRuns } from "./short-runs.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

describe("the whole platform, simulated", () => {
  it("holds every invariant over 40 seeds, and they do meet crashes, halts, losses, lifts, trades and stops", {
    timeout: 480_000,
  }, async () => {
    const { totals, unasked, broken } = await shortRuns({ first: 1, last: 40, aboutUnasked: true });
    expect(broken).toBeUndefined();
    expect(unasked, "operations that nobody asked").toEqual([]);
    const least = {
      crashes: 12,
      orders: 80,
      approvals: 40,
      fills: 4,
      halts: 20,
      limits: 120,
      stops: 4,
      differences: 4,
      alerts: 12,
      "orders of alerts": 4,
      "losses that halted": 4,
      lifts: 4,
      "requests to lift all": 1,
      "exits in a halt": 4,
    };
    for (const [what, count] of Object.entries(least)) expect(totals[what], what).toBeGreaterThan(count);
  });
});
