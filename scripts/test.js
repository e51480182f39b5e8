// `npm test`: types and lint beside the whole suite (tidy.test.ts included); `npm run test:long` adds the *.long.test.ts files with
// the full counts. The last line is `N passed, N failed`, also when the check or the suite cannot run.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBundle } from "./bundle.js";
import { gatherTimes, keepRun, keepTimes, printTimes, processorSeconds } from "./test-times.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
if (process.argv.includes("--times")) process.exit(printTimes());
if (process.argv.includes("--keep-times")) process.exit(keepTimes());

const began = performance.now();
const long = process.argv.includes("--long");
const patterns = process.argv.slice(2).filter((argument) => argument !== "--long");

// Every platform and ctl that a test starts asks for them: built here, they are not built by several at once.
for (const name of ["portcullis", "ctl", "web"]) {
  await ensureBundle(name).catch((error) => console.error(`${name} could not be built: ${error.message}`));
}

/** Runs beside the suite, which often waits, and takes only what it leaves. */
const check = spawn(process.execPath, [join(root, "scripts", "check.js"), "--no-tidy"], {
  cwd: root,
  stdio: "inherit",
});
check.once("spawn", () => setPriority(check.pid, 19));
const checked = exitOf(check);

const folder = mkdtempSync(join(tmpdir(), "portcullis-test-"));
const report = join(folder, "report.json");
const times = join(folder, "times");
mkdirSync(times);
const suite = spawn(
  join(root, "node_modules", ".bin", "vitest"),
  ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...patterns],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PORTCULLIS_TEST_TIMES: times, ...(long ? { PORTCULLIS_TEST_LONG: "1" } : {}) },
  },
);
const suiteStatus = await exitOf(suite);
const checkStatus = await checked;

/** @param {import("node:child_process").ChildProcess} child */
function exitOf(child) {
  return new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", (error) => {
      console.error(error.message);
      resolve(1);
    });
  });
}

let passed = 0;
let failed = 0;
try {
  const counts = JSON.parse(readFileSync(report, "utf8"));
  passed = counts.numPassedTests;
  // A file that could not be loaded has no tests to count, yet it failed.
  const brokenFiles = counts.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  ).length;
  failed = counts.numFailedTests + brokenFiles;
} catch (error) {
  console.error(`the suite wrote no report: ${error instanceof Error ? error.message : error}`);
  failed = 1;
}
const wallS = (performance.now() - began) / 1_000;
keepRun({
  whole: patterns.length === 0,
  floor: long ? "long" : "unit",
  wall_s: wallS,
  processor_s: processorSeconds(),
  files: gatherTimes(times),
});
rmSync(folder, { recursive: true, force: true });
if (checkStatus !== 0) failed += 1;
const good = checkStatus === 0 && suiteStatus === 0;
if (!good && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed`);
process.exit(good ? 0 : 1);
