// Passwords as argon2id hashes. One hash takes tens of milliseconds and 19 MiB on purpose, and anybody may ask for one by naming somebody:
//  1. One runs at a time, and only so many wait: whoever floods the login is refused early instead of taking the memory of everybody else.
//  2. A try from outside leaves its place only some time after its answer, so that all of them together take a quarter of one processor. Who is alone
//     does not notice.
//  3. Addresses take turns, and one has at most a quarter of the waiting places: a flood from one address keeps nobody else waiting for long.
import { hash, verify } from "@node-rs/argon2";
import { Fault } from "../../contracts/src/fault.ts";
import type { Timers } from "../../ports/timers.ts";

export interface PasswordHashing {
  hash(password: string): Promise<string>;
  /** False also for a password that is too long to be one. `from` is the address of a try from outside. */
  verify(passwordHash: string, password: string, from?: string): Promise<boolean>;
}

interface PasswordHashingLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** How long a try from outside keeps its place after its answer. */
  readonly restMs: number;
}

const passwordBytesMax = 1_024;
/** The least that OWASP asks of argon2id. */
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;

const limitsDefault: PasswordHashingLimits = { runningMax: 1, waitingMax: 64, restMs: 90 };
/** Of the waiting places. */
const shareOfAddress = 4;

export function createPasswordHashing(
  timers: Pick<Timers, "after">,
  limits: PasswordHashingLimits = limitsDefault,
): PasswordHashing {
  const inTurn = createTurns(timers, limits);
  const fits = (password: string): boolean => password.length > 0 && Buffer.byteLength(password) <= passwordBytesMax;
  return {
    async hash(password) {
      if (!fits(password)) {
        throw new Fault("INVALID_ARGUMENT", `A password has 1 to ${passwordBytesMax} bytes.`, { retry: "never" });
      }
      return inTurn(() => hash(password, cost));
    },
    async verify(passwordHash, password, from) {
      if (!fits(password)) return false;
      return inTurn(() => verify(passwordHash, password), from);
    },
  };
}

function createTurns(timers: Pick<Timers, "after">, { runningMax, waitingMax, restMs }: PasswordHashingLimits) {
  /** By address, whose turn is next first. */
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;
  let waitingCount = 0;

  async function take(from: string | undefined): Promise<void> {
    if (running < runningMax) {
      running += 1;
      return;
    }
    const line = waiting.get(from ?? "") ?? [];
    const isOverShare = from !== undefined && line.length >= Math.ceil(waitingMax / shareOfAddress);
    if (waitingCount >= waitingMax || isOverShare) {
      throw new Fault("RESOURCE_EXHAUSTED", "Too many logins at once: try again in a moment.", { retry: "later" });
    }
    waiting.set(from ?? "", line);
    waitingCount += 1;
    // Whoever finishes hands its place on, so that nobody slips in between.
    await new Promise<void>((resolve) => line.push(resolve));
  }

  function give(): void {
    for (const [from, line] of waiting) {
      const next = line.shift();
      waiting.delete(from);
      if (line.length > 0) waiting.set(from, line);
      waitingCount -= 1;
      next?.();
      return;
    }
    running -= 1;
  }

  return async <T>(work: () => Promise<T>, from?: string): Promise<T> => {
    await take(from);
    try {
      return await work();
    } finally {
      if (from === undefined) give();
      else timers.after(restMs, give);
    }
  };
}
