// Free space as the kernel tells it, and as tests do: both keep the port's promises.
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type DiskSpaceFixture, diskSpaceChecks } from "../../testkit/conformance/disk-space.ts";
import { memoryDisk } from "../../testkit/memory/disk-space.ts";
import { temporaryFolder } from "../../testkit/platform.ts";
import { systemDiskSpace } from "./disk-space.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const parent = temporaryFolder("disk");
  folders.push(parent);
  const folder = join(parent, "measured");
  mkdirSync(folder);
  return folder;
}

function onSystem(): DiskSpaceFixture {
  const folder = newFolder();
  return {
    folder,
    disk: systemDiskSpace([folder]),
    away: async () => renameSync(folder, `${folder}-away`),
    back: async () => renameSync(`${folder}-away`, folder),
  };
}

function inMemory(): DiskSpaceFixture {
  const disk = memoryDisk("/somewhere");
  return {
    folder: "/somewhere",
    disk,
    away: async () => {
      disk.freeBytes = undefined;
    },
    back: async () => {
      disk.freeBytes = 1;
    },
  };
}

describe.each([
  ["the system", onSystem],
  ["memory", inMemory],
] as const)("the disk of %s", (_name, open) => {
  test.each(diskSpaceChecks.map((check) => [check.sentence, check] as const))("%s", (_sentence, check) =>
    check.run(open()),
  );
});

test("of several folders the fullest is measured, and one that is gone is not passed over", async () => {
  const folder = newFolder();
  // It has no room at all, and nobody can write there.
  const both = await systemDiskSpace([folder, "/proc"]).measure();
  expect(both).toEqual({ folder: "/proc", freeBytes: 0 });
  await expect(systemDiskSpace([folder, join(folder, "gone")]).measure()).rejects.toMatchObject({
    code: "DISK_NOT_MEASURED",
    message: expect.stringContaining("gone"),
  });
});
