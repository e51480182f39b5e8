// kill -9 at every commit of raising and lifting, on the memory store: the manager, the engine or both die before a unit of work is durable and
// before they hear that it is. crash.long.test.ts has every victim at every place, with many seeds.
import { describe, expect, it } from "vitest";
import { crashPlaces, haltScenes, runHaltCrash, victimSets } from "../../../testkit/halt-crashes.ts";

const seed = 3;

describe("kill -9 at every commit", () => {
  for (const scene of haltScenes) {
    it(`of a request through ${scene.through}: ${scene.asked}`, async () => {
      const { commits, complaints } = await runHaltCrash(seed, scene);
      expect(complaints).toEqual([]);
      for (const [index, place] of crashPlaces(commits, (turn) => [
        victimSets[turn % victimSets.length] ?? [],
      ]).entries()) {
        const crashed = await runHaltCrash(seed + index, scene, place);
        expect({ place, complaints: crashed.complaints }).toEqual({ place, complaints: [] });
      }
    });
  }
});
