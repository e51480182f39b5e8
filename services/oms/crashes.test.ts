// Killed between every two of its steps, and in lives of random trouble: nothing acknowledged is lost, nothing is sent twice or after a newer
// halt, and the books agree with the broker's. The full counts are in crashes.long.test.ts.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { byFloor } from "../../testkit/full-count.ts";
import { crashScenarios, killedAt, randomLife } from "../../testkit/oms-crashes.ts";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";

let undo: () => void = () => undefined;
beforeAll(() => {
  undo = ignoreEndedIncarnations();
});
afterAll(() => undo());

/** The short form takes every so manieth point, others with every scenario. */
const every = byFloor({ first: 39, later: 13 });

describe("order management, killed at some of its steps", () => {
  it.each(Object.entries(crashScenarios))("%s", async (name, scenario) => {
    const { points, complaints } = await killedAt(0, scenario);
    expect(complaints).toEqual([]);
    expect(points).toBeGreaterThan(10);
    for (let n = 1 + (name.length % every); n <= points; n += every) {
      const suffered = await killedAt(n, scenario);
      expect(suffered, `${name}, killed at ${n}`).toMatchObject({ complaints: [], kills: 1 });
    }
  });

  it("lives of random trouble, seeds 8113 and 8000", async () => {
    // The first once lost a bell with the answer to a commit.
    for (const seed of [8_113, 8_000]) {
      const { complaints } = await randomLife(seed);
      expect(complaints, `seed ${seed}`).toEqual([]);
    }
  });
});
