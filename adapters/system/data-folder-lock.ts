// One running program per data folder. The lock is a file that names its holder; it appears whole or not at all (written
// beside, then linked), and the holder is alive if a process with its id *and* its start time exists in this boot: ids are
// used again, the pair is not.
//
// Taking over the lock of a dead holder is where such files usually fail: two starters both see a dead holder, and the
// slower one removes the lock that the faster one has just made. Here:
//  1. Every lock has a nonce. Who wants to replace lock X must first create the one file that is named after X's nonce (a
//     claim, made by link, so exactly one succeeds), and then look whether the lock is still X.
//  2. Only the claimant of X may replace X, by a rename; it removes its claim afterwards. Who claims X later finds that
//     the lock is no longer X, and starts over.
//  3. A claimant that died before its rename is itself replaced in the same way: claims form a chain, and only the live end
//     of it acts.

import { link, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { Fault } from "../../contracts/src/fault.ts";
import * as instant from "../../contracts/src/instant.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";

export interface Lock {
  release(): Promise<void>;
}

export interface Holder {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks between boot and the start of the process. Empty where there is no /proc. */
  readonly processStart: string;
  readonly bootId: string;
  readonly host: string;
  readonly startedAt: string;
  readonly nonce: string;
}

const lockName = "portcullis.lock";
const roundsMax = 50;
const chainMax = 20;

export async function takeLock(folder: string, ports: { clock: Clock; random: Random }): Promise<Lock> {
  const path = join(folder, lockName);
  const me = await describeSelf(ports);
  const draft = `${path}.${me.nonce}.draft`;
  await writeFile(draft, `${JSON.stringify(me)}\n`, { mode: 0o600, flush: true });
  try {
    for (let round = 0; round < roundsMax; round += 1) {
      if (await tryLink(draft, path)) return await heldLock(folder, path, me);
      const holder = await readHolder(path);
      if (holder === "absent") continue;
      if (holder !== "damaged" && (await isAlive(holder))) throw inUse(folder, path, holder);
      if (await takeOver(path, draft, holder === "damaged" ? "damaged" : holder.nonce)) {
        return await heldLock(folder, path, me);
      }
    }
    throw new Fault("DATA_FOLDER_IN_USE", `The data folder ${folder} is being taken by several programs at once.`, {
      retry: "later",
    });
  } finally {
    await rm(draft, { force: true });
  }
}

async function heldLock(folder: string, path: string, me: Holder): Promise<Lock> {
  await removeRemains(folder, me);
  return {
    async release(): Promise<void> {
      const holder = await readHolder(path);
      if (typeof holder === "object" && holder.nonce === me.nonce) await rm(path, { force: true });
    },
  };
}

/** Claims on earlier locks can succeed no more, and a draft is of use to its living maker only. */
async function removeRemains(folder: string, me: Holder): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${lockName}.`) || name.includes(me.nonce)) continue;
    const file = join(folder, name);
    const maker = await readHolder(file);
    if (name.endsWith(".claim") || (typeof maker === "object" && !(await isAlive(maker))))
      await rm(file, { force: true });
  }
}

/** Replaces the dead lock with this nonce by ours. False when somebody else was faster, or is at it. */
async function takeOver(path: string, draft: string, deadNonce: string): Promise<boolean> {
  const claims: string[] = [];
  let nonce = deadNonce;
  for (let depth = 0; depth < chainMax; depth += 1) {
    const claim = `${path}.${nonce}.claim`;
    claims.push(claim);
    if (await tryLink(draft, claim)) return replace(path, draft, deadNonce, claims);
    const claimant = await readHolder(claim);
    // A live claimant has won; a claim that just vanished means that the lock has changed.
    if (typeof claimant !== "object" || (await isAlive(claimant))) return false;
    nonce = claimant.nonce;
  }
  return false;
}

async function replace(path: string, draft: string, deadNonce: string, claims: readonly string[]): Promise<boolean> {
  const holder = await readHolder(path);
  const same = holder === "damaged" ? deadNonce === "damaged" : holder !== "absent" && holder.nonce === deadNonce;
  if (!same) {
    const mine = claims.at(-1);
    if (mine !== undefined) await rm(mine, { force: true });
    return false;
  }
  // A rename between two links of one file does nothing, and the claim is a link of the draft: so rename a fresh one.
  const fresh = `${draft}.fresh`;
  await writeFile(fresh, await readFile(draft), { mode: 0o600, flush: true });
  await rename(fresh, path);
  for (const claim of claims.toReversed()) await rm(claim, { force: true });
  return true;
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<Holder | "absent" | "damaged"> {
  try {
    const value: unknown = parseJson(await readFile(path, "utf8"));
    return isHolder(value) ? value : "damaged";
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "absent";
    if (error instanceof SyntaxError) return "damaged";
    throw error;
  }
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== "object" || value === null) return false;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const texts = ["processStart", "bootId", "host", "startedAt", "nonce"];
  return Number.isInteger(fields["pid"]) && texts.every((name) => typeof fields[name] === "string");
}

/** A holder on another machine cannot be looked at: it counts as alive, and the sentence says which file to remove. */
async function isAlive(holder: Holder): Promise<boolean> {
  if (holder.host !== hostname()) return true;
  if (holder.bootId !== (await bootId())) return false;
  if (holder.processStart !== "") return (await processStart(holder.pid)) === holder.processStart;
  try {
    process.kill(holder.pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

function inUse(folder: string, path: string, holder: Holder): Fault {
  const elsewhere = holder.host !== hostname();
  const who = `process ${holder.pid}${elsewhere ? ` on ${holder.host}` : ""} (started ${holder.startedAt})`;
  const advice = elsewhere ? `stop it, or remove ${path} if that machine is gone,` : "stop it";
  return new Fault(
    "DATA_FOLDER_IN_USE",
    `The data folder ${folder} is in use by ${who}; ${advice} or choose another PORTCULLIS_DATA_DIR.`,
    { retry: "never", facts: { folder, pid: holder.pid, host: holder.host, startedAt: holder.startedAt } },
  );
}

async function describeSelf(ports: { clock: Clock; random: Random }): Promise<Holder> {
  return {
    pid: process.pid,
    processStart: (await processStart(process.pid)) ?? "",
    bootId: await bootId(),
    host: hostname(),
    startedAt: instant.format(ports.clock.now()),
    nonce: ports.random.uuid(),
  };
}

/** The command's name stands in parentheses and may itself contain spaces and parentheses: count from the last one. */
async function processStart(pid: number): Promise<string | undefined> {
  const text = await readOrUndefined(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // A zombie has ended; only its parent has not looked yet.
  return fields[0] === "Z" ? undefined : fields[19];
}

async function bootId(): Promise<string> {
  return (await readOrUndefined("/proc/sys/kernel/random/boot_id"))?.trim() ?? "";
}

async function readOrUndefined(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ESRCH")) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
