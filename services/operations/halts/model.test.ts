// The short form of the model test of halts, and mistakes that it must find.
import { describe, expect, it } from "vitest";
import { type HaltModelRun, type HaltPlant, runHaltModel } from "../../../testkit/halt-model.ts";

const seeds = Array.from({ length: 10 }, (_each, index) => index + 1);

async function found(plant: HaltPlant): Promise<boolean> {
  for (const seed of seeds) if ((await runHaltModel(seed, plant)).complaints.length > 0) return true;
  return false;
}

describe("halts under people, machines, crashes and bad roads", () => {
  it(`keeps every rule with seeds 1 to ${seeds.length}`, { timeout: 60_000 }, async () => {
    const runs: HaltModelRun[] = [];
    for (const seed of seeds) runs.push(await runHaltModel(seed));
    expect(runs.filter(({ complaints }) => complaints.length > 0)).toEqual([]);
    const sum = (count: (run: HaltModelRun) => number) => runs.reduce((total, run) => total + count(run), 0);
    // A run in which nothing happens proves nothing.
    expect(sum(({ halts }) => halts)).toBeGreaterThan(60);
    expect(sum(({ lifts }) => lifts)).toBeGreaterThan(15);
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

  it("finds a machine that lifts", async () => {
    const plant: HaltPlant = ({ outside, time, world }) => {
      const lift = () => {
        const ids = world.risk.halts.map(({ halt_id: id }) => id);
        if (ids.length > 0) void outside.store.transact("scene", (unit) => unit.risk.liftHalts(ids, time.clock.now()));
      };
      time.timers.after(8_000, lift);
    };
    expect(await found(plant)).toBe(true);
  });

  it("finds a restart that forgets", async () => {
    const plant: HaltPlant = (rig) => {
      const inner = rig.kill;
      rig.kill = (service) => {
        rig.world.risk.halts.pop();
        inner(service);
      };
    };
    expect(await found(plant)).toBe(true);
  });

  it("finds an engine that goes on when it cannot know", async () => {
    const plant: HaltPlant = (rig) => {
      const inner = rig.believed;
      rig.believed = () => {
        const believed = inner();
        return believed && { ...believed, known: true };
      };
    };
    expect(await found(plant)).toBe(true);
  });

  it("finds an engine that does not know what was acknowledged", async () => {
    const plant: HaltPlant = (rig) => {
      const inner = rig.believed;
      rig.believed = () => {
        const believed = inner();
        return believed && { ...believed, epoch: 0, active: [] };
      };
    };
    expect(await found(plant)).toBe(true);
  });
});
