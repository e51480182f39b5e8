// The server's data folder ("cluster") and its settings. initdb works in a draft beside the final name, which is renamed
// when complete: whatever kills it midway, the next start sees no cluster, removes the draft and begins again.

import { chmod, chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { storeProcesses } from "../../../contracts/src/platform-services.ts";
import type { Random } from "../../../ports/random.ts";
import { appRoleName } from "../connection.ts";
import { isCode, programsOf, startFailed } from "./binaries.ts";
import { type Places, serverPort } from "./places.ts";
import { runAs, type ServerUser } from "./server-user.ts";

export const ownerRoleName = "portcullis_owner";
const majorVersion = "18";
const initdbMsMax = 120_000;
const draftPrefix = "postgres.making-";

/** Makes the cluster unless it is there; true when it was made now. */
export async function ensureCluster(places: Places, user: ServerUser, random: Random): Promise<boolean> {
  await removeDrafts(places.serverFolder);
  if (await checkExisting(places.clusterFolder, user)) return false;
  const draft = join(places.serverFolder, `${draftPrefix}${random.uuid().slice(0, 8)}`);
  await mkdir(draft, { mode: 0o700 });
  if (user.borrowed) await chown(draft, user.uid, user.gid);
  const answer = await runAs(user, programsOf(places.binariesFolder).initdb, initdbArguments(draft), initdbMsMax);
  if (!answer.ok) {
    await rm(draft, { recursive: true, force: true });
    throw startFailed(`PostgreSQL's data could not be created in ${places.serverFolder}: ${answer.stderr.trim()}`);
  }
  await rename(draft, places.clusterFolder);
  await syncFolder(places.serverFolder);
  return true;
}

/** The built-in C.UTF-8 locale sorts by code point on every machine, whatever its C library. */
function initdbArguments(folder: string): readonly string[] {
  return [
    ...["--pgdata", folder, "--username", ownerRoleName, "--encoding", "UTF8", "--data-checksums"],
    ...["--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"],
    ...["--auth-local", "peer", "--auth-host", "reject", "--no-instructions"],
  ];
}

async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(draftPrefix)) continue;
    // An initdb whose parent was killed may still be on its way out.
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

async function checkExisting(folder: string, user: ServerUser): Promise<boolean> {
  let uid: number;
  let version: string;
  try {
    uid = (await stat(folder)).uid;
    if (uid === user.uid || user.borrowed) version = (await readFile(join(folder, "PG_VERSION"), "utf8")).trim();
    else version = majorVersion;
  } catch (error) {
    if (isCode(error, ["ENOENT"]) && !(await folderExists(folder))) return false;
    throw startFailed(`${folder} is there but is not a PostgreSQL data folder: move it away and start again.`, error);
  }
  if (uid !== user.uid) {
    throw startFailed(
      `The database in ${folder} belongs to user id ${uid}, but PostgreSQL would run as ${user.name} (${user.uid}): ` +
        "start as the user who made it, or choose another PORTCULLIS_DATA_DIR.",
    );
  }
  if (version !== majorVersion) {
    throw startFailed(
      `The database in ${folder} was made by PostgreSQL ${version}; this program runs ${majorVersion}.`,
    );
  }
  return true;
}

async function folderExists(folder: string): Promise<boolean> {
  try {
    await stat(folder);
    return true;
  } catch (error) {
    if (isCode(error, ["ENOENT"])) return false;
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The logins of services, in whichever database: logins/service-logins.ts names them. */
const loginRule = `local all "/_(${storeProcesses.join("|")})$" scram-sha-256\n`;

/** Extra server settings by name, for tests. */
export type Settings = Readonly<Record<string, string>>;

/** Writes the settings anew at every start, so that a newer program's are used. Resolves to the main file's path. */
export async function writeSettings(places: Places, extra: Settings): Promise<string> {
  const file = (name: string): string => join(places.settingsFolder, name);
  const runner = userInfo().username;
  const who = quoted(runner, '"');
  const rule = (role: string): string => `local all ${role} peer map=portcullis\n`;
  const entry = (role: string): string => `portcullis ${who} ${role}\n`;
  const roles = [ownerRoleName, appRoleName];
  await replaceFile(
    file("pg_hba.conf"),
    `# The first only for the user that runs the platform; the services' logins by their passwords.\n${roles.map(rule).join("")}${loginRule}`,
  );
  await replaceFile(file("pg_ident.conf"), roles.map(entry).join(""));
  const settings: Settings = {
    hba_file: file("pg_hba.conf"),
    ident_file: file("pg_ident.conf"),
    listen_addresses: "",
    unix_socket_directories: quoted(places.socketFolder, '"'),
    unix_socket_permissions: "0700",
    port: String(serverPort),
    ...(await preloadable(places)),
    ...fixedSettings,
    ...extra,
  };
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = ${quoted(value.replaceAll("\\", "\\\\"), "'")}\n`,
  );
  await replaceFile(
    file("postgresql.conf"),
    `# Written anew at every start; changes here are lost.\n${lines.join("")}`,
  );
  return file("postgresql.conf");
}

/**
 * Errors are logged without the statement and without details, which may hold what nobody should read in a log. A new file of the write-ahead log is not filled
 * with zeroes first: whoever commits at that moment, and all behind them, would wait for 16 MB to be written (27 ms here, every few seconds).
 */
const fixedSettings: Settings = {
  max_connections: "100",
  shared_buffers: "128MB",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  max_wal_size: "512MB",
  wal_init_zero: "off",
  jit: "off",
  huge_pages: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  datestyle: "ISO, YMD",
  log_min_messages: "error",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
  log_line_prefix: "%m [%p] %q%a ",
  logging_collector: "off",
};

async function preloadable(places: Places): Promise<Settings> {
  const module = join(programsOf(places.binariesFolder).moduleFolder, "pg_stat_statements.so");
  try {
    await stat(module);
    return { shared_preload_libraries: "pg_stat_statements" };
  } catch (error) {
    if (isCode(error, ["ENOENT"])) return {};
    throw error;
  }
}

function quoted(text: string, mark: "'" | '"'): string {
  return mark + text.replaceAll(mark, mark + mark) + mark;
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await chmod(`${path}.new`, 0o644);
  await rename(`${path}.new`, path);
}
