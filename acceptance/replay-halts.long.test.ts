// A halt is latched within a second while a viewer has a million decisions verified and others ask for moments and pages of that past, one question after the other. The
// same is measured before anybody asks and after the last answer, so that the machine's own slowness shows; and operations, which latches it, never gives its loop to the past
// for longer than a slice.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addressOfSocket, openPool } from "../adapters/postgres/connection.ts";
import { ownerRoleName } from "../adapters/postgres/embedded/cluster.ts";
import { longestIn } from "../bench/widest/longest-in.ts";
import { type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { haltsBeside } from "../testkit/replay/halts-beside.ts";
import { type RecordedPast, recordPast } from "../testkit/replay/recorded-past.ts";
import { openRiskClient } from "../testkit/risk/client.ts";

const decisions = Number(process.env["REPLAY_DECISIONS"] ?? 1_000_000);
const haltMsMax = 1_000;
/** Of the median while they are at it by the median of the calm ones of the same run. */
const ratioMax = 4;
/** In nine of ten seconds in which operations worked on the past. */
const taskMsMax = 20;
const timeout = 3_600_000;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

let platform: Platform;
let owner: pg.Pool;
let past: RecordedPast;
let watched: string;

beforeAll(async () => {
  watched = join(temporaryFolder("replay-halts"), "loops");
  mkdirSync(watched);
  const watch = pathToFileURL(join(import.meta.dirname, "..", "bench", "widest", "loop-watch.js")).href;
  platform = startPlatform({
    environment: {
      NODE_OPTIONS: `--import ${watch}`,
      LOOP_WATCH_FOLDER: watched,
      LOOP_WATCH_SERVICE: "operations",
    },
  });
  await platform.ready();
  const { host, port } = platform.runFile().database;
  const target = addressOfSocket(host, port, ownerRoleName).owner;
  owner = openPool(target, { log: quietLog, applicationName: "replay halts", sizeMax: 2 });
  const client = await openRiskClient(platform);
  try {
    past = await recordPast(owner, client, { entries: decisions, of: "denials", days: 7 }, say);
  } finally {
    client.close();
  }
}, timeout);

afterAll(async () => {
  await owner?.end();
  await platform?.end();
}, 120_000);

test("a halt is latched within a second while a million decisions are verified and the past is asked for", {
  timeout,
}, async () => {
  const loops = longestIn(watched);
  const longestTaskMs = (): number => loops.since()["operations"] ?? 0;
  const found = await haltsBeside({ platform, past, longestTaskMs, isWhole: true, progress: say });
  const { calmMs, busyMs, ratio, verdict, taskMs } = found;
  const tasks = taskMs.toSorted((one, other) => one - other);
  const usualMs = tasks[Math.floor(tasks.length * 0.9)] ?? Number.NaN;
  say(JSON.stringify({ ...found, taskMs: { p90: usualMs, longest: tasks.at(-1) } }));
  expect(verdict).toEqual({ decisions: past.decisions, same: past.decisions, different: 0, skipped: 0 });
  expect(ratio).toBeLessThan(ratioMax);
  expect(Math.max(...busyMs)).toBeLessThan(Math.max(haltMsMax, ratioMax * Math.max(...calmMs)));
  expect(usualMs).toBeLessThanOrEqual(taskMsMax);
});
