// Replacing a file so that a crash at any moment leaves the old or the new one, whole: write beside it, fsync, rename, fsync
// the folder.
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault, messageOf } from "../../contracts/src/fault.ts";

/** The `code` of a system error ("ENOENT"), or undefined when it is something else. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" && /^E[A-Z0-9]+$/.test(thrown.code) ? thrown.code : undefined;
}

/** A disk that is full, read-only or not ours is the world saying no; what is a fault already stays what it is. */
export function diskFault(thrown: unknown, doing: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const errno = errnoOf(thrown);
  return new Fault("SECRETS_UNAVAILABLE", `Could not ${doing}: ${messageOf(thrown)}.`, {
    retry: "later",
    facts: { errno: errno ?? null },
  });
}

export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A new file that only its owner can read, on disk when this resolves; EEXIST when there is one already. */
export async function writeNewPrivateFile(path: string, bytes: Buffer): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** `lastLook` runs when all bytes are on disk and nothing has been replaced yet; if it throws, nothing will be. */
export async function replaceFile(
  path: string,
  temporary: string,
  bytes: Buffer,
  lastLook: () => Promise<void>,
): Promise<void> {
  try {
    await writeNewPrivateFile(temporary, bytes);
    await lastLook();
    await rename(temporary, path);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
  await syncFolder(dirname(path));
}
