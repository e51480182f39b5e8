// A disk of which tests and the simulator say how full it is.
import { Fault } from "../../contracts/src/fault.ts";
import type { DiskSpace } from "../../ports/disk-space.ts";

export interface MemoryDisk extends DiskSpace {
  /** Undefined: it cannot be measured. */
  freeBytes: number | undefined;
}

export function memoryDisk(folder = "/data", freeBytes: number | undefined = 1e12): MemoryDisk {
  const disk: MemoryDisk = {
    freeBytes,
    async measure() {
      if (disk.freeBytes !== undefined) return { folder, freeBytes: disk.freeBytes };
      const sentence = `How much of the disk of ${folder} is free cannot be measured: it is not there.`;
      throw new Fault("DISK_NOT_MEASURED", sentence, { retry: "later" });
    },
  };
  return disk;
}
