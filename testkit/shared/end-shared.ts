// The end of the shared platform with the run that it belonged to, whether its start came through or not, and its line in the table of times.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { timesVariable } from "../times/times-folder.ts";
import { endDetached } from "./detached-platform.ts";
import { runFolder } from "./once-in-run.ts";

/** Where the worker that starts it says so, in the run's folder. */
export const startedFile = "shared-platform.started";

export interface Started {
  readonly folder: string;
  readonly atMs: number;
}

export async function endShared(): Promise<void> {
  const path = join(runFolder(), startedFile);
  if (!existsSync(path)) return;
  const { folder, atMs } = JSON.parse(readFileSync(path, "utf8")) as Started;
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
