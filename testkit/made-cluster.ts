// The files of a PostgreSQL server that was made, migrated and stopped once for the whole test run (testkit/global-setup.ts). A platform that
// begins with a copy of them starts as on its second start: most tests are about something else than the first.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

export const madeClusterVariable = "PORTCULLIS_TEST_MADE_CLUSTER";

/** With owner and modes, which the server checks. */
export function copyCluster(from: string, to: string): void {
  execFileSync("cp", ["--archive", "--reflink=auto", from, to]);
}

/** Puts a made database into a data folder that has none. Outside of a test run nothing happens, and who starts there makes its own. */
export function giveMadeDatabase(dataFolder: string): void {
  const made = process.env[madeClusterVariable];
  const place = join(dataFolder, "postgres");
  if (made === undefined || existsSync(place)) return;
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  copyCluster(made, place);
}
