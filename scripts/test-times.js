// What each test file took: gathered from a run's workers, kept for the last runs in .cache/test-times.json, and, as the median of at least
// three whole runs, committed in testkit/test-times.json, by which vitest.config.ts decides what begins first.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const keptRuns = join(root, ".cache", "test-times.json");
const committed = join(root, "testkit", "test-times.json");
const runsMax = 5;
const runsForMedian = 3;

/**
 * @typedef {{ wall_s: number, processor_s: number | null, platforms: number, databases: number, repeats: number }} FileTimes
 * @typedef {{ at: string, node: string, cores: number, whole: boolean, floor: string, wall_s: number, processor_s: number | null, files: Record<string, FileTimes> }} Run
 */

/** What the workers wrote, one line a file; a file that ran twice is counted once, with its repeat. @param {string} folder */
export function gatherTimes(folder) {
  /** @type {Record<string, FileTimes>} */
  const files = {};
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(".jsonl")) continue;
    for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
      if (line === "") continue;
      const { file, ...times } = JSON.parse(line);
      const before = files[file];
      files[file] = before === undefined ? { ...times, repeats: 0 } : added(before, times);
    }
  }
  return files;
}

/** @param {FileTimes} one @param {FileTimes} other @returns {FileTimes} */
function added(one, other) {
  return {
    wall_s: one.wall_s + other.wall_s,
    processor_s: one.processor_s === null || other.processor_s === null ? null : one.processor_s + other.processor_s,
    platforms: one.platforms + other.platforms,
    databases: one.databases + other.databases,
    repeats: one.repeats + 1,
  };
}

/** Processor seconds of this process and all children that have ended; null where there is no /proc. */
function processorSeconds() {
  if (process.platform !== "linux") return null;
  const line = readFileSync("/proc/self/stat", "utf8");
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) / 100;
}

/** With the shared platform, which is nobody's child. @param {Record<string, FileTimes>} files */
export function runSeconds(files) {
  const own = processorSeconds();
  return own === null ? null : own + (files["testkit/shared/shared-platform.ts"]?.processor_s ?? 0);
}

/** @returns {Run[]} */
function readRuns(place = keptRuns) {
  try {
    return JSON.parse(readFileSync(place, "utf8")).runs;
  } catch {
    // There was no run yet, or somebody cut it off while it wrote.
    return [];
  }
}

/** The last whole runs of each floor stay; partial ones never push one out. @param {Omit<Run, "at" | "node" | "cores">} run */
export function keepRun(run, place = keptRuns) {
  const all = [
    ...readRuns(place),
    { at: new Date().toISOString(), node: process.version, cores: cpus().length, ...run },
  ];
  const wholeOf = (/** @type {string} */ floor) =>
    all.filter((one) => one.whole && one.floor === floor).slice(-runsMax);
  const runs = [...["unit", "ci", "long"].flatMap(wholeOf), ...all.filter(({ whole }) => !whole).slice(-1)];
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, `${JSON.stringify({ runs: runs.sort((a, b) => a.at.localeCompare(b.at)) })}\n`);
}

/** `npm test -- --times`. */
export function printTimes() {
  const run = readRuns().at(-1);
  if (run === undefined) {
    console.error("No run was measured yet: run `npm test` first.");
    return 1;
  }
  const rows = Object.entries(run.files).sort(
    ([, a], [, b]) => (b.processor_s ?? b.wall_s) - (a.processor_s ?? a.wall_s),
  );
  console.log("   wall s  processor s  platforms  databases  repeats  file");
  for (const [file, { wall_s, processor_s, platforms, databases, repeats }] of rows) {
    console.log(
      [
        wall_s.toFixed(1).padStart(9),
        (processor_s === null ? "-" : processor_s.toFixed(1)).padStart(11),
        String(platforms).padStart(9),
        String(databases).padStart(9),
        String(repeats).padStart(7),
        file,
      ].join("  "),
    );
  }
  const sum = (/** @type {(times: FileTimes) => number} */ of) =>
    rows.reduce((total, [, times]) => total + of(times), 0);
  console.log(
    `${rows.length} files, ${run.wall_s.toFixed(0)} s from command to end, ${run.processor_s?.toFixed(0) ?? "-"} processor seconds in all, ${sum((t) => t.processor_s ?? 0).toFixed(0)} in files; ${sum((t) => t.platforms)} platforms, ${sum((t) => t.databases)} databases, ${sum((t) => t.repeats)} repeats. Node ${run.node}, ${run.cores} cores, ${run.at}.`,
  );
  return 0;
}

/** `npm test -- --keep-times`: writes the median of the whole runs that are kept; reasons that stand beside files stay. */
export function keepTimes(from = keptRuns, to = committed) {
  const runs = readRuns(from).filter(({ whole, floor }) => whole && floor !== "long");
  const waitedFor = runs.filter(({ floor }) => floor === "unit").length;
  if (waitedFor < runsForMedian) {
    console.error(`A median needs ${runsForMedian} whole runs of npm test; ${waitedFor} are kept. Run npm test again.`);
    return 1;
  }
  const before = readCommitted(to);
  // The second floor runs files of the first again, with more inputs: what they take there is no figure of `npm test`.
  const filesOf = (/** @type {Run} */ { floor, files }) =>
    floor === "unit" ? files : Object.fromEntries(Object.entries(files).filter(([name]) => name.includes(".ci.test.")));
  const names = [...new Set(runs.flatMap((run) => Object.keys(filesOf(run))))].sort();
  const files = Object.fromEntries(
    names.map((name) => [
      name,
      medianOf(
        runs.flatMap((run) => filesOf(run)[name] ?? []),
        before[name]?.reason,
      ),
    ]),
  );
  const lines = Object.entries(files).map(([name, times]) => `  ${JSON.stringify(name)}: ${JSON.stringify(times)}`);
  writeFileSync(to, `{\n${lines.join(",\n")}\n}\n`);
  console.log(`testkit/test-times.json has the median of ${runs.length} runs, ${names.length} files.`);
  return 0;
}

/** @param {FileTimes[]} seen @param {string | undefined} reason */
function medianOf(seen, reason) {
  const processor = seen.flatMap(({ processor_s }) => processor_s ?? []);
  const platforms = Math.max(...seen.map((times) => times.platforms));
  return {
    wall_s: rounded(median(seen.map(({ wall_s }) => wall_s))),
    ...(processor.length === 0 ? {} : { processor_s: rounded(median(processor)) }),
    ...(platforms === 0 ? {} : { platforms }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** @returns {Record<string, { wall_s: number, processor_s?: number, platforms?: number, reason?: string }>} */
export function readCommitted(place = committed) {
  try {
    return JSON.parse(readFileSync(place, "utf8"));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return {};
    throw error;
  }
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** @param {number} value */
function rounded(value) {
  return Math.round(value * 10) / 10;
}
