// The short form of the model test of halts, and mistakes that it must find.
import { describe, expect, it } from "vitest";
import { inputCount } from "../../../testkit/full-count.ts";
import { type HaltModelRun, type PlantedHaltBug, runHaltModel } from "../../../testkit/halt-model.ts";

const firstSeed = 11;
const seeds = Array.from({ length: 10 }, (_each, index) => firstSeed + index);

async function found(plantedBug: PlantedHaltBug): Promise<boolean> {
  for (const seed of seeds) if ((await runHaltModel(seed, plantedBug)).complaints.length > 0) return true;
  return false;
}

describe("halts under people, machines, crashes and bad network links", () => {
  const held = seeds.slice(0, inputCount(seeds.length, 4));
  const runs: HaltModelRun[] = [];

  it.each(held)("keeps every rule with seed %i", async (seed) => {
    const run = await runHaltModel(seed);
    expect(run.complaints).toEqual([]);
    runs.push(run);
  });

  it("meets halts, lifts and kills in those runs: one in which nothing happens proves nothing", () => {
    expect(runs).toHaveLength(held.length);
    const sum = (count: (run: HaltModelRun) => number) => runs.reduce((total, run) => total + count(run), 0);
    expect(sum(({ halts }) => halts)).toBeGreaterThan(6 * held.length);
    expect(sum(({ lifts }) => lifts)).toBeGreaterThan(1.5 * held.length);
    expect(sum(({ liftsOfAll }) => liftsOfAll)).toBeGreaterThan(0.4 * held.length);
    expect(sum(({ kills }) => kills)).toBeGreaterThan(2 * held.length);
  });

  it("finds a lift of a lower level that frees a higher one", async () => {
    const plantedBug: PlantedHaltBug = ({ tables }) => {
      const inner = tables.append;
      tables.append = (events) => {
        if (events.some(({ subject }) => subject.endsWith(".halt.lifted"))) {
          tables.risk.halts.splice(
            0,
            tables.risk.halts.length,
            ...tables.risk.halts.filter(({ severity }) => severity !== "FIRM_HALT"),
          );
        }
        inner(events);
      };
    };
    expect(await found(plantedBug)).toBe(true);
  });

  it("finds an engine that forgets what it was told by a latch", async () => {
    const plantedBug: PlantedHaltBug = ({ tables }) => {
      const inner = tables.append;
      tables.append = (events) => {
        if (events.some(({ subject }) => subject.endsWith(".risk.halt.requested"))) tables.risk.halts.pop();
        inner(events);
      };
    };
    expect(await found(plantedBug)).toBe(true);
  });

  it("finds a machine that lifts", async () => {
    const plantedBug: PlantedHaltBug = ({ outside, time, tables }) => {
      const lift = () => {
        const ids = tables.risk.halts.map(({ halt_id: id }) => id);
        if (ids.length > 0) void outside.store.transact("scene", (unit) => unit.risk.liftHalts(ids, time.clock.now()));
      };
      time.timers.after(8_000, lift);
    };
    expect(await found(plantedBug)).toBe(true);
  });

  it("finds a restart that forgets", async () => {
    const plantedBug: PlantedHaltBug = (fixture) => {
      const inner = fixture.kill;
      fixture.kill = (service) => {
        fixture.tables.risk.halts.pop();
        inner(service);
      };
    };
    expect(await found(plantedBug)).toBe(true);
  });

  it("finds an engine that goes on when it cannot know", async () => {
    const plantedBug: PlantedHaltBug = (fixture) => {
      const inner = fixture.believed;
      fixture.believed = () => {
        const believed = inner();
        return believed && { ...believed, known: true };
      };
    };
    expect(await found(plantedBug)).toBe(true);
  });

  it("finds an engine that does not know what was acknowledged", async () => {
    const plantedBug: PlantedHaltBug = (fixture) => {
      const inner = fixture.believed;
      fixture.believed = () => {
        const believed = inner();
        return believed && { ...believed, epoch: 0, active: [] };
      };
    };
    expect(await found(plantedBug)).toBe(true);
  });
});
