// A guard that is taken away is found, whichever it is.
import { expect, it } from "vitest";
import { findPlantedBug } from "./find-planted-bug.ts";
import { plantedLiarBugs } from "./planted-bugs.ts";

it.each(plantedLiarBugs.map((bug) => [bug.name, bug] as const))("45: finds out %s", async (_name, plantedBug) => {
  expect(plantedBug.found).toContain(await findPlantedBug(plantedBug));
});
