// Ten days of the simulated market in which nobody lies stop nobody for what nobody vouches for.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";
import { honestDays } from "./honest-days.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

it("45: ten honest days open no block but the acceptance of flows of a LIVE fund", { timeout: 1_800_000 }, async () => {
  const { happened, blocks } = await honestDays({ seed: 1, days: 10 });
  expect(blocks).toEqual([]);
  for (const what of ["approved", "fills", "withdrawals", "exits"]) expect(happened[what], what).toBeGreaterThan(20);
});
