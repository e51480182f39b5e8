// Folders of a run that was itself killed with kill -9 could not be removed by it: each carries its process's number in its name, and
// the next run removes those whose process is gone.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** `<name>-<pid>-`: what a folder of this process begins with. */
export function ownPrefix(name: string): string {
  return `${name}-${process.pid}-`;
}

export function removeAbandoned(folder: string, name: string): void {
  for (const entry of readdirSync(folder)) {
    const pid = entry.startsWith(`${name}-`) ? /^(\d+)-/.exec(entry.slice(name.length + 1))?.[1] : undefined;
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(folder, entry), { recursive: true, force: true });
  }
}
