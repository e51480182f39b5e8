// A test run keeps its files in memory only where that is allowed, and leaves the place to whoever chose one.
import { rmSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { isUsable, memoryFolder } from "./memory-folder.ts";

test("memory that is mounted for reading, without programs, or not at all is not used", () => {
  const line = (options: string, type = "tmpfs") => `proc /proc proc rw 0 0\n${type} /dev/shm ${type} ${options} 0 0\n`;
  expect(isUsable(line("rw,relatime,size=24682416k"))).toBe(true);
  expect(isUsable(line("rw,nosuid,nodev,noexec,relatime,size=65536k"))).toBe(false);
  expect(isUsable(line("ro,relatime"))).toBe(false);
  expect(isUsable(line("rw,relatime", "ext4"))).toBe(false);
  expect(isUsable("proc /proc proc rw 0 0\n")).toBe(false);
  expect(isUsable(line("rw") + line("rw,noexec"))).toBe(false);
});

test("whoever names a place for temporary files gets it, and everybody may use ours", () => {
  expect(memoryFolder({ TMPDIR: "/somewhere" })).toBeUndefined();
  const made = memoryFolder({});
  // A machine with little memory, or a container, has none.
  if (made === undefined) return;
  expect(statSync(made).mode & 0o7777).toBe(0o1777);
  rmSync(made, { recursive: true });
});
