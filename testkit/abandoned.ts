// Folders of a run that was itself killed with kill -9 could not be removed by it: each carries its process's number in its name, and
// the next run of the same user removes those whose process is gone.
import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** `<name>-<pid>-`: what a folder of this process begins with. */
export function ownPrefix(name: string): string {
  return `${name}-${process.pid}-`;
}

export function removeAbandoned(folder: string, name: string): void {
  for (const entry of readdirSync(folder)) {
    const pid = entry.startsWith(`${name}-`) ? /^(\d+)-/.exec(entry.slice(name.length + 1))?.[1] : undefined;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const path = join(folder, entry);
    // Another user's leftovers are theirs to remove, and another worker may be faster than we.
    const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
    if (owner === process.getuid?.()) rmSync(path, { recursive: true, force: true });
  }
}
