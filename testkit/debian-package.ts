// A program from Debian's packages: found on PATH, else in the project's cache, else fetched there with the libraries that this machine
// lacks, without installing anything.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const cacheRoot = join(repositoryRoot(), ".cache");
const downloadMsMax = 600_000;

/** A bench runs from its bundle, a test from the source: both use one cache. */
function repositoryRoot(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "package-lock.json"))) return folder;
  return dirname(here);
}

export interface DebianProgram {
  readonly packageName: string;
  /** What it may be called where it is installed. */
  readonly names: readonly string[];
  /** Where it lies inside the package. */
  readonly binaryPath: string;
  /** The folder below the project's cache. */
  readonly cacheName: string;
  /** Packages that it is of no use without and does not ask for itself. */
  readonly together?: readonly string[];
  /** What it is asked for its version with; "--version" unless it says otherwise. */
  readonly versionFlag?: string;
}

export interface FoundProgram {
  readonly binary: string;
  /** Folders of the libraries that came with it; empty for an installed one. */
  readonly libraryFolders: readonly string[];
}

/** The environment in which a found program finds its libraries. */
export function environmentOf(found: FoundProgram): Record<string, string> {
  const libraries = [...found.libraryFolders, process.env["LD_LIBRARY_PATH"] ?? ""].filter((each) => each !== "");
  const environment = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(environment), LD_LIBRARY_PATH: libraries.join(delimiter) };
}

/** A usable binary. Fetching it is the last resort, and happens once per machine. */
export async function findProgram(
  program: DebianProgram,
  folder: string = join(cacheRoot, program.cacheName),
  searchPath: string = process.env["PATH"] ?? "",
): Promise<FoundProgram> {
  const { packageName } = program;
  const howToGetIt = `${packageName} was not found: install the package (on Debian: apt-get install ${packageName}) or put the binary on PATH.`;
  const installed = await onPath(program.names, searchPath);
  if (installed !== undefined) return { binary: installed, libraryFolders: [] };
  const cached = await inCache(program, folder);
  if (cached !== undefined) return cached;
  try {
    await fetchIntoCache(program, folder);
  } catch (cause) {
    // A parallel worker may have finished while this one failed.
    if ((await inCache(program, folder)) === undefined) throw new Error(howToGetIt, { cause });
  }
  const fetched = await inCache(program, folder);
  if (fetched === undefined) throw new Error(howToGetIt);
  return fetched;
}

async function onPath(names: readonly string[], searchPath: string): Promise<string | undefined> {
  for (const name of names) {
    for (const folder of searchPath.split(delimiter)) {
      if (folder !== "" && (await isExecutable(join(folder, name)))) return join(folder, name);
    }
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Cached programs lie in one folder per version and processor, each put there by one rename. The newest is used. */
async function inCache({ binaryPath }: DebianProgram, folder: string): Promise<FoundProgram | undefined> {
  const found = await readdir(folder).catch(() => []);
  for (const name of found
    .filter((each) => each.endsWith(`-${process.arch}`))
    .sort()
    .reverse()) {
    const binary = join(folder, name, binaryPath);
    if (await isExecutable(binary)) return { binary, libraryFolders: await libraryFoldersIn(join(folder, name)) };
  }
  return undefined;
}

async function libraryFoldersIn(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const libraries = entries.filter((entry) => /\.so(\.|$)/.test(entry.name) && !entry.parentPath.endsWith("/chromium"));
  return [...new Set(libraries.map((entry) => entry.parentPath))].sort();
}

/** Workers may fetch side by side, each in a folder of its own; the first rename wins and the others use its result. */
async function fetchIntoCache(program: DebianProgram, folder: string): Promise<void> {
  const { packageName, binaryPath, together = [], versionFlag = "--version" } = program;
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, ".fetch-"));
  try {
    const unpacked = join(work, "unpacked");
    for (const file of await downloadPackages([packageName, ...together], work))
      await run("dpkg-deb", ["-x", file, unpacked]);
    const binary = join(unpacked, binaryPath);
    const LD_LIBRARY_PATH = (await libraryFoldersIn(unpacked)).join(delimiter);
    const said = await run(binary, [versionFlag], { env: { ...process.env, LD_LIBRARY_PATH } });
    // Some say it where others complain.
    const version = /\d+(\.\d+)+/.exec(said.stdout + said.stderr)?.[0];
    if (version === undefined) throw new Error(`${packageName} does not say its version`);
    const target = join(folder, `${version}-${process.arch}`);
    await rename(unpacked, target).catch(async (cause: unknown) => {
      if (!(await isExecutable(join(target, binaryPath)))) throw cause;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Tries the machine's package lists first, then lists of our own: an ordinary user may not refresh the machine's. */
async function downloadPackages(names: readonly string[], work: string): Promise<readonly string[]> {
  const archives = join(work, "archives");
  await mkdir(join(archives, "partial"), { recursive: true });
  const settings = [`Dir::Cache::archives=${archives}`, "Debug::NoLocking=1", "APT::Sandbox::User="];
  // What is installed already is fetched as well: the rest of the system is none of its business.
  const install = ["install", "--reinstall", "--download-only", "--no-install-recommends", "--yes", ...names];
  const apt = (more: readonly string[], verb: readonly string[]) =>
    run("apt-get", [...[...settings, ...more].flatMap((setting) => ["-o", setting]), ...verb], {
      cwd: work,
      timeout: downloadMsMax,
      maxBuffer: 10_000_000,
    });
  await apt([], install).catch(async () => {
    const own = await privateState(work);
    await apt(own, ["update"]);
    await apt(own, install);
  });
  const found = (await readdir(archives)).filter((each) => each.endsWith(".deb"));
  if (!found.some((each) => each.startsWith(`${names[0]}_`))) throw new Error("apt-get downloaded nothing");
  return found.map((each) => join(archives, each));
}

async function privateState(work: string): Promise<readonly string[]> {
  const state = join(work, "apt-state");
  await mkdir(join(state, "lists", "partial"), { recursive: true });
  // What is installed on this machine need not be fetched.
  const status = join(state, "status");
  await writeFile(status, await readFile("/var/lib/dpkg/status").catch(() => ""));
  return [`Dir::State=${state}`, `Dir::State::status=${status}`, `Dir::Cache=${join(work, "apt-cache")}`];
}
