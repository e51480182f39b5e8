// How a mind is started so that it has nothing: Node's permissions with its own file as the only grant, and around it, where this machine allows them, a network
// and a file system of its own. Each way is a command line; which of them holds is tried, not assumed (open-mind.ts).
import { existsSync, realpathSync } from "node:fs";
import type { Isolation } from "../../ports/mind.ts";

export interface MindPlace {
  /** The bundle, one file; its name ends in bot-mind.js. */
  readonly entry: string;
  readonly node: string;
  /** Folders that are empty for it: of data, of the database's socket, of other servers' sockets. */
  readonly hidden: readonly string[];
  readonly isRoot: boolean;
  /** Of util-linux; undefined where there are none. */
  readonly unshare: string | undefined;
  readonly setpriv: string | undefined;
}

export interface Way {
  readonly isolation: Isolation;
  readonly what: string;
  readonly command: readonly [string, ...string[]];
}

export const memoryBytesMax = 256_000_000;
const heapMb = 160;

/** Runs what follows the folders, which it covers first. Paths come as arguments: nothing of them is read as a command. */
const cover =
  'n="$1"; shift; while [ "$n" -gt 0 ]; do mount -t tmpfs -o ro,size=4k none "$1" || exit 97; shift; n=$((n-1)); done; exec "$@"';
const noPowers = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"];
const nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/** The best first. */
export function waysOf(place: MindPlace): readonly Way[] {
  const { isRoot, setpriv } = place;
  const drops = isRoot && setpriv !== undefined ? [true, false] : [false];
  const spaces = drops.flatMap((isDropped) => namespaced(place, isDropped));
  const plain = drops.map((isDropped): Way => {
    const as = isDropped && setpriv !== undefined ? [setpriv, ...nobody, ...noPowers] : [];
    return { isolation: "process", what: named("a process", isDropped), command: joined([...as, ...nodeOf(place)]) };
  });
  return [...spaces, ...plain];
}

function namespaced(place: MindPlace, isDropped: boolean): readonly Way[] {
  const { unshare, setpriv, isRoot } = place;
  const [env, shell] = [toolAt("env"), toolAt("sh")];
  if (unshare === undefined || setpriv === undefined || env === undefined || shell === undefined) return [];
  const folders = coverable(place);
  const spaces = [unshare, "--net", "--mount", ...(isRoot ? [] : ["--map-root-user"])];
  const covered = [shell, "-c", cover, "sh", String(folders.length), ...folders];
  // A shell puts its folder into the environment, so that is emptied once more.
  const bare = [env, "-i", setpriv, ...(isDropped ? nobody : []), ...noPowers];
  const command = joined([...spaces, ...covered, ...bare, ...nodeOf(place)]);
  return [{ isolation: "namespaces", what: named("namespaces of its own", isDropped), command }];
}

function named(what: string, isDropped: boolean): string {
  return isDropped ? `${what}, as nobody` : what;
}

function nodeOf({ node, entry }: MindPlace): readonly string[] {
  return [node, "--permission", `--allow-fs-read=${entry}`, `--max-old-space-size=${heapMb}`, entry];
}

function joined(parts: readonly string[]): readonly [string, ...string[]] {
  const [first, ...rest] = parts;
  if (first === undefined) throw new Error("a mind has no command");
  return [first, ...rest];
}

/** A folder that holds the program itself cannot be covered; the probe shows whether that leaves something open. */
function coverable({ hidden, entry, node }: MindPlace): readonly string[] {
  const there = [...new Set(hidden.filter((folder) => existsSync(folder)).map((folder) => realpathSync(folder)))];
  const holds = (folder: string): boolean => [entry, node].some((path) => path.startsWith(`${folder}/`));
  // Inner ones first: what is covered already cannot be found below what covers it.
  return there.filter((folder) => folder !== "/" && !holds(folder)).sort((left, right) => right.length - left.length);
}

/** Only where systems keep them: there is no search path to be led by. */
export function toolAt(name: string): string | undefined {
  return ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
    .map((folder) => `${folder}/${name}`)
    .find((path) => existsSync(path));
}
