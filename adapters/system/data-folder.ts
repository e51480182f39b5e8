// The data folder: made, checked, and held by one running program at a time.
//
// Modes. The folder is made 0700. When root starts the embedded database, that server runs as an unprivileged user who must
// pass through to its own subfolder; the database's start then opens the folder to 0711 (pass, but not list), which is why
// every file with a secret in it is 0600 by itself. A folder that existed and is not empty keeps its mode, so that nobody
// shuts `/tmp` or a home folder by naming it here; if others may write to it, it is refused.
//
// Sockets. A unix socket's path may have 107 bytes; `runtimeFolder` is the place for sockets, inside the data folder when
// that is short enough, else in the system's temporary folder.
import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import { takeLock } from "./data-folder-lock.ts";

export interface DataFolder {
  /** The real path. */
  readonly path: string;
  /** For unix sockets; removed by `release`. */
  readonly runtimeFolder: string;
  /** Lets the next program in. Call it when every process that uses the folder has ended. */
  release(): Promise<void>;
}

/** Paths of sockets stay below the system's 107 bytes. */
export const socketPathBytesMax = 100;
/** A socket in the runtime folder may have a name of this many bytes, folders below it included. */
export const socketNameBytesMax = 32;

/** Makes the folder if need be and takes it for this process. */
export async function openDataFolder(path: string, ports: { clock: Clock; random: Random }): Promise<DataFolder> {
  const folder = await prepareFolder(resolve(path));
  const lock = await takeLock(folder, ports);
  try {
    const runtime = await makeRuntimeFolder(folder);
    return {
      path: folder,
      runtimeFolder: runtime,
      async release(): Promise<void> {
        await rm(runtime, { recursive: true, force: true });
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function unusable(path: string, why: string, advice: string, cause?: unknown): Fault {
  return new Fault("DATA_FOLDER_UNUSABLE", `The data folder ${path} cannot be used: ${why}; ${advice}.`, {
    retry: "never",
    facts: { path },
    cause,
  });
}

const chooseAnother = "choose another with PORTCULLIS_DATA_DIR";

async function prepareFolder(path: string): Promise<string> {
  try {
    await makeFolders(path);
  } catch (error) {
    throw explainRefusal(path, error);
  }
  const folder = await realpath(path);
  await checkMode(path, folder);
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    await writeFile(probe, "", { mode: 0o600 });
    await rm(probe);
  } catch (error) {
    throw explainRefusal(path, error);
  }
  return folder;
}

/** Folder by folder from the first that is missing: Node's own recursive form never returns below /proc. */
async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    const parent = dirname(path);
    const parentIsMissing = code === "ENOENT" && (await stat(parent).catch(() => undefined)) === undefined;
    if (!parentIsMissing || parent === path) throw error;
    await makeFolders(parent);
    await mkdir(path, { mode: 0o700 });
  }
}

function explainRefusal(path: string, error: unknown): Fault {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EEXIST" || code === "ENOTDIR") {
    return unusable(path, "there is a file in its place", `move the file away or ${chooseAnother}`, error);
  }
  if (code === "EACCES" || code === "EPERM") {
    return unusable(path, "this user may not write there", `change its owner or mode, or ${chooseAnother}`, error);
  }
  if (code === "EROFS") return unusable(path, "the file system is read-only", chooseAnother, error);
  if (code === "ENOSPC") return unusable(path, "the disk is full", `make room or ${chooseAnother}`, error);
  return unusable(path, messageOf(error), chooseAnother, error);
}

async function checkMode(path: string, folder: string): Promise<void> {
  const { mode } = await stat(folder);
  const openTo = mode & 0o777;
  if (openTo === 0o700 || openTo === 0o711) return;
  try {
    if ((await readdir(folder)).length === 0 && (mode & 0o1000) === 0) {
      await chmod(folder, 0o700);
      return;
    }
  } catch (error) {
    throw explainRefusal(path, error);
  }
  if ((openTo & 0o022) !== 0) {
    throw unusable(
      path,
      "other users may write to it",
      `run chmod 700 on it if it is yours alone, or ${chooseAnother}`,
    );
  }
}

/** A folder whose sockets have short enough paths. It is emptied: sockets of an earlier run are dead. */
export async function makeRuntimeFolder(dataFolder: string): Promise<string> {
  const folder = runtimePath(dataFolder);
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    throw unusable(dataFolder, `its folder for sockets, ${folder}, cannot be made`, `remove ${folder}`, error);
  }
  // In a shared temporary folder somebody else could have been faster than mkdir only by making it fail; still, look.
  const facts = await lstat(folder);
  if (!facts.isDirectory() || facts.uid !== process.getuid?.()) {
    throw unusable(dataFolder, `${folder} belongs to somebody else`, "remove it");
  }
  await chmod(folder, 0o700);
  return folder;
}

function runtimePath(dataFolder: string): string {
  const fits = (folder: string): boolean => Buffer.byteLength(folder) + 1 + socketNameBytesMax <= socketPathBytesMax;
  const inside = join(dataFolder, "run");
  if (fits(inside)) return inside;
  const name = `portcullis-${createHash("sha256").update(dataFolder).digest("hex").slice(0, 16)}`;
  const outside = [join(tmpdir(), name), join("/tmp", name)].find(fits);
  if (outside === undefined) {
    throw unusable(dataFolder, `${dirname(inside)} and the temporary folder are too long for sockets`, chooseAnother);
  }
  return outside;
}
