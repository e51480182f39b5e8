// Ten more short runs of the whole platform, in a file of their own so that another worker takes them.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { leastInTen, shortRuns } from "./short-runs.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

it("holds every invariant over seeds 11 to 20, and they do meet crashes, halts, limits, trades and alerts", async () => {
  const { totals, broken } = await shortRuns({ first: 11, last: 20, aboutUnasked: false });
  expect(broken).toBeUndefined();
  for (const [what, count] of Object.entries(leastInTen)) expect(totals[what], what).toBeGreaterThanOrEqual(count);
});
