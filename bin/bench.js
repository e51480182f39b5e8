#!/usr/bin/env node
// Runs one benchmark from the bundle, which is rebuilt first when a source file changed.
import { ensureBundle } from "../scripts/bundle.js";
import { run } from "../scripts/run.js";

await run("bench", () => ensureBundle("bench"));
