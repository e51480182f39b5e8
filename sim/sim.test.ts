// The simulator: many short runs hold every invariant, one seed is one run, and planted mistakes are caught.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { LogReader } from "../adapters/memory/reader.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { describeReport, main, replayCommand } from "./main.ts";
import { type SimOptions, simulate } from "./simulate.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

async function reportFor(options: SimOptions): Promise<string> {
  return describeReport(options, await simulate(options));
}

describe("simulator", () => {
  it("holds every invariant over 50 seeds, and they do meet crashes, repetitions and lost answers", async () => {
    const totals = { crashes: 0, repeated: 0, lost: 0 };
    for (let seed = 1; seed <= 50; seed += 1) {
      const options = { seed, steps: 300 };
      const report = await simulate(options);
      expect(report.violation, replayCommand(options)).toBeUndefined();
      totals.crashes += report.crashes;
      totals.repeated += report.repeated;
      totals.lost += report.fates.find(([fate]) => fate === "lost, committed")?.[1] ?? 0;
    }
    expect(totals.crashes).toBeGreaterThan(50);
    expect(totals.repeated).toBeGreaterThan(50);
    expect(totals.lost).toBeGreaterThan(20);
  });

  it("gives the same report for the same seed, byte for byte, and another for another seed", async () => {
    const first = await reportFor({ seed: 42, steps: 400 });
    expect(await reportFor({ seed: 42, steps: 400 })).toBe(first);
    expect(await reportFor({ seed: 43, steps: 400 })).not.toBe(first);
  });

  it("fails with the canary, for every seed, and says how to replay it", async () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const options = { seed, steps: 5_000, canary: true };
      const report = await simulate(options);
      expect(report.violation?.invariant.name, `seed ${seed}`).toBe("acts_once");
      expect(describeReport(options, report)).toContain(`npm run sim -- --seed ${seed} --steps 5000 --canary`);
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

describe("the command line", () => {
  it("refuses what it does not understand with the usage and exit code 2", async () => {
    for (const argv of [["--seed", "x"], ["--seed", "-1"], ["--steps", "0"], ["--speed", "1"], ["1"]]) {
      expect(await main(argv), argv.join(" ")).toBe(2);
    }
  });

  it("shows the usage when asked, and refuses a negative seed in one sentence", async () => {
    const written = { stdout: "", stderr: "" };
    const spies = (["stdout", "stderr"] as const).map((name) =>
      vi.spyOn(process[name], "write").mockImplementation((text) => {
        written[name] += String(text);
        return true;
      }),
    );
    try {
      expect(await main(["--help"])).toBe(0);
      expect(await main(["--seed", "-1"])).toBe(2);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    expect(written.stdout).toMatch(/^usage: npm run sim -- --seed N/);
    const lines = written.stderr.trimEnd().split("\n");
    expect(lines[0]).toBe(`--seed takes a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, not "-1"`);
    expect(lines).toHaveLength(2);
  });

  it("exits 0 for a run that holds and 1 for one that does not", async () => {
    expect(await main(["--seed", "3", "--steps", "200"])).toBe(0);
    expect(await main(["--seed", "3", "--steps", "3000", "--canary"])).toBe(1);
  });
});
