// The full count of kill -9 at every commit on the memory store: every victim at every place, with many seeds.
import { expect, it } from "vitest";
import { crashPlaces, haltScenes, runHaltCrash, victimSets } from "../../../testkit/halt-crashes.ts";

const seeds = 12;

it(`holds for ${seeds} seeds, every place and every victim`, { timeout: 1_800_000 }, async () => {
  const counts = { runs: 0, answered: 0, happened: 0 };
  for (let seed = 1; seed <= seeds; seed += 1) {
    for (const scene of haltScenes) {
      const { commits } = await runHaltCrash(seed, scene);
      for (const place of crashPlaces(commits, () => victimSets)) {
        const { complaints, wasAnswered, hasHappened } = await runHaltCrash(seed, scene, place);
        expect({ seed, scene, place, complaints }).toEqual({ seed, scene, place, complaints: [] });
        counts.runs += 1;
        counts.answered += Number(wasAnswered);
        counts.happened += Number(hasHappened);
      }
    }
  }
  process.stderr.write(`${JSON.stringify(counts)}\n`);
});
