// The short form of the model test of halts, and mistakes that it must find.
import { describe, expect, it } from "vitest";
import { type HaltModelRun, type HaltPlant, runHaltModel } from "../../../testkit/halt-model.ts";

const seeds = Array.from({ length: 8 }, (_each, index) => index + 1);

async function found(plant: HaltPlant): Promise<boolean> {
  for (const seed of seeds) if ((await runHaltModel(seed, plant)).complaints.length > 0) return true;
  return false;
}

describe("halts under people, machines, crashes and bad roads", () => {
  it(`keeps every rule with seeds 1 to ${seeds.length}`, async () => {
    const runs: HaltModelRun[] = [];
    for (const seed of seeds) runs.push(await runHaltModel(seed));
    expect(runs.filter(({ complaints }) => complaints.length > 0)).toEqual([]);
    const sum = (count: (run: HaltModelRun) => number) => runs.reduce((total, run) => total + count(run), 0);
    // A run in which nothing happens proves nothing.
    expect(sum(({ halts }) => halts)).toBeGreaterThan(60);
    expect(sum(({ lifts }) => lifts)).toBeGreaterThan(20);
    expect(sum(({ liftsOfAll }) => liftsOfAll)).toBeGreaterThan(4);
    expect(sum(({ kills }) => kills)).toBeGreaterThan(20);
  });

  it("finds a lift of a lower level that frees a higher one", async () => {
    const plant: HaltPlant = ({ world }) => {
      const inner = world.append;
      world.append = (events) => {
        if (events.some(({ subject }) => subject.endsWith(".halt.lifted"))) {
          world.risk.halts.splice(
            0,
            world.risk.halts.length,
            ...world.risk.halts.filter(({ severity }) => severity !== "FIRM_HALT"),
          );
        }
        inner(events);
      };
    };
    expect(await found(plant)).toBe(true);
  });

  it("finds an engine that forgets what it was told by a latch", async () => {
    const plant: HaltPlant = ({ world }) => {
      const inner = world.append;
      world.append = (events) => {
        if (events.some(({ subject }) => subject.endsWith(".risk.halt.requested"))) world.risk.halts.pop();
        inner(events);
      };
    };
    expect(await found(plant)).toBe(true);
  });
});
