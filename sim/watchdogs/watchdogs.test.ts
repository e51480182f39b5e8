// 25: the watchdogs' shell under kills: many short runs hold every invariant, one seed is one run, and planted bugs are found within 500 seeds.
import { describe, expect, it } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import { episodeLostAtRestart, factorAgain } from "./planted-bugs.ts";
import { type PlantedWatchdogBug, simulateWatchdogs } from "./simulate.ts";

const steps = 40;
const seeds = inputCount(40, 16);
const seedsMax = 500;

async function firstFound(
  plantedBug: PlantedWatchdogBug,
): Promise<{ readonly seed: number; readonly violation: string }> {
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const { violation } = await simulateWatchdogs({ seed, steps, plantedBug });
    if (violation !== undefined) return { seed, violation };
  }
  throw new Error(`not found within ${seedsMax} seeds`);
}

describe("25: watchdogs under kills", () => {
  it(`hold every invariant over ${seeds} seeds, which do meet kills, episodes and people who end restrictions`, async () => {
    const totals = { kills: 0, opened: 0, ended: 0, halts: 0 };
    for (let seed = 1; seed <= seeds; seed += 1) {
      const { violation, ...counts } = await simulateWatchdogs({ seed, steps });
      expect(violation, `seed ${seed}`).toBeUndefined();
      for (const name of ["kills", "opened", "ended", "halts"] as const) totals[name] += counts[name];
    }
    expect(totals.kills).toBeGreaterThan(seeds * 2.5);
    expect(totals.opened).toBeGreaterThan(seeds * 5);
    expect(totals.ended).toBeGreaterThan(seeds);
    expect(totals.halts).toBeGreaterThan(seeds);
  }, 240_000);

  it("are the same run for the same seed", async () => {
    const first = await simulateWatchdogs({ seed: 7, steps });
    expect(await simulateWatchdogs({ seed: 7, steps })).toEqual(first);
    expect(await simulateWatchdogs({ seed: 8, steps })).not.toEqual(first);
  });

  it("find a factor that is applied again", async () => {
    const { violation } = await firstFound(factorAgain);
    expect(violation).toMatch(/^factors_apply_once/);
  }, 240_000);

  it("find an episode that is lost at a restart", async () => {
    const { violation } = await firstFound(episodeLostAtRestart);
    expect(violation).toMatch(/^(one_open_episode|ends_with_its_episode|factors_apply_once)/);
  }, 240_000);
});
