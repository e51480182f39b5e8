// Runs with every test file (vitest's setupFiles): notes what the file took, from its first import to its last hook, for the table of
// `npm test -- --times`. Nothing is noted when nobody asked for it.
import { appendFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, expect } from "vitest";
import { takeCounts } from "./counts.ts";
import { processorMeter } from "./processor-time.ts";
import { timesVariable } from "./times-folder.ts";

const folder = process.env[timesVariable];
const root = join(import.meta.dirname, "..", "..");
/** Orphans of a killed supervisor run on for a while; of what they used at most this much is missed. */
const lookEveryMs = 1_000;

if (folder !== undefined) {
  const began = performance.now();
  const meter = processorMeter();
  takeCounts();
  const looking = meter === undefined ? undefined : setInterval(() => meter.look(), lookEveryMs);
  looking?.unref();
  // Registered first, so it runs last.
  afterAll(() => {
    clearInterval(looking);
    const line = {
      file: relative(root, expect.getState().testPath ?? ""),
      wall_s: (performance.now() - began) / 1_000,
      processor_s: meter?.seconds() ?? null,
      ...takeCounts(),
    };
    appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(line)}\n`);
  });
}
