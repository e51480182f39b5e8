// The simulator of the whole platform: ten short runs hold every invariant (more-seeds.test.ts has ten others, seeds.ci.test.ts all forty with every
// operation), and one seed is one run.
import { describe, expect, it } from "vitest";
import { holdSeeds } from "./hold-seeds.ts";
import { describeReport } from "./report.ts";
import { type SimOptions, simulate } from "./simulate.ts";

async function reportFor(options: SimOptions): Promise<string> {
  return describeReport(options, await simulate(options));
}

describe("the whole platform, simulated", () => {
  holdSeeds(
    1,
    10,
    "holds every invariant over seeds 1 to 10, and they do meet crashes, halts, limits, trades and alerts",
  );

  it("gives the same report for the same seed, byte for byte, and another for another seed", async () => {
    const first = await reportFor({ seed: 42, steps: 300 });
    expect(await reportFor({ seed: 42, steps: 300 })).toBe(first);
    expect(await reportFor({ seed: 43, steps: 300, rests: false })).not.toBe(first);
  });

  it("fails with the canary and says how to replay it", async () => {
    const options = { seed: 1, steps: 3_000, canary: true };
    const report = await simulate(options);
    expect(report.violation?.invariant.name).toBe("canary");
    expect(describeReport(options, report)).toContain("npm run sim -- --seed 1 --steps 3000 --canary");
  });
});
