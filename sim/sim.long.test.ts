// The long form: two thousand seeds of the whole platform, and how soon each mistake that is built in is found. A seed that fails is named with the
// command that replays it.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { replayCommand } from "./report.ts";
import { simulate } from "./simulate.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

it("holds every invariant over 2,000 seeds", { timeout: 7_200_000 }, async () => {
  for (let seed = 1_000; seed < 3_000; seed += 1) {
    const options = { seed, steps: 900 };
    const { violation } = await simulate(options);
    expect(violation, replayCommand(options)).toBeUndefined();
  }
});

it.each(plantedBugs.map((plantedBug) => [plantedBug.name, plantedBug] as const))(
  "finds %s within 500 seeds",
  { timeout: 1_800_000 },
  async (_name, plantedBug) => {
    for (let seed = 1; seed <= 500; seed += 1) {
      if ((await simulate({ seed, steps: 900, plantedBug })).violation !== undefined) return;
    }
    expect.unreachable(`no seed up to 500 finds ${plantedBug.name}`);
  },
);
