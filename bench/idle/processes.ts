// What the processes of one platform have used of the processor, by the kernel's count (/proc, so Linux only), and which session of the database each
// server process works for. Whoever ends within a window is counted by the parent that waited for it.
import { readdirSync, readFileSync } from "node:fs";
import type { RunFile } from "../../adapters/system/run-file.ts";
import { parseStat } from "../../testkit/times/processor-time.ts";

/** Milliseconds since it began, with the children that have ended, and who started it. */
export interface Used {
  readonly parent: number;
  readonly ms: number;
}

export type UsedByPid = ReadonlyMap<number, Used>;

export function usedByPid(): UsedByPid {
  const used = new Map<number, Used>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = readOrEmpty(`/proc/${name}/stat`);
    if (line === "") continue;
    const { parent, seconds } = parseStat(line);
    used.set(Number(name), { parent, ms: seconds * 1_000 });
  }
  return used;
}

/** A process may end while we look. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The process and all that descend from it. */
export function treeOf(root: number, used: UsedByPid): readonly number[] {
  const found = [root];
  for (const pid of found) for (const [child, { parent }] of used) if (parent === pid) found.push(child);
  return found;
}

export function usedByTree(root: number, used: UsedByPid): number {
  return treeOf(root, used).reduce((sum, pid) => sum + (used.get(pid)?.ms ?? 0), 0);
}

/** What each process of the platform is called: by its service, and those of the database by the session that they serve. */
export function namesOf(
  run: Pick<RunFile, "pid" | "processes" | "database">,
  used: UsedByPid,
  sessions: ReadonlyMap<number, string>,
): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const pid of treeOf(run.pid, used)) names.set(pid, "other");
  for (const pid of run.database.pid === undefined ? [] : treeOf(run.database.pid, used)) {
    names.set(pid, `postgres: ${sessions.get(pid) ?? "server"}`);
  }
  for (const [service, pid] of Object.entries(run.processes)) names.set(pid, service);
  return names.set(run.pid, "supervisor");
}

/**
 * Milliseconds by name between two looks; who came in between is counted from its beginning. Of who ended in between its parent has all that it ever
 * used, of which only what was used in between counts.
 */
export function usedByName(
  names: ReadonlyMap<number, string>,
  before: UsedByPid,
  after: UsedByPid,
): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const [pid, name] of names) {
    const ms = (after.get(pid)?.ms ?? 0) - (before.get(pid)?.ms ?? 0);
    if (after.has(pid)) sums[name] = (sums[name] ?? 0) + ms;
  }
  for (const [pid, { parent, ms }] of before) {
    const name = after.has(pid) ? undefined : names.get(parent);
    if (name !== undefined) sums[name] = (sums[name] ?? 0) - ms;
  }
  return sums;
}
