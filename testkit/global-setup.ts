// One private PostgreSQL server for a whole test run: started before the first test file, stopped after the last. Its
// address travels to the test processes through the environment; testkit/postgres.ts makes a database per call on it.
// If this process dies without its teardown the kernel ends the server, and the next run removes the folder.
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../adapters/postgres/embedded/server.ts";
import { systemRandom } from "../adapters/system-random.ts";
import { systemTimers } from "../adapters/system-timers.ts";
import type { Log } from "../ports/log.ts";

export const testServerVariable = "PORTCULLIS_TEST_SERVER";

/** Swallows every line. */
export const quietLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => quietLog,
};

const prefix = "portcullis-tests-";

export async function setup(): Promise<() => Promise<void>> {
  await removeAbandoned();
  const folder = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
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

/** Folders of runs whose process is gone. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid === undefined || (await isAlive(pid))) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}

async function isAlive(pid: string): Promise<boolean> {
  return stat(`/proc/${pid}`).then(
    () => true,
    () => false,
  );
}
