// Where a short test run keeps its databases and files: in memory, if the machine has enough. Tests kill processes and never the machine, so waiting
// for a disk proves nothing, and it took most of the time of whatever makes, copies or starts a database.
import { chmodSync, mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { freemem, platform } from "node:os";
import { join } from "node:path";
import { ownPrefix, removeAbandoned } from "./abandoned.ts";

/** Mounted by every Linux, in memory. */
const shared = "/dev/shm";

/** A platform's database takes some 60 MB, its log and the other files as much, and a run has a handful of them at once. */
const bytesMin = 4 * 1_024 ** 3;

/** A new folder that everybody may use, as /tmp; undefined where there is no room, where it may hold no programs, or where somebody chose the place. */
export function memoryFolder(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  if (environment["TMPDIR"] !== undefined || platform() !== "linux") return undefined;
  if (!isUsable(readFileSync("/proc/mounts", "utf8"))) return undefined;
  const { bavail, bsize } = statfsSync(shared);
  if (Math.min(bavail * bsize, freemem()) < bytesMin) return undefined;
  removeAbandoned(shared, "portcullis");
  const folder = mkdtempSync(join(shared, ownPrefix("portcullis")));
  chmodSync(folder, 0o1777);
  return folder;
}

/** By the last of its mounts: containers often forbid programs there. */
export function isUsable(mounts: string): boolean {
  const last = mounts
    .split("\n")
    .map((line) => line.split(" "))
    .findLast(([, where]) => where === shared);
  const options = last?.[3]?.split(",") ?? [];
  return last?.[2] === "tmpfs" && options.includes("rw") && !options.includes("noexec");
}
