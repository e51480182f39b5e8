// What an earlier server of the same data may have left: processes that are still on their way out, a pid file, a socket.
// We hold the data folder's lock when we come here, so whatever still runs on this data lost its parent. It is given time
// to end by itself, then told to, then made to; only then are its files removed. Taking a pid file away earlier would also
// take away PostgreSQL's own protection against two servers on one data folder.
//
// Processes are recognised by the cluster name, which PostgreSQL shows in the command line of each: every user may read
// that, whereas the working directory of another user's process is hidden even from root in many containers.
import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";
import { isCode, startFailed } from "./binaries.ts";
import { type Places, serverPort } from "./places.ts";

export function clusterNameFor(clusterFolder: string): string {
  return `portcullis-${createHash("sha256").update(clusterFolder).digest("hex").slice(0, 16)}`;
}

export interface ServerProcess {
  readonly pid: number;
  /** The main process has our command line; its children carry titles. */
  readonly main: boolean;
}

/** Every process of the server with this name. */
export async function serverProcesses(clusterName: string, uid: number): Promise<readonly ServerProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => lookAt(pid, clusterName, uid)));
  return found.filter((process_) => process_ !== undefined);
}

async function lookAt(pid: number, clusterName: string, uid: number): Promise<ServerProcess | undefined> {
  if (pid === process.pid) return undefined;
  try {
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
    const title = words[0] ?? "";
    const child = title.startsWith(`postgres: ${clusterName}: `);
    const main = words.includes(`cluster_name=${clusterName}`) && ["postgres", "sh"].includes(basename(title));
    if (!child && !main) return undefined;
    return (await stat(`/proc/${pid}`)).uid === uid ? { pid, main } : undefined;
  } catch (error) {
    // It ended while we looked.
    if (isCode(error, ["ENOENT", "ESRCH", "EACCES"])) return undefined;
    throw error;
  }
}

interface Step {
  readonly signal: NodeJS.Signals | undefined;
  readonly waitMs: number;
}

/** A server that lost its parent is ending already: it gets time before it gets a second signal. */
const steps: readonly Step[] = [
  { signal: undefined, waitMs: 5_000 },
  { signal: "SIGQUIT", waitMs: 3_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];
/** What is left without its main process can do no more harm or good, and a stop has little time. */
const remainsSteps: readonly Step[] = [
  { signal: undefined, waitMs: 300 },
  { signal: "SIGQUIT", waitMs: 300 },
  { signal: "SIGKILL", waitMs: 2_000 },
];
const pollMs = 25;

export interface OldServer {
  readonly clusterName: string;
  readonly uid: number;
  readonly timers: Timers;
  readonly log: Log;
}

/** Waits for every process of an earlier server to end, with growing emphasis. Resolves to those that remain. */
async function outliveOldServer(server: OldServer): Promise<readonly number[]> {
  return outlive(server, () => true, steps);
}

/**
 * Ends what a server of ours left behind when its main process was killed. If another main process is there, a newer
 * server has started since and has seen to it already; nothing of that one may be touched.
 */
export async function endRemains(server: OldServer): Promise<readonly number[]> {
  const found = await serverProcesses(server.clusterName, server.uid);
  if (found.some((process_) => process_.main)) return [];
  const pids = new Set(found.map((process_) => process_.pid));
  return outlive(server, (pid) => pids.has(pid), remainsSteps);
}

async function outlive(
  server: OldServer,
  concerns: (pid: number) => boolean,
  allSteps: readonly Step[],
): Promise<readonly number[]> {
  const look = async (): Promise<readonly number[]> => {
    const found = await serverProcesses(server.clusterName, server.uid);
    return found.map((process_) => process_.pid).filter(concerns);
  };
  let left = await look();
  for (const step of allSteps) {
    if (left.length === 0) return left;
    if (step.signal === undefined) server.log.info("waiting for an earlier database server to end", { pids: left });
    else signalAll(left, step.signal, server.log);
    left = await lookFor(step.waitMs, look, server.timers);
  }
  return left;
}

/** Looks again and again until nothing is left or the time is over; what a look itself takes counts as well. */
async function lookFor(
  waitMs: number,
  look: () => Promise<readonly number[]>,
  timers: Timers,
): Promise<readonly number[]> {
  let over = false;
  const cancel = timers.after(waitMs, () => {
    over = true;
  });
  let left = await look();
  while (left.length > 0 && !over) {
    await timers.sleep(pollMs);
    left = await look();
  }
  cancel();
  return left;
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals, log: Log): void {
  log.warn("an earlier database server does not end by itself", { pids, signal });
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!isCode(error, ["ESRCH"])) throw error;
    }
  }
}

/** Clears the way for a start. */
export async function clearOldServer(server: OldServer, places: Places): Promise<void> {
  const left = await outliveOldServer(server);
  if (left.length > 0) {
    throw startFailed(
      `An earlier PostgreSQL server of ${places.clusterFolder} does not end (processes ${left.join(", ")}).`,
    );
  }
  const socket = join(places.socketFolder, `.s.PGSQL.${serverPort}`);
  for (const stale of [join(places.clusterFolder, "postmaster.pid"), socket, `${socket}.lock`]) {
    await rm(stale, { force: true });
  }
}
