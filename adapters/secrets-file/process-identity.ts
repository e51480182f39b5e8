// Who holds a lock, in a form that another process can judge later: a process number alone is not enough, because numbers
// are used again and mean nothing in another container or after a restart of the machine.
import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import type { Random } from "../../ports/random.ts";
import { errnoOf } from "./durable-file.ts";

export interface ProcessIdentity {
  /** This boot of this machine and this container's process numbers: only within it can a number be looked up. */
  readonly realm: string;
  readonly pid: number;
  /** When the process started, in the kernel's ticks; "0" where the kernel does not say. */
  readonly started: string;
  /** A new one for every attempt to take the lock. */
  readonly id: string;
}

const identityPattern = /^([0-9a-f]{16})\.(\d{1,10})\.(\d{1,20})\.([0-9a-f-]{36})$/;

export function formatIdentity(identity: ProcessIdentity): string {
  return `${identity.realm}.${identity.pid}.${identity.started}.${identity.id}`;
}

export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [, realm, pid, started, id] = identityPattern.exec(text) ?? [];
  if (realm === undefined || pid === undefined || started === undefined || id === undefined) return undefined;
  return { realm, pid: Number(pid), started, id };
}

/** Where there is no /proc the answer is the fallback: the process number must then do alone. */
async function fromProc(read: () => Promise<string>, fallback: string): Promise<string> {
  try {
    return await read();
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return fallback;
  }
}

interface Stat {
  readonly state: string;
  readonly started: string;
}

async function statOf(pid: number): Promise<Stat | undefined> {
  const text = await fromProc(() => readFile(`/proc/${pid}/stat`, "latin1"), "");
  // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, started] = [fields[0], fields[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}

/** The part of the identity that stays the same for the whole life of this process. */
export async function thisProcess(): Promise<Omit<ProcessIdentity, "id">> {
  const boot = await fromProc(() => readFile("/proc/sys/kernel/random/boot_id", "latin1"), "");
  const numbers = await fromProc(() => readlink("/proc/self/ns/pid"), "");
  const realm = createHash("sha256").update(`${hostname()}\n${boot}\n${numbers}`).digest("hex").slice(0, 16);
  return { realm, pid: process.pid, started: (await statOf(process.pid))?.started ?? "0" };
}

export function newAttempt(self: Omit<ProcessIdentity, "id">, random: Random): ProcessIdentity {
  return { ...self, id: random.uuid() };
}

/** Whether that process still runs; only meaningful for an identity of the own realm. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  try {
    process.kill(identity.pid, 0);
  } catch (thrown) {
    if (errnoOf(thrown) === "ESRCH") return false;
    if (errnoOf(thrown) !== "EPERM") throw thrown;
  }
  const stat = await statOf(identity.pid);
  if (stat === undefined || identity.started === "0") return true;
  // A killed process whose parent has not noticed yet still has its number, but will never release anything.
  return stat.started === identity.started && stat.state !== "Z" && stat.state !== "X";
}
