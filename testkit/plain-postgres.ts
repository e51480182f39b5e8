// A PostgreSQL server as a user's administrator runs it: nothing in it is ours, not even a role. Either Debian's, found where its package puts it,
// else fetched into the project's cache without installing it, or the embedded one's programs without our settings. It listens on a
// unix socket in a folder of its own and ends with the process that started it.
import { access, chmod, chown, constants, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ConnectionTarget, openClient } from "../adapters/postgres/connection.ts";
import { locateBinaries, programsOf } from "../adapters/postgres/embedded/binaries.ts";
import { usableBinaries } from "../adapters/postgres/embedded/places.ts";
import { chooseServerUser, runAs, type ServerUser, spawnAs } from "../adapters/postgres/embedded/server-user.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { ownPrefix, removeAbandoned } from "./abandoned.ts";
import { type FoundProgram, findProgram } from "./debian-package.ts";
import { quietLog } from "./quiet-log.ts";

export type PostgresMake = "Debian's" | "the embedded one";

export interface PlainPostgres {
  /** What the server says of itself. */
  readonly version: string;
  /** The superuser, in the database `postgres`. */
  readonly administrator: ConnectionTarget;
  as(user: string, database: string): ConnectionTarget;
  /** What a user would write into PORTCULLIS_DATABASE_URL. */
  urlOf(user: string, database: string): string;
  /** Statements of the administrator. */
  administer(...statements: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

const folderName = "portcullis-plain-postgres";
const readyMsMax = 30_000;
const initdbMsMax = 60_000;
/** Of Debian's releases that are supported: 13 and 12. */
const debianVersions = ["17", "15"];
const debianRoot = "/usr/lib/postgresql";
const localPort = 5432;

/** For a server that is reached over the network, with TLS and passwords. */
export interface TcpOptions {
  readonly port: number;
  /** Where it is reached over TLS by any login without a password; 127.0.0.1 with passwords when absent. */
  readonly addresses?: readonly string[];
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

/** Passwords over TLS, and nothing else, but for the administrator on the machine. */
function tcpRules({ addresses }: TcpOptions): string {
  const over = addresses?.map((one) => `hostssl all all ${one}/32 trust`) ?? [
    "hostssl all all 127.0.0.1/32 scram-sha-256",
  ];
  return `${["local all administrator trust", ...over].join("\n")}\n`;
}

async function tcpSettings(data: string, user: ServerUser, tcp: TcpOptions): Promise<readonly string[]> {
  const files = { "server.crt": tcp.certificate, "server.key": tcp.key, "pg_hba.conf": tcpRules(tcp) };
  for (const [name, content] of Object.entries(files)) {
    const path = join(data, name);
    await writeFile(path, content, { mode: 0o600 });
    if (user.borrowed) await chown(path, user.uid, user.gid);
  }
  return [`listen_addresses=${(tcp.addresses ?? ["127.0.0.1"]).join(",")}`, `port=${tcp.port}`, "ssl=on"];
}

export async function startPlainPostgres(make: PostgresMake, tcp?: TcpOptions): Promise<PlainPostgres> {
  removeAbandoned(tmpdir(), folderName);
  const folder = await mkdtemp(join(tmpdir(), ownPrefix(folderName)));
  const user = await chooseServerUser(undefined);
  await chmod(folder, 0o755);
  if (user.borrowed) await chown(folder, user.uid, user.gid);
  const found = make === "Debian's" ? await debianPostgres() : await embeddedPostgres(user, folder);
  const program = withLibraries(found);
  const data = join(folder, "data");
  const initdb = program(join(dirname(found.binary), "initdb"));
  const made = await runAs(
    user,
    initdb.file,
    [...initdb.first, "--pgdata", data, "--username", "administrator", "--auth", "trust", "--encoding", "UTF8"].concat(
      "--locale=C.UTF-8",
      "--no-sync",
      "--no-instructions",
    ),
    initdbMsMax,
  );
  if (!made.ok) throw new Error(`initdb failed: ${made.stderr}`);
  const log = await open(join(folder, "log"), "a");
  const server = program(found.binary);
  const port = tcp?.port ?? localPort;
  const listening = tcp === undefined ? ["listen_addresses=", `port=${port}`] : await tcpSettings(data, user, tcp);
  const settings = ["fsync=off", `unix_socket_directories=${folder}`, ...listening];
  const child = spawnAs(
    user,
    server.file,
    [...server.first, "-D", data, ...settings.flatMap((setting) => ["-c", setting])],
    log.fd,
  );
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const as = (login: string, database: string): ConnectionTarget => ({
    host: folder,
    port,
    user: login,
    database,
    options: "-c search_path=portcullis",
  });
  const administrator = { ...as("administrator", "postgres"), options: "" };
  const stop = async (): Promise<void> => {
    child.kill("SIGINT");
    await exited;
    await log.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const version = await answering(administrator);
    return {
      version,
      administrator,
      as,
      urlOf: (login, database) =>
        `postgres://${encodeURIComponent(login)}@localhost/${database}?host=${encodeURIComponent(folder)}&port=${port}`,
      async administer(...statements) {
        const client = await openClient(administrator, { log: quietLog, applicationName: "administrator" });
        try {
          for (const statement of statements) await client.query(statement);
        } finally {
          await client.end();
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The installed one of the newest version that Portcullis takes, else one from the cache. */
async function debianPostgres(): Promise<FoundProgram> {
  const installed = await readdir(debianRoot).catch(() => []);
  const versions = installed.map(Number).filter((version) => version >= 15);
  for (const version of versions.sort((one, other) => other - one)) {
    const binary = join(debianRoot, String(version), "bin", "postgres");
    if (await isExecutable(binary)) return { binary, libraryFolders: [] };
  }
  let failure: unknown;
  for (const version of debianVersions) {
    try {
      // Not one from PATH: that is anybody's build.
      return await findProgram({
        packageName: `postgresql-${version}`,
        names: [],
        binaryPath: `usr/lib/postgresql/${version}/bin/postgres`,
        cacheName: `postgresql-${version}`,
      });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function embeddedPostgres(user: ServerUser, folder: string): Promise<FoundProgram> {
  const binaries = await usableBinaries(await locateBinaries(), user, folder, systemRandom());
  return { binary: programsOf(binaries).postgres, libraryFolders: [] };
}

/** Programs run with an environment of their own, so the folders of fetched libraries are put on the command line. */
function withLibraries({ libraryFolders }: FoundProgram) {
  return (file: string): { readonly file: string; readonly first: readonly string[] } =>
    libraryFolders.length === 0
      ? { file, first: [] }
      : { file: "/usr/bin/env", first: [`LD_LIBRARY_PATH=${libraryFolders.join(delimiter)}`, file] };
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function answering(administrator: ConnectionTarget): Promise<string> {
  const until = Date.now() + readyMsMax;
  for (;;) {
    try {
      const client = await openClient(administrator, { log: quietLog, applicationName: "testkit" });
      const { rows } = await client.query<{ version: string }>("SELECT version()").finally(() => client.end());
      return rows[0]?.version ?? "";
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(20);
    }
  }
}
