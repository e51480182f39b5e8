// Eight of the planted bugs are found; planted-bugs-*.ci.test.ts look for the others.
import { expect, it } from "vitest";
import { findPlantedBugs, shares } from "./find-planted-bugs.ts";
import { plantedBugs } from "./planted-bugs.ts";

findPlantedBugs(shares.soon);

it("every planted bug is looked for in one file", () => {
  expect(Object.values(shares).flat().sort()).toEqual(plantedBugs.map(({ name }) => name).sort());
});
