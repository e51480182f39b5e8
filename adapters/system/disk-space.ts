// How much room the file systems of some folders have left, as the kernel tells it.
import { statfs } from "node:fs/promises";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { DiskSpace, FreeSpace } from "../../ports/disk-space.ts";

/** At least one folder; they may lie on one file system. */
export function systemDiskSpace(folders: readonly [string, ...string[]]): DiskSpace {
  return {
    async measure() {
      const [first, ...others] = folders;
      let fullest = await freeSpaceOf(first);
      for (const folder of others) {
        const next = await freeSpaceOf(folder);
        if (next.freeBytes < fullest.freeBytes) fullest = next;
      }
      return fullest;
    },
  };
}

async function freeSpaceOf(folder: string): Promise<FreeSpace> {
  try {
    // What is kept for root is not ours: the database's user is not root.
    const { bavail, bsize } = await statfs(folder);
    return { folder, freeBytes: bavail * bsize };
  } catch (error) {
    const sentence = `How much of the disk of ${folder} is free cannot be measured: ${messageOf(error)}.`;
    throw new Fault("DISK_NOT_MEASURED", sentence, { retry: "later", cause: error });
  }
}
