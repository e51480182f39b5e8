// One private PostgreSQL server for a whole test run: started before the first test file, stopped after the last. Its
// address travels to the test processes through the environment; testkit/postgres.ts makes a database per call on it. Making
// and migrating one takes longer than most tests, so it is done here once: databases and platforms begin with a copy.
// What the workers themselves make once for the run, the shared platform first, has its folder here and is ended here.
// If this process dies without its teardown the kernel ends the server, and the next run removes the folder.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openClient, withDatabase } from "../adapters/postgres/connection.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../adapters/postgres/embedded/server.ts";
import { migrate } from "../adapters/postgres/migrate.ts";
import { migrations } from "../adapters/postgres/migrations/index.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { ownPrefix, removeAbandoned } from "./abandoned.ts";
import { copyCluster, madeClusterVariable } from "./made-cluster.ts";
import { memoryFolder } from "./memory-folder.ts";
import { quietLog } from "./quiet-log.ts";
import { endShared } from "./shared/end-shared.ts";
import { runFolderVariable } from "./shared/once-in-run.ts";

export const testServerVariable = "PORTCULLIS_TEST_SERVER";

const folderName = "portcullis-tests";

export async function setup(): Promise<() => Promise<void>> {
  removeAbandoned(tmpdir(), folderName);
  // The long run stays on the disk, as a user's platform does.
  const inMemory = process.env["PORTCULLIS_TEST_LONG"] === "1" ? undefined : memoryFolder();
  if (inMemory !== undefined) process.env["TMPDIR"] = inMemory;
  const folder = await mkdtemp(join(tmpdir(), ownPrefix(folderName)));
  const runtimeFolder = join(folder, "run");
  await mkdir(runtimeFolder, { mode: 0o700 });
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({
      dataFolder: folder,
      runtimeFolder,
      log: quietLog,
      timers: systemTimers(),
      random: systemRandom(),
      // Tests kill processes, never the machine: waiting for the disk would only cost time.
      settings: { max_connections: "400", fsync: "off", full_page_writes: "off" },
    });
  const first = await start();
  await migrate(first.address.owner, migrations, quietLog);
  await first.stop();
  const made = join(folder, "made");
  copyCluster(first.places.clusterFolder, made);
  const server = await start();
  await closeToConnections(server);
  process.env[testServerVariable] = JSON.stringify(server.address);
  process.env[madeClusterVariable] = made;
  process.env[runFolderVariable] = await makeRunFolder(folder);
  // Most tests of the whole platform load the same program into six processes: what one compiled, the next one takes over.
  process.env["NODE_COMPILE_CACHE"] = join(folder, "compiled");
  return async () => {
    await endShared();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    if (inMemory !== undefined) await rm(inMemory, { recursive: true, force: true });
  };
}

/** For what the workers make once for all of them. */
async function makeRunFolder(folder: string): Promise<string> {
  const made = join(folder, "once");
  await mkdir(made, { mode: 0o700 });
  await writeFile(join(made, "run.pid"), String(process.pid));
  return made;
}

/** A database can be copied only while nobody is connected to it, the server's own housekeeping included. */
async function closeToConnections({ address }: EmbeddedPostgres): Promise<void> {
  const { database } = address.owner;
  const client = await openClient(withDatabase(address, "postgres").owner, {
    log: quietLog,
    applicationName: "testkit",
  });
  try {
    await client.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
  } finally {
    await client.end();
  }
}
