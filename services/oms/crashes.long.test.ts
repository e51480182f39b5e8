// Killed at every point of every scenario, and hundreds of lives of random trouble; the short form is in crashes.test.ts.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crashScenarios, killedAt, randomLife } from "../../testkit/oms-crashes.ts";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";

let undo: () => void = () => undefined;
beforeAll(() => {
  undo = ignoreEndedIncarnations();
});
afterAll(() => undo());

describe("order management, killed at every step", { timeout: 300_000 }, () => {
  it.each(Object.entries(crashScenarios))("%s", async (name, scenario) => {
    const { points } = await killedAt(0, scenario);
    for (let n = 1; n <= points; n += 1) {
      const suffered = await killedAt(n, scenario);
      expect(suffered, `${name}, killed at ${n}`).toMatchObject({ complaints: [], kills: 1 });
    }
  });
});

describe("lives of random trouble", { timeout: 300_000 }, () => {
  const perTest = 100;
  it.each([8_000, 8_100, 8_200, 8_300])(`${perTest} of them from seed %i on`, async (first) => {
    for (let seed = first; seed < first + perTest; seed += 1) {
      const { complaints } = await randomLife(seed);
      expect(complaints, `seed ${seed}`).toEqual([]);
    }
  });
});
