#!/usr/bin/env node
// Starts Portcullis from its bundle, which is rebuilt first when a source file changed.
import { ensureBundle } from "../scripts/bundle.js";
import { run } from "../scripts/run.js";

await run("portcullis", () => ensureBundle("portcullis"));
