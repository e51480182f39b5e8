// The shared platform ends with the last file that uses it, and with the run where files were counted that never came.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { endShared, expectUsers, leaveShared, startedFile } from "./end-shared.ts";
import { runFolderVariable } from "./once-in-run.ts";

let run: string;
beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), "portcullis-ended-"));
  vi.stubEnv(runFolderVariable, run);
  vi.stubEnv("PORTCULLIS_TEST_TIMES", undefined);
  writeFileSync(join(run, startedFile), JSON.stringify({ folder: mkdtempSync(join(run, "platform-")), atMs: 0 }));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(run, { recursive: true });
});

const stands = (): boolean => existsSync(join(run, startedFile));

it("stands until the last of its files has left it", async () => {
  expectUsers(2);
  await leaveShared();
  expect(stands()).toBe(true);
  await leaveShared();
  expect(stands()).toBe(false);
  await endShared();
});

it("stands until the end of the run where nobody counted its files", async () => {
  await leaveShared();
  expect(stands()).toBe(true);
  await endShared();
  expect(stands()).toBe(false);
});
