// The planted bugs that take the most seeds to be found.
import { findPlantedBugs, shares } from "./find-planted-bugs.ts";

findPlantedBugs(shares.slowest);
