// The end of the shared platform: with the last file that uses it, or with the run that it belonged to, whether its start came through or not. Its line in the
// table of times is written then.
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { timesVariable } from "../times/times-folder.ts";
import { endDetached } from "./detached-platform.ts";
import { runFolder, runFolderVariable } from "./once-in-run.ts";

/** Where the worker that starts it says so, in the run's folder. */
export const startedFile = "shared-platform.started";

export interface Started {
  readonly folder: string;
  readonly atMs: number;
}

const expectedFile = "shared-platform.expected";
const leftFile = "shared-platform.left";

/** How many files of this run will use it; a process that is no run, as one that only lists tests, notes nothing. */
export function expectUsers(count: number): void {
  if (process.env[runFolderVariable] !== undefined) writeFileSync(join(runFolder(), expectedFile), String(count));
}

/** One file needs it no more; the last one ends it. */
export async function leaveShared(): Promise<void> {
  const left = join(runFolder(), leftFile);
  appendFileSync(left, "\n");
  const expected = join(runFolder(), expectedFile);
  if (existsSync(expected) && readFileSync(left, "utf8").length === Number(readFileSync(expected, "utf8")))
    await endShared();
}

export async function endShared(): Promise<void> {
  const path = join(runFolder(), startedFile);
  if (!existsSync(path)) return;
  const taken = `${path}.ended`;
  renameSync(path, taken);
  const { folder, atMs } = JSON.parse(readFileSync(taken, "utf8")) as Started;
  const processorS = await endDetached(folder);
  const times = process.env[timesVariable];
  if (times === undefined) return;
  const line = {
    file: "testkit/shared/shared-platform.ts",
    wall_s: (Date.now() - atMs) / 1_000,
    processor_s: processorS,
    platforms: 1,
    databases: 0,
  };
  appendFileSync(join(times, "shared-platform.jsonl"), `${JSON.stringify(line)}\n`);
}
