#!/usr/bin/env node
// Holds the statistics against files of expected figures, from the bundle, which is rebuilt first when a source file changed.
import { ensureBundle } from "../scripts/bundle.js";
import { run } from "../scripts/run.js";

await run("oracle", () => ensureBundle("oracle"));
