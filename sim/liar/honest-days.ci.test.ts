// One day of the simulated market in which nobody lies stops nobody for what nobody vouches for; the ten are honest-days.long.test.ts.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";
import { honestDays } from "./honest-days.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

it("45: an honest day opens no block but the acceptance of flows of a LIVE fund", async () => {
  const { happened, blocks } = await honestDays({ seed: 1, days: 1 });
  expect(blocks).toEqual([]);
  for (const what of ["approved", "fills", "withdrawals", "exits"]) expect(happened[what], what).toBeGreaterThan(0);
});
