// Planted bugs that take longer runs or more seeds to be found.
import { findPlantedBugs, shares } from "./find-planted-bugs.ts";

findPlantedBugs(shares.slower);
