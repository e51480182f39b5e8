// The suite that every measurement of the disk passes: one list of checks, each a promise of ports/disk-space.ts.
import { expect } from "vitest";
import type { DiskSpace } from "../../ports/disk-space.ts";

export interface DiskSpaceFixture {
  readonly disk: DiskSpace;
  readonly folder: string;
  /** Takes the folder away, so that it cannot be measured; and brings it back. */
  away(): Promise<void>;
  back(): Promise<void>;
}

export const diskSpaceChecks: readonly {
  readonly sentence: string;
  run(fixture: DiskSpaceFixture): Promise<void>;
}[] = [
  {
    sentence: "promise 1: it names the folder, and its free space in whole bytes",
    async run({ disk, folder }) {
      const { freeBytes, folder: measured } = await disk.measure();
      expect(measured).toBe(folder);
      expect(Number.isSafeInteger(freeBytes) && freeBytes > 0).toBe(true);
    },
  },
  {
    sentence: "promise 2: what cannot be measured is a fault and no older figure, until it can be",
    async run({ disk, away, back }) {
      await disk.measure();
      await away();
      await expect(disk.measure()).rejects.toMatchObject({ code: "DISK_NOT_MEASURED", retry: "later" });
      await back();
      expect((await disk.measure()).freeBytes).toBeGreaterThan(0);
    },
  },
];
