#!/usr/bin/env node
// Starts Portcullis from its bundle, which is rebuilt first when a source file changed.
import { buildWebAside, ensureBundle } from "../scripts/bundle.js";
import { run } from "../scripts/run.js";

await run("portcullis", async () => {
  const entry = await ensureBundle("portcullis");
  await ensureBundle("mind");
  buildWebAside();
  return entry;
});
