// One private PostgreSQL server for a whole test run: started before the first test file, stopped after the last. Its
// address travels to the test processes through the environment; testkit/postgres.ts makes a database per call on it.
// If this process dies without its teardown the kernel ends the server, and the next run removes the folder.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../adapters/postgres/embedded/server.ts";
import { systemRandom } from "../adapters/system-random.ts";
import { systemTimers } from "../adapters/system-timers.ts";
import type { Log } from "../ports/log.ts";
import { ownPrefix, removeAbandoned } from "./abandoned.ts";

export const testServerVariable = "PORTCULLIS_TEST_SERVER";

/** Swallows every line. */
export const quietLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => quietLog,
};

const folderName = "portcullis-tests";

export async function setup(): Promise<() => Promise<void>> {
  removeAbandoned(tmpdir(), folderName);
  const folder = await mkdtemp(join(tmpdir(), ownPrefix(folderName)));
  const runtimeFolder = join(folder, "run");
  await mkdir(runtimeFolder, { mode: 0o700 });
  const server = await startEmbeddedPostgres({
    dataFolder: folder,
    runtimeFolder,
    log: quietLog,
    timers: systemTimers(),
    random: systemRandom(),
    // Tests kill processes, never the machine: waiting for the disk would only cost time.
    settings: { max_connections: "400", fsync: "off" },
  });
  process.env[testServerVariable] = JSON.stringify(server.address);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
