// A clock that a test sets while programs run: Debian's libfaketime, found in the project's cache or fetched there. Every program that is started with its
// environment reads the wall clock with the same offset, from the same file, so that a step is seen by all at once; clocks that only go on are left alone.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "./debian-package.ts";

export interface MachineClock {
  /** For every program that shall see it. */
  readonly environment: Readonly<Record<string, string>>;
  /** What those programs see. */
  nowMs(): number;
  /** How far their clock is ahead of ours from now on, in seconds. */
  set(aheadS: number): void;
}

export async function machineClock(folder: string): Promise<MachineClock> {
  const found = await findProgram({
    packageName: "faketime",
    // An installed one does not say where its library lies.
    names: [],
    binaryPath: "usr/bin/faketime",
    cacheName: "faketime",
  });
  const library = found.libraryFolders.find((each) => each.endsWith("/faketime"));
  if (library === undefined) throw new Error("the package faketime came without its library");
  const path = join(folder, "clock");
  let aheadS = 0;
  const set = (seconds: number): void => {
    writeFileSync(`${path}.next`, `+${seconds}\n`);
    renameSync(`${path}.next`, path);
    aheadS = seconds;
  };
  set(0);
  return {
    environment: {
      LD_PRELOAD: join(library, "libfaketimeMT.so.1"),
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    },
    nowMs: () => Date.now() + aheadS * 1_000,
    set,
  };
}
