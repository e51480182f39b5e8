// `npm test`: types and lint beside the first floor of the suite (tidy.test.ts included). `--ci` runs the second floor, `--long` all three with their full
// counts, `--busy` what uses real time, three times beside as many busy loops as there are cores. `--times` prints what the last run took and runs
// nothing, `--keep-times` commits the median. The last line is `N passed, N failed`, also when the check or the suite cannot run.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, setPriority, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureBundle } from "./bundle.js";
import { realTimeFiles, realTimeOf } from "./real-time.js";
import { firstFailure, mayRepeat, repeatsMax } from "./repeats.js";
import { gatherTimes, keepRun, keepTimes, printTimes, runSeconds } from "./test-times.js";
import { trimTransforms } from "./transform-cache.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const busyRounds = 3;

const { values: asked, positionals: patterns } = readArguments();
if (asked.times) process.exit(printTimes());
if (asked["keep-times"]) process.exit(keepTimes());

const began = performance.now();
const floor = asked.long ? "long" : asked.ci ? "ci" : "unit";
/** The Node that npm brought is the one that services run on, so it is the one that is tested, whoever called. */
const broughtNode = join(root, "node_modules", ".bin", "node");
const testedNode = existsSync(broughtNode) ? broughtNode : process.execPath;

// Every platform and ctl that a test starts asks for them: built here, they are not built by several at once.
for (const name of ["portcullis", "mind", "ctl", "web"]) {
  await ensureBundle(name).catch((error) => console.error(`${name} could not be built: ${error.message}`));
}
trimTransforms();

const folder = mkdtempSync(join(tmpdir(), "portcullis-test-"));
const times = join(folder, "times");
mkdirSync(times);

const outcome = asked.busy ? await runBusy() : await runBesideCheck();
const files = gatherTimes(times);
for (const line of outcome.remarks) console.log(line);
keepRun({
  whole: patterns.length === 0 && !asked.busy,
  floor,
  wall_s: (performance.now() - began) / 1_000,
  processor_s: runSeconds(files),
  files,
});
rmSync(folder, { recursive: true, force: true });
console.log(`${outcome.passed} passed, ${outcome.failed} failed`);
process.exit(outcome.failed === 0 ? 0 : 1);

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: Object.fromEntries(
        ["long", "ci", "busy", "times", "keep-times"].map((name) => [name, { type: "boolean", default: false }]),
      ),
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}`);
    console.error("Usage: npm test -- [--times | --keep-times] [FILES]; one test by its name: npx vitest run -t NAME");
    process.exit(2);
  }
}

/**
 * @typedef {{ passed: number, failed: number, remarks: string[] }} Outcome
 * @typedef {import("./suite-reporter.js").SuiteResult & { status: number | null }} Suite
 */

/** @returns {Promise<Outcome>} */
async function runBesideCheck() {
  // It takes only what the suite leaves, which often waits. The second floor follows a run that has looked already.
  const check =
    floor === "ci" ? undefined : spawnHere(process.execPath, [join(root, "scripts", "check.js"), "--no-tidy"]);
  check?.once("spawn", () => setPriority(check.pid, 19));
  const checked = check === undefined ? 0 : exitOf(check);
  const outcome = await withRepeats(await runSuite(patterns));
  const checkFailed = (await checked) !== 0;
  return { ...outcome, failed: outcome.failed + (checkFailed ? 1 : 0) };
}

/** @param {Suite} suite @returns {Promise<Outcome>} */
async function withRepeats(suite) {
  const failed = failuresIn(suite);
  const red = { passed: suite.passed, failed, remarks: [] };
  if (failed === 0 || suite.unhandled.length > 0 || floor === "long") return red;
  const usesRealTime = realTimeOf();
  const again = suite.failedFiles.filter((file) => mayRepeat(file, usesRealTime));
  if (again.length === 0 || again.length < suite.failedFiles.length) return red;
  if (again.length > repeatsMax) {
    return {
      ...red,
      remarks: [`${again.length} files failed by waiting, more than ${repeatsMax}: nothing is repeated`],
    };
  }
  console.log(`\nrun once more, alone: ${again.map(({ file }) => file).join(", ")}`);
  const second = await runSuite(
    again.map(({ file }) => file),
    ["--maxWorkers=1"],
  );
  const passedBefore = suite.files.filter(({ file }) => again.some((one) => one.file === file));
  return {
    passed: suite.passed - passedBefore.reduce((sum, { passed }) => sum + passed, 0) + second.passed,
    failed: failuresIn(second),
    remarks: again.map((one) => `repeated: ${one.file}: ${firstFailure(one)}`),
  };
}

/** Tests, files that cannot be loaded and errors that nobody caught; at least one where the run says that it failed. @param {Suite} suite */
function failuresIn({ failed, unhandled, status }) {
  const known = failed + unhandled.length;
  return known === 0 && status !== 0 ? 1 : known;
}

/** Each round counts by itself, and nothing is repeated: what is red beside busy loops is a wrong test, or a found bug. @returns {Promise<Outcome>} */
async function runBusy() {
  const files = patterns.length > 0 ? patterns : realTimeFiles();
  const loops = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ["-e", "for (;;);"]));
  const sum = { passed: 0, failed: 0, remarks: /** @type {string[]} */ ([]) };
  for (let round = 1; round <= busyRounds; round += 1) {
    const suite = await runSuite(files);
    sum.passed += suite.passed;
    sum.failed += failuresIn(suite);
    sum.remarks.push(...suite.failedFiles.map((one) => `round ${round}: ${one.file}: ${firstFailure(one)}`));
  }
  for (const loop of loops) loop.kill("SIGKILL");
  return sum;
}

/** @param {string[]} files @param {string[]} [more] @returns {Promise<Suite>} */
async function runSuite(files, more = []) {
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const reporters = ["--reporter=default", `--reporter=${join(root, "scripts", "suite-reporter.js")}`];
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const suite = spawnHere(testedNode, [vitest, "run", ...reporters, ...more, ...files], {
    PORTCULLIS_TEST_FLOOR: floor,
    PORTCULLIS_TEST_REPORT: report,
    PORTCULLIS_TEST_TIMES: times,
    ...(asked.long ? { PORTCULLIS_TEST_LONG: "1" } : {}),
  });
  const status = await exitOf(suite);
  try {
    return { ...JSON.parse(readFileSync(report, "utf8")), status };
  } catch (error) {
    console.error(`the suite wrote no report: ${error instanceof Error ? error.message : error}`);
    return { passed: 0, failed: 1, skipped: 0, files: [], failedFiles: [], unhandled: [], status };
  }
}

/** @param {string} program @param {string[]} parameters @param {Record<string, string>} [environment] */
function spawnHere(program, parameters, environment = {}) {
  return spawn(program, parameters, { cwd: root, stdio: "inherit", env: { ...process.env, ...environment } });
}

/** @param {import("node:child_process").ChildProcess} child @returns {Promise<number | null>} */
function exitOf(child) {
  return new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", (error) => {
      console.error(error.message);
      resolve(1);
    });
  });
}
