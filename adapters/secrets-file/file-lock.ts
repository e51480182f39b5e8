// A lock between processes that share a folder, made of hard links because Node has no flock. A holder that was killed is
// noticed and its lock taken over.
//
//  1. `<file>.lock` is a link to the holder's own file: linking succeeds for exactly one process.
//  2. A dead holder's lock is removed only by its heir, and there is one heir: whoever links `<file>.lock.heir-of.<id>`.
//     Without that, two processes that both saw the dead holder could remove each other's fresh lock.
//  3. An heir that dies before it has removed the lock has an heir itself.
//  4. A holder in another container or from before a restart of the machine cannot be looked up; its lock counts as
//     abandoned after a minute, which is many times longer than any lock is held.
import { link, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Fault } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import { errnoOf } from "./durable-file.ts";
import { formatIdentity, isAlive, newAttempt, parseIdentity, thisProcess } from "./process-identity.ts";

const foreignAgeMsMax = 60_000;
const inheritanceDepthMax = 32;

export interface LockPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

export interface HeldLock {
  /** Unique to this taking of the lock. */
  readonly id: string;
  /** Throws SECRETS_UNAVAILABLE when somebody took the lock for abandoned. */
  assertHeld(): Promise<void>;
}

export interface FileLock {
  /** Runs the work while no other process does; SECRETS_UNAVAILABLE when the wait was in vain. */
  hold<T>(work: (lock: HeldLock) => Promise<T>): Promise<T>;
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "latin1");
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

/** True when this call made the link, false when the name was taken. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === "EEXIST") return false;
    throw thrown;
  }
}

export async function openFileLock(file: string, waitMsMax: number, ports: LockPorts): Promise<FileLock> {
  const lockPath = `${file}.lock`;
  const self = await thisProcess();

  async function isAbandoned(holder: string, path: string): Promise<boolean> {
    const identity = parseIdentity(holder);
    if (identity !== undefined && identity.realm === self.realm) return !(await isAlive(identity));
    try {
      const { mtimeMs } = await stat(path);
      return ports.clock.now() / 1000 - mtimeMs > foreignAgeMsMax;
    } catch (thrown) {
      if (errnoOf(thrown) === "ENOENT") return false;
      throw thrown;
    }
  }

  function claimPath(holder: string): string {
    return `${lockPath}.heir-of.${parseIdentity(holder)?.id ?? "nobody"}`;
  }

  /** Removes the dead holder's lock if this process becomes its heir; the caller then tries for the lock again. */
  async function inherit(ticket: string, holder: string): Promise<void> {
    const claims: string[] = [];
    let dead = holder;
    for (let depth = 0; depth < inheritanceDepthMax; depth += 1) {
      const claim = claimPath(dead);
      claims.push(claim);
      if (await linked(ticket, claim)) {
        // From here on nobody else may remove this holder's lock, so what is read now cannot change before it is removed.
        if ((await textOf(lockPath)) === holder) {
          await rm(lockPath, { force: true });
          ports.log.warn("Took over the lock of a process that is gone", { lock: lockPath, holder });
        }
        for (const done of claims) await rm(done, { force: true });
        return;
      }
      const claimant = await textOf(claim);
      if (claimant === undefined || !(await isAbandoned(claimant, claim))) return;
      dead = claimant;
    }
  }

  async function acquire(ticket: string): Promise<void> {
    let waitedMs = 0;
    for (;;) {
      if (await linked(ticket, lockPath)) return;
      const holder = await textOf(lockPath);
      if (holder === undefined) continue;
      if (await isAbandoned(holder, lockPath)) await inherit(ticket, holder);
      if (waitedMs >= waitMsMax) {
        const pid = parseIdentity(holder)?.pid ?? null;
        throw new Fault(
          "SECRETS_UNAVAILABLE",
          `Another process (${pid ?? "unknown"}) has held ${lockPath} for more than ${waitMsMax} ms.`,
          { retry: "later", facts: { reason: "locked", lock: lockPath, pid } },
        );
      }
      const pauseMs = 2 + ((ports.random.bytes(1)[0] ?? 0) % 16);
      waitedMs += pauseMs;
      await ports.timers.sleep(pauseMs);
    }
  }

  return {
    async hold(work) {
      const attempt = newAttempt(self, ports.random);
      const holder = formatIdentity(attempt);
      const ticket = `${lockPath}.by.${holder}`;
      const isHeld = async () => (await textOf(lockPath)) === holder;
      try {
        await writeFile(ticket, holder, { flag: "wx", mode: 0o600 });
        await acquire(ticket);
        return await work({
          id: attempt.id,
          async assertHeld() {
            if (await isHeld()) return;
            throw new Fault("SECRETS_UNAVAILABLE", `The lock ${lockPath} was taken over; nothing was changed.`, {
              retry: "now",
              facts: { reason: "lock lost", lock: lockPath },
            });
          },
        });
      } finally {
        if (await isHeld()) await rm(lockPath, { force: true });
        await rm(ticket, { force: true });
      }
    },
  };
}

/**
 * Removes what killed processes left beside the file. Only the lock's holder may call it: nobody else writes copies, and a
 * claim on any lock but the present one has had its use.
 */
export async function sweepLeftovers(file: string, lock: HeldLock): Promise<void> {
  const folder = dirname(file);
  const self = await thisProcess();
  const copy = `${basename(file)}.tmp.`;
  const ticket = `${basename(file)}.lock.by.`;
  const claim = `${basename(file)}.lock.heir-of.`;
  for (const name of await readdir(folder)) {
    const owner = name.startsWith(ticket) ? parseIdentity(name.slice(ticket.length)) : undefined;
    const isOrphan = owner !== undefined && owner.realm === self.realm && !(await isAlive(owner));
    const isSpentClaim = name.startsWith(claim) && name !== claim + lock.id;
    if (isOrphan || isSpentClaim || name.startsWith(copy)) await rm(join(folder, name), { force: true });
  }
}
