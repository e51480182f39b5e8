// The long form: two thousand seeds of the whole platform, and how soon each mistake that is built in is found. A seed that fails is named with the
// command that replays it.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { replayCommand } from "./report.ts";
import { shortRuns } from "./short-runs.ts";
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

it("meets everything in a hundred short runs", { timeout: 3_600_000 }, async () => {
  const { totals, unasked, broken } = await shortRuns({ first: 1, last: 100, aboutUnasked: true });
  expect(broken).toBeUndefined();
  expect(unasked, "operations that nobody asked").toEqual([]);
  const least = {
    crashes: 30,
    orders: 200,
    approvals: 100,
    fills: 10,
    halts: 50,
    limits: 310,
    stops: 10,
    differences: 10,
    adjustments: 0,
    crosses: 0,
    "corporate actions": 0,
    alerts: 30,
    "orders of alerts": 10,
    "losses that halted": 10,
    lifts: 10,
    "requests to lift all": 4,
    signatures: 1,
    "exits in a halt": 10,
  };
  for (const [what, count] of Object.entries(least)) expect(totals[what], what).toBeGreaterThan(count);
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
