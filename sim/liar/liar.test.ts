// A world that is lied to and its twin: a short run holds every invariant, and a guard that is taken away is found.
import { describe, expect, it } from "vitest";
import { lies } from "./lies.ts";
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

  it.each(plantedLiarBugs.map((bug) => [bug.name, bug] as const))("is found out: %s", async (name, plantedBug) => {
    const shown = lies.filter((lie) => plantedBug.lies.includes(lie.name));
    for (let seed = 1; seed <= 10; seed += 1) {
      const { violation } = await simulateLiar({ seed, steps, plantedBug, lies: shown });
      if (violation === undefined) continue;
      expect(plantedBug.found).toContain(violation.slice(0, violation.indexOf(":")));
      return;
    }
    expect.unreachable(`no seed finds ${name}`);
  });
});
