// Where the private server's programs, data and socket lie. Normally the programs are npm's and the data is in the data
// folder. When we are root and the server's user cannot go there (a clone under /root, a temporary folder of mode 0700),
// the programs are copied and the data is put where it can, and a note in the data folder remembers where.
//
// Whether the user can go there is found out by trying, as that user: modes alone do not tell (ACLs, mount options).
//
//  1. A data folder whose note names a database that is gone is refused; it is never started empty in its stead.
//  2. A fresh data folder never adopts the database of a deleted one that had the same path.
//  3. A copied data folder does not share its original's database.

import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Random } from "../../../ports/random.ts";
import { socketPathBytesMax } from "../../system/data-folder.ts";
import { type BinariesPackage, isCode, isRecord, makeLibraryLinks, programsOf, startFailed } from "./binaries.ts";
import { copyPrograms, outsideFolder } from "./private-copy.ts";
import { runAs, type ServerUser } from "./server-user.ts";

export interface Places {
  /** Holds `native/bin`; npm's own folder or a private copy. */
  readonly binariesFolder: string;
  /** Ours; holds the two folders below. The data folder itself, unless the server's user cannot enter it. */
  readonly serverFolder: string;
  /** PostgreSQL's data, 0700, owned by the server's user; exists only when complete. */
  readonly clusterFolder: string;
  /** Our settings, which the server reads and cannot change. */
  readonly settingsFolder: string;
  readonly socketFolder: string;
  /** True when the database does not lie in the data folder, so that people are told where. */
  readonly outsideDataFolder: boolean;
}

export const serverPort = 5432;
const socketName = `.s.PGSQL.${serverPort}`;
const noteName = "postgres-elsewhere.json";
const backNoteName = "data-folder.txt";
const tryMsMax = 10_000;

/** Programs that this user can run: npm's if possible, with their library links made, else a private copy. */
export async function usableBinaries(
  source: BinariesPackage,
  user: ServerUser,
  dataFolder: string,
  random: Random,
): Promise<string> {
  if (await runs(source.folder, user)) return source.folder;
  if ((await makeLibraryLinks(source.folder)) && (await runs(source.folder, user))) return source.folder;
  const parent = user.borrowed ? await outsideFolder() : dataFolder;
  const copy = await copyPrograms(source, parent, random);
  if (await runs(copy, user)) return copy;
  const { stderr } = await runAs(user, programsOf(copy).postgres, ["--version"], tryMsMax);
  throw startFailed(`User ${user.name} cannot run PostgreSQL from ${copy}: ${stderr.trim()}.`);
}

async function runs(folder: string, user: ServerUser): Promise<boolean> {
  const programs = programsOf(folder);
  for (const program of [programs.postgres, programs.initdb]) {
    if (!(await runAs(user, program, ["--version"], tryMsMax)).ok) return false;
  }
  return true;
}

/** Decides where the data and the socket lie and makes the folders that are ours to make. */
export async function choosePlaces(options: {
  readonly dataFolder: string;
  readonly runtimeFolder: string;
  readonly binariesFolder: string;
  readonly user: ServerUser;
}): Promise<Places> {
  const { dataFolder, runtimeFolder, binariesFolder, user } = options;
  const serverFolder = await chooseServerFolder(dataFolder, user);
  const settingsFolder = join(serverFolder, "postgres-settings");
  await mkdir(settingsFolder, { recursive: true });
  await chmod(settingsFolder, 0o755);
  const socketFolder = await chooseSocketFolder(runtimeFolder, serverFolder, user);
  return {
    binariesFolder,
    serverFolder,
    clusterFolder: join(serverFolder, "postgres"),
    settingsFolder,
    socketFolder,
    outsideDataFolder: serverFolder !== dataFolder,
  };
}

/** Who owns the database of this data folder, if there is one. */
export async function clusterOwner(dataFolder: string): Promise<number | undefined> {
  const serverFolder = (await readNote(dataFolder)) ?? dataFolder;
  try {
    return (await stat(join(serverFolder, "postgres"))).uid;
  } catch (error) {
    if (isCode(error, ["ENOENT", "EACCES"])) return undefined;
    throw error;
  }
}

async function chooseServerFolder(dataFolder: string, user: ServerUser): Promise<string> {
  const noted = await readNote(dataFolder);
  if (noted !== undefined) return adoptNoted(dataFolder, noted);
  if (await letPass(dataFolder, user)) return dataFolder;
  if (await exists(join(dataFolder, "postgres"))) {
    throw startFailed(
      `User ${user.name}, who runs PostgreSQL, cannot enter ${dataFolder}, where the database is: ` +
        "move the data folder to where that user can go.",
    );
  }
  return newServerFolder(dataFolder);
}

async function adoptNoted(dataFolder: string, serverFolder: string): Promise<string> {
  const note = join(dataFolder, noteName);
  if (!(await exists(join(serverFolder, "postgres"))) && !(await exists(join(serverFolder, backNoteName)))) {
    throw startFailed(
      `The database of ${dataFolder} was in ${serverFolder} and is not there any more: ` +
        `put it back, or delete ${note} to begin with an empty one.`,
    );
  }
  const here = await realpath(dataFolder);
  const original = (await readFile(join(serverFolder, backNoteName), "utf8")).trim();
  if (original !== here && (await exists(original)) && (await readNote(original)) === serverFolder) {
    throw startFailed(
      `${dataFolder} is a copy of ${original} and would share its database in ${serverFolder}: ` +
        `choose another PORTCULLIS_DATA_DIR, or delete ${note} to begin with an empty one.`,
    );
  }
  await writeFile(join(serverFolder, backNoteName), `${here}\n`, { mode: 0o600 });
  return serverFolder;
}

async function newServerFolder(dataFolder: string): Promise<string> {
  const outside = await outsideFolder();
  const here = await realpath(dataFolder);
  const name = createHash("sha256").update(here).digest("hex").slice(0, 16);
  for (let attempt = 1; attempt <= 1_000; attempt += 1) {
    const folder = join(outside, attempt === 1 ? name : `${name}-${attempt}`);
    try {
      await mkdir(folder, { mode: 0o711 });
    } catch (error) {
      if (isCode(error, ["EEXIST"])) continue;
      throw error;
    }
    await chmod(folder, 0o711);
    await writeFile(join(folder, backNoteName), `${here}\n`, { mode: 0o600 });
    await writeFile(join(dataFolder, noteName), `${JSON.stringify({ serverFolder: folder })}\n`, { mode: 0o600 });
    return folder;
  }
  throw startFailed(`There are too many databases of deleted data folders in ${outside}: remove some.`);
}

async function readNote(dataFolder: string): Promise<string | undefined> {
  try {
    const note: unknown = parseJson(await readFile(join(dataFolder, noteName), "utf8"));
    if (isRecord(note) && typeof note["serverFolder"] === "string") return note["serverFolder"];
  } catch (error) {
    if (isCode(error, ["ENOENT", "ENOTDIR", "EACCES"])) return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw startFailed(`${join(dataFolder, noteName)} is damaged: it should name the folder of the database.`);
}

/** A folder that only the server's user and root can enter; root's processes and the user's own reach the socket in it. */
async function chooseSocketFolder(runtimeFolder: string, serverFolder: string, user: ServerUser): Promise<string> {
  const parents = [async () => runtimeFolder, async () => serverFolder, outsideFolder];
  for (const parentOf of parents) {
    const parent = await parentOf();
    const folder = join(parent, "postgres-socket");
    if (Buffer.byteLength(join(folder, socketName)) > socketPathBytesMax) continue;
    if (!(await letPass(parent, user))) continue;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (!(await lstat(folder)).isDirectory()) continue;
    if (user.borrowed) await chown(folder, user.uid, user.gid);
    await chmod(folder, 0o700);
    return folder;
  }
  throw startFailed(`No folder for PostgreSQL's socket is short enough and open to user ${user.name}.`);
}

/** Opens our folder for passing through (0711: no listing) if the server's user then really gets in; else leaves it shut. */
async function letPass(folder: string, user: ServerUser): Promise<boolean> {
  if (!user.borrowed) return true;
  const mode = (await stat(folder)).mode & 0o777;
  if ((mode & 0o001) === 0) await chmod(folder, mode | 0o011);
  if ((await runAs(user, "test", ["-x", join(folder, ".")], tryMsMax)).ok) return true;
  await chmod(folder, mode);
  return false;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isCode(error, ["ENOENT", "ENOTDIR"])) return false;
    throw error;
  }
}
