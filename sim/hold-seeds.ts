// Seeds of the simulator as tests, each a test of its own: a run is seconds of computing, and ten of them in one test were given up on a busy machine.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { countedRuns, leastInTen } from "./short-runs.ts";

/** `together` names the test that counts what all of them met. */
export function holdSeeds(first: number, last: number, together: string): void {
  let restore: () => void;
  beforeAll(() => {
    restore = ignoreEndedIncarnations();
  });
  afterAll(() => restore());

  const { totals, brokenAt } = countedRuns();
  const seeds = Array.from({ length: last - first + 1 }, (_unused, index) => first + index);
  let held = 0;
  it.each(seeds)("holds every invariant with seed %i", async (seed) => {
    expect(await brokenAt(seed)).toBeUndefined();
    held += 1;
  });

  it(together, () => {
    expect(held, "seeds that ended and held").toBe(seeds.length);
    for (const [what, count] of Object.entries(leastInTen)) expect(totals[what], what).toBeGreaterThanOrEqual(count);
  });
}
