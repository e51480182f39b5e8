// kill -9 at every commit of raising and lifting, on the memory store: the manager, the engine or both die before a unit of work is durable and
// before they hear that it is. crash.long.test.ts has every victim at every place, with many seeds.
import { describe, expect, it } from "vitest";
import { byFloor } from "../../../testkit/full-count.ts";
import { crashPlaces, haltScenes, runHaltCrash, victimSets } from "../../../testkit/halt-crashes.ts";

const seed = 3;
/** `npm test` takes every third place, the second floor each. */
const every = byFloor({ first: 3, later: 1 });

describe("kill -9 at every commit", () => {
  for (const scene of haltScenes) {
    it(`of a request through ${scene.through}: ${scene.asked}`, async () => {
      const { commits, complaints } = await runHaltCrash(seed, scene);
      expect(complaints).toEqual([]);
      const places = [...crashPlaces(commits, (turn) => [victimSets[turn % victimSets.length] ?? []]).entries()];
      for (const [index, place] of places.filter(([at]) => at % every === 0)) {
        const crashed = await runHaltCrash(seed + index, scene, place);
        expect({ place, complaints: crashed.complaints }).toEqual({ place, complaints: [] });
      }
    });
  }
});
