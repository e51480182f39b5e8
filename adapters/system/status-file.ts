// Status files in the data folder, replaced atomically and readable by their owner alone.
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StatusFile } from "../../ports/status-file.ts";

export function statusFile(dataFolder: string, name: string): StatusFile {
  const path = join(dataFolder, name);
  return {
    async write(content) {
      const fresh = `${path}.${process.pid}.tmp`;
      await writeFile(fresh, `${JSON.stringify(content)}\n`, { mode: 0o600 });
      await rename(fresh, path);
    },
  };
}
