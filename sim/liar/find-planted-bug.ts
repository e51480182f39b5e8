// Looks for a guard that was taken away, seed by seed.
import { lies } from "./lies.ts";
import type { PlantedLiarBug } from "./planted-bugs.ts";
import { simulateLiar } from "./simulate.ts";

const steps = 60;
const seedsMax = 10;

/** By which invariant it was found; undefined when no seed finds it. */
export async function findPlantedBug(plantedBug: PlantedLiarBug): Promise<string | undefined> {
  const shown = lies.filter(({ name }) => plantedBug.lies.includes(name));
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const { violation } = await simulateLiar({ seed, steps, plantedBug, lies: shown });
    if (violation !== undefined) return violation.slice(0, violation.indexOf(":"));
  }
  return undefined;
}
