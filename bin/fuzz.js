#!/usr/bin/env node
// Sends a platform of its own right and wrong requests of every operation, from the bundle, which is rebuilt first when a source file changed.
import { ensureBundle } from "../scripts/bundle.js";
import { run } from "../scripts/run.js";

await run("fuzz", () => ensureBundle("fuzz"));
