// One ctl at a time may use a profile's refresh token: it works once, and using it twice ends the whole login. The lock is a file
// that appears complete (a link to a written file), names its holder, and is taken from a holder that died.
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { toUnixMs } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Timers } from "../../../ports/timers.ts";
import { interrupted, Refusal } from "../failure.ts";
import { privateFolder } from "./profile.ts";

interface LockPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/** What is done under the lock is bounded well below this, so an older lock belongs to a process id that was given away again. */
const ageMsMax = 60_000;
const patienceMs = 45_000;
const pauseMs = 40;

export function lockPathOf(profilePath: string): string {
  return profilePath.replace(/\.json$/, ".lock");
}

export async function underLock<Value>(path: string, ports: LockPorts, work: () => Promise<Value>): Promise<Value> {
  privateFolder(dirname(path));
  // The moment makes two locks of one process id different.
  const mine = `${process.pid} ${ports.clock.now()}\n`;
  const startedMs = toUnixMs(ports.clock.now());
  while (!tryLock(path, mine)) {
    breakIfAbandoned(path, ports.clock);
    if (ports.signal.aborted) throw interrupted();
    if (toUnixMs(ports.clock.now()) - startedMs > patienceMs) {
      throw new Refusal(
        exitCodes.unavailable,
        "IDENTITY_UNAVAILABLE",
        "Another ctl is renewing this login and does not finish.",
        `If none runs, remove ${path}.`,
      );
    }
    await ports.timers.sleep(pauseMs, ports.signal);
  }
  try {
    return await work();
  } finally {
    if (contentOf(path) === mine) rmSync(path, { force: true });
  }
}

function tryLock(path: string, mine: string): boolean {
  const written = `${path}.${process.pid}.tmp`;
  writeFileSync(written, mine, { mode: 0o600 });
  try {
    linkSync(written, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(written, { force: true });
  }
}

/** Moves an abandoned lock aside; if it was another one by then, it is put back. */
function breakIfAbandoned(path: string, clock: Clock): void {
  const seen = contentOf(path);
  if (seen === undefined || !isAbandoned(path, seen, clock)) return;
  const aside = `${path}.${process.pid}.broken`;
  try {
    renameSync(path, aside);
    if (contentOf(aside) !== seen) linkSync(aside, path);
  } catch (error) {
    // Somebody else was faster, in breaking it or in taking it: the next round sees how it stands.
    if (!["ENOENT", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function isAbandoned(path: string, content: string, clock: Clock): boolean {
  const pid = Number(content.split(" ")[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return true;
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && toUnixMs(clock.now()) - found.mtimeMs > ageMsMax;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not allowed to signal it means that it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
