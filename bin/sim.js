#!/usr/bin/env node
// Runs one seed of the simulator from the bundle, which is rebuilt first when a source file changed.
import { ensureBundle } from "../scripts/bundle.js";
import { run } from "../scripts/run.js";

await run("sim", () => ensureBundle("sim"));
