// Reports in a folder: written beside, flushed and linked into their place, so that a name has one whole file and keeps the first.
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { ReportStorage } from "../../ports/report-storage.ts";
import { mustBeKey, storageConflict, storageUnavailable } from "./storage-key.ts";

export function folderStorage({ folder }: { readonly folder: string }): ReportStorage {
  let drafts = 0;
  return {
    name: "folder",
    async put({ key, content }) {
      mustBeKey(key);
      const path = join(folder, key);
      drafts += 1;
      const draft = `${path}.${process.pid}.${drafts}.new`;
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await writeFile(draft, content, { mode: 0o600, flush: true });
        const isNew = await linked(draft, path);
        if (!isNew && !Buffer.from(content).equals(await readFile(path))) throw storageConflict(key);
        return path;
      } catch (thrown) {
        if (thrown instanceof Fault) throw thrown;
        throw storageUnavailable(messageOf(thrown), thrown);
      } finally {
        await rm(draft, { force: true }).catch(() => undefined);
      }
    },
    close: async () => undefined,
  };
}

/** False where there is one already. */
async function linked(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}
