// Where the bench runs: its own PostgreSQL with the product's settings, which wait for the disk, and its own nats-server,
// both in a temporary folder. Whatever happens, `close` leaves neither process nor folder behind; after a kill -9 the
// kernel ends the servers and the next run removes the folder.
import { access, chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DatabaseAddress, openClient, withDatabase } from "../../adapters/postgres/connection.ts";
import { startEmbeddedPostgres } from "../../adapters/postgres/embedded/server.ts";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { migrations } from "../../adapters/postgres/migrations/index.ts";
import { openDataFolder } from "../../adapters/system/data-folder.ts";
import { natsServerBinary, startNatsServer } from "../../testkit/nats-server.ts";
import { benchTools, quietLog } from "./ticket.ts";

export interface DatabaseFacts {
  readonly postgres_version: string;
  readonly fsync: string;
  readonly synchronous_commit: string;
}

export interface PlaceFacts extends DatabaseFacts {
  readonly nats_server_version: string;
}

export interface DatabasePlace {
  readonly folder: string;
  /** Of the server's main process. */
  readonly serverPid: number;
  readonly facts: DatabaseFacts;
  /** A migrated database of its own, so that no contender carries what another one published. */
  database(name: string): Promise<DatabaseAddress>;
  close(): Promise<void>;
}

export interface Place extends Omit<DatabasePlace, "folder" | "serverPid" | "facts"> {
  readonly natsUrl: string;
  readonly facts: PlaceFacts;
}

const folderPrefix = "portcullis-bench-";

/** With a database and a nats-server. */
export async function openPlace(): Promise<Place> {
  const fixture = await openDatabasePlace();
  try {
    await putNatsServerOnPath();
    const nats = await startNatsServer({ jetStream: true, storeFolder: join(fixture.folder, "nats") });
    const close = async (): Promise<void> => {
      await nats.stop();
      await fixture.close();
    };
    const facts = { ...fixture.facts, nats_server_version: nats.version };
    return { natsUrl: nats.url, facts, database: fixture.database, close };
  } catch (thrown) {
    await fixture.close();
    throw thrown;
  }
}

export async function openDatabasePlace(): Promise<DatabasePlace> {
  await removeAbandoned();
  const endings: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), `${folderPrefix}${process.pid}-`));
    endings.push(() => rm(folder, { recursive: true, force: true }));
    // As root the database runs as another user, who must be able to pass; else its data would go outside and stay there.
    await chmod(folder, 0o755);
    const tools = benchTools();
    const dataFolder = await openDataFolder(join(folder, "data"), tools);
    endings.push(() => dataFolder.release());
    const { path, runtimeFolder } = dataFolder;
    const server = await startEmbeddedPostgres({ ...tools, dataFolder: path, runtimeFolder });
    endings.push(() => server.stop());
    const database = (name: string): Promise<DatabaseAddress> => makeDatabase(server.address, name);
    return { folder, serverPid: server.pid, facts: await databaseFacts(server.address), database, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** A bundle lies elsewhere than the sources, but as deep: from both, the project's cache is found two folders up. */
async function putNatsServerOnPath(): Promise<void> {
  const binary = await natsServerBinary(fileURLToPath(new URL("../../.cache/nats-server/", import.meta.url)));
  process.env["PATH"] = `${process.env["PATH"] ?? ""}${delimiter}${dirname(binary)}`;
}

async function databaseFacts(address: DatabaseAddress): Promise<DatabaseFacts> {
  const client = await openClient(address.owner, { log: quietLog, applicationName: "bench" });
  try {
    const setting = (name: string): string => `current_setting('${name}')`;
    const names = ["server_version", "fsync", "synchronous_commit"];
    const { rows } = await client.query({ text: `select ${names.map(setting).join(", ")}`, rowMode: "array" });
    const [version, fsync, commit] = (rows[0] ?? []).map(String);
    return { postgres_version: version ?? "", fsync: fsync ?? "", synchronous_commit: commit ?? "" };
  } finally {
    await client.end();
  }
}

async function makeDatabase(address: DatabaseAddress, name: string): Promise<DatabaseAddress> {
  const client = await openClient(address.owner, { log: quietLog, applicationName: "bench" });
  await client.query(`create database ${name}`).finally(() => client.end());
  const made = withDatabase(address, name);
  await migrate(made.owner, migrations, quietLog);
  return made;
}

/** Folders of runs whose process is gone. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(folderPrefix) ? /^(\d+)-/.exec(name.slice(folderPrefix.length))?.[1] : undefined;
    if (pid === undefined) continue;
    const alive = await access(`/proc/${pid}`).then(
      () => true,
      () => false,
    );
    if (!alive) await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}
