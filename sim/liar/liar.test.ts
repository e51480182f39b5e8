// A world that is lied to and its twin: a short run holds every invariant, and a guard that is taken away is found; the others are planted on the second floor.
import { describe, expect, it } from "vitest";
import { findPlantedBug } from "./find-planted-bug.ts";
import { plantedLiarBugs } from "./planted-bugs.ts";
import { describeReport } from "./report.ts";
import { simulateLiar } from "./simulate.ts";

const steps = 60;

describe("45: a second publisher who lies", () => {
  it("moves nothing that is not its own, and loosens nothing", async () => {
    const seed = 1;
    const report = await simulateLiar({ seed, steps });
    expect(report.violation, describeReport({ seed, steps }, report)).toBeUndefined();
  });

  it.each(["forgets-askers", "forgets-funds"])("is found out: %s", async (name) => {
    for (const plantedBug of plantedLiarBugs.filter((bug) => bug.name === name)) {
      expect(plantedBug.found).toContain(await findPlantedBug(plantedBug));
    }
    expect(plantedLiarBugs.map((bug) => bug.name)).toContain(name);
  });
});
