// Places that root may use when the server's user cannot go where the clone or the data folder lies, and a copy of the
// PostgreSQL programs there. A copy is built beside its final name and renamed when complete, so it is whole or absent.
import { chmod, copyFile, link, lstat, mkdir, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Random } from "../../../ports/random.ts";
import { type BinariesPackage, isCode, makeLibraryLinks, startFailed } from "./binaries.ts";

/** A folder of ours outside the data folder that others may pass through: durable if possible, else temporary. */
export async function outsideFolder(): Promise<string> {
  const durable = "/var/lib/portcullis";
  try {
    await mkdir(durable, { recursive: true, mode: 0o711 });
    await requireOurs(durable);
    await mkdir(join(durable, "binaries"), { recursive: true, mode: 0o711 });
    return durable;
  } catch (error) {
    if (!isCode(error, ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"])) throw error;
  }
  const temporary = join(tmpdir(), `portcullis-${process.getuid?.() ?? 0}`);
  await mkdir(temporary, { recursive: true, mode: 0o711 });
  await requireOurs(temporary);
  return temporary;
}

/** In a shared temporary folder somebody else may have made this name first. */
async function requireOurs(folder: string): Promise<void> {
  const facts = await lstat(folder);
  if (!facts.isDirectory() || facts.uid !== process.getuid?.() || (facts.mode & 0o022) !== 0) {
    throw startFailed(`${folder} is not a folder that only this user can write to; remove it and start again.`);
  }
  await chmod(folder, 0o711);
}

/** The programs, copied under `parent` unless an earlier start did. Resolves to the copy's folder. */
export async function copyPrograms(source: BinariesPackage, parent: string, random: Random): Promise<string> {
  const shelf = join(parent, "binaries");
  await mkdir(shelf, { recursive: true, mode: 0o711 });
  await requireOurs(shelf);
  const final = join(shelf, source.label);
  if (await exists(final)) return final;
  await removeAbandoned(shelf);
  const draft = join(shelf, `${source.label}.making-${process.pid}-${random.uuid().slice(0, 8)}`);
  await mkdir(draft, { mode: 0o755 });
  await chmod(draft, 0o755);
  await copyTree(join(source.folder, "native"), join(draft, "native"));
  await makeLibraryLinks(draft);
  try {
    await rename(draft, final);
  } catch (error) {
    // Another start was faster; its copy is as good as ours.
    await rm(draft, { recursive: true, force: true });
    if (!isCode(error, ["ENOTEMPTY", "EEXIST"])) throw error;
  }
  return final;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isCode(error, ["ENOENT"])) return false;
    throw error;
  }
}

/** Drafts of processes that are gone. */
async function removeAbandoned(shelf: string): Promise<void> {
  for (const name of await readdir(shelf)) {
    const pid = /\.making-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !(await exists(`/proc/${pid}`))) {
      await rm(join(shelf, name), { recursive: true, force: true });
    }
  }
}

/** Static libraries are for building extensions; nothing here needs them. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (!entry.name.endsWith(".a")) await linkOrCopy(source, target);
  }
}

/** A hard link costs nothing, but it shares the original's mode: under a strict umask only a copy can be opened to others. */
async function linkOrCopy(source: string, target: string): Promise<void> {
  const { mode } = await stat(source);
  const wanted = (mode & 0o100) === 0 ? 0o644 : 0o755;
  if ((mode & wanted) === wanted) {
    try {
      await link(source, target);
      return;
    } catch (error) {
      if (!isCode(error, ["EXDEV", "EPERM", "EACCES", "EMLINK", "ENOTSUP", "EOPNOTSUPP"])) throw error;
    }
  }
  await copyFile(source, target);
  await chmod(target, wanted);
}
