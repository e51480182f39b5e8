// A login on disk: one file per profile, readable by its owner alone, replaced in one step and durable before anybody uses what is in it.

import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { Refusal } from "../failure.ts";

export interface Profile {
  /** The only server that this token is ever sent to. */
  readonly server: string;
  /** The only issuer that the refresh token is ever sent to. */
  readonly issuer: string;
  readonly client_id: string;
  readonly audience: string;
  readonly name: string;
  readonly token: string;
  /** Which of the issuer's tokens that is: a refresh must yield the same. */
  readonly token_kind: "access_token" | "id_token";
  readonly expires_at: string;
  readonly refresh_token?: string;
}

const sizeMax = 65_536;
const mustBeText = ["server", "issuer", "client_id", "audience", "name", "token", "expires_at"] as const;

/** The profile, or undefined when there is no such file. A file that others may read is refused, not used; so is a damaged one. */
export function readProfile(path: string): Profile | undefined {
  const found = profileOnDisk(path);
  if (found instanceof Refusal) throw found;
  return found;
}

/**
 * As above, but what is wrong inside a private file comes back as a value: logging in may overwrite such a file, while one that others
 * can read, or that cannot be read at all, stays an error for everybody.
 */
export function profileOnDisk(path: string): Profile | Refusal | undefined {
  let handle: number;
  try {
    handle = openSync(path, "r");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw unusable(path, `cannot be read (${code})`, "Check who owns it, or let XDG_CONFIG_HOME name another folder.");
  }
  try {
    const found = fstatSync(handle);
    // What was opened is what is judged: a file swapped in between changes nothing.
    const open = exposure(found);
    if (open !== undefined)
      throw unusable(path, open, `Run \`chmod 600 ${path}\`, and log in again if somebody else may have read it.`);
    if (!found.isFile()) throw unusable(path, "is not a file", "Move it away; `ctl auth login` writes it anew.");
    if (found.size > sizeMax) return unusable(path, "is not a profile");
    return parseProfile(path, readFileSync(handle, "utf8"));
  } finally {
    closeSync(handle);
  }
}

/** Why this file is not private, or undefined. Windows keeps no such modes. */
export function exposure(found: { readonly mode: number; readonly uid: number }): string | undefined {
  if (process.platform === "win32") return undefined;
  if ((found.mode & 0o077) !== 0) return `can be read by others (mode ${(found.mode & 0o777).toString(8)})`;
  const own = process.getuid?.();
  return own !== undefined && found.uid !== own && own !== 0 ? "belongs to another user" : undefined;
}

function parseProfile(path: string, text: string): Profile | Refusal {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    // The parser's message would repeat a piece of the file, and the file holds a token.
    return unusable(path, "is not JSON");
  }
  if (typeof value !== "object" || value === null) return unusable(path, "is not a profile");
  const fields = value as Readonly<Record<string, unknown>>;
  const wrong = mustBeText.find((field) => typeof fields[field] !== "string" || fields[field] === "");
  if (wrong !== undefined) return unusable(path, `lacks ${wrong}`);
  if (fields["token_kind"] !== "access_token" && fields["token_kind"] !== "id_token")
    return unusable(path, "lacks token_kind");
  if (fields["refresh_token"] !== undefined && typeof fields["refresh_token"] !== "string") {
    return unusable(path, "has a refresh_token that is no text");
  }
  return value as Profile;
}

function unusable(path: string, why: string, hint = "`ctl auth login` writes it anew."): Refusal {
  return new Refusal(exitCodes.notLoggedIn, "UNAUTHENTICATED", `The profile ${path} ${why}.`, hint);
}

/** Written beside, flushed, put in place, and the folder flushed: when this returns, a power cut leaves the new file. */
export function writeProfile(path: string, profile: Profile): void {
  privateFolder(dirname(path));
  const fresh = `${path}.${process.pid}.tmp`;
  try {
    rmSync(fresh, { force: true });
    const handle = openSync(fresh, "wx", 0o600);
    try {
      writeSync(handle, `${JSON.stringify(profile, null, 2)}\n`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
  flushFolder(dirname(path));
}

export function removeProfile(path: string): void {
  rmSync(path, { force: true });
  if (existsSync(dirname(path))) flushFolder(dirname(path));
}

/** Our two folders, for the owner alone, also when an older umask made them wider. */
export function privateFolder(folder: string): void {
  makeFolders(folder);
  if (process.platform === "win32") return;
  for (const each of [dirname(folder), folder]) {
    const isOurs = basename(each) === "portcullis" || each === folder;
    if (isOurs && (statSync(each).mode & 0o077) !== 0) chmodSync(each, 0o700);
  }
}

/** Makes sure that a login can be kept here, by doing it; answers the folders that were made for that, the outermost first. */
export function ensureWritable(folder: string): readonly string[] {
  const made = makeFolders(folder);
  const probe = join(folder, `.${process.pid}.tmp`);
  try {
    writeFileSync(probe, "", { mode: 0o600 });
    rmSync(probe, { force: true });
  } catch (error) {
    removeMade(made);
    throw unwritable(folder, error);
  }
  return made;
}

/** Takes back folders that were made for nothing. One that somebody uses by now stays. */
export function removeMade(made: readonly string[]): void {
  for (const folder of made.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // It is in use by now, or stays empty: neither is worth hiding what went wrong before.
      return;
    }
  }
}

/** Level by level: asked to make all levels at once, Node tries without end on file systems where nothing can be made, such as /proc. */
function makeFolders(folder: string): readonly string[] {
  const missing: string[] = [];
  try {
    for (let at = folder; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) missing.unshift(at);
    for (const each of missing) makeFolder(each);
  } catch (error) {
    throw unwritable(folder, error);
  }
  return missing;
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another ctl was faster.
    const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isThere) throw error;
  }
}

function unwritable(folder: string, error: unknown): Refusal {
  const why = (error as NodeJS.ErrnoException).code ?? "no reason";
  const hint =
    "Let XDG_CONFIG_HOME name a folder that you may write in: logins are kept in portcullis/profiles below it.";
  return new Refusal(
    exitCodes.failed,
    "DATA_FOLDER_UNUSABLE",
    `Nothing can be written in ${folder} (${why}).`,
    hint,
    error,
  );
}

function flushFolder(folder: string): void {
  // Windows does not open folders; there the rename has to be enough.
  if (process.platform === "win32") return;
  const handle = openSync(join(folder, "."), "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
