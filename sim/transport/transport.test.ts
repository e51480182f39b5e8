// The transport alone under faults: many short runs hold every invariant, one seed is one run, and planted bugs are caught.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LogReader } from "../../testkit/memory/reader.ts";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";
import { describeReport, replayCommand } from "./report.ts";
import { type SimOptions, simulate } from "./simulate.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

async function reportFor(options: SimOptions): Promise<string> {
  return describeReport(options, await simulate(options));
}

describe("the transport under faults", () => {
  it("holds every invariant over 20 seeds, and they do meet crashes, repetitions and lost answers", async () => {
    const totals = { crashes: 0, repeated: 0, lost: 0 };
    for (let seed = 1; seed <= 20; seed += 1) {
      const options = { seed, steps: 300 };
      const report = await simulate(options);
      expect(report.violation, replayCommand(options)).toBeUndefined();
      totals.crashes += report.crashes;
      totals.repeated += report.repeated;
      totals.lost += report.fates.find(([fate]) => fate === "lost, committed")?.[1] ?? 0;
    }
    expect(totals.crashes).toBeGreaterThan(20);
    expect(totals.repeated).toBeGreaterThan(20);
    expect(totals.lost).toBeGreaterThan(8);
  });

  it("gives the same report for the same seed, byte for byte, and another for another seed", async () => {
    const first = await reportFor({ seed: 42, steps: 400 });
    expect(await reportFor({ seed: 42, steps: 400 })).toBe(first);
    expect(await reportFor({ seed: 43, steps: 400 })).not.toBe(first);
  });

  it("fails with the canary, for every seed, and says how to replay it", async () => {
    for (let seed = 1; seed <= 4; seed += 1) {
      const options = { seed, steps: 5_000, canary: true };
      const report = await simulate(options);
      expect(report.violation?.invariant.name, `seed ${seed}`).toBe("acts_once");
      expect(describeReport(options, report)).toContain(
        `npm run sim -- --transport --seed ${seed} --steps 5000 --canary`,
      );
    }
  });

  it("catches a reader that goes by the highest sequence", async () => {
    const reader: LogReader = {
      after: (log, place) =>
        log.filter((entry) => entry.sequence > place).sort((one, other) => one.sequence - other.sequence)[0],
      placeBehind: (entry) => entry.sequence,
    };
    const names = new Set<string>();
    for (let seed = 1; seed <= 5; seed += 1) {
      const { violation } = await simulate({ seed, steps: 2_000, reader });
      names.add(violation?.invariant.name ?? `nothing for seed ${seed}`);
    }
    expect([...names].filter((name) => name.startsWith("nothing for"))).toEqual([]);
  });
});
