// Passwords as argon2id hashes. One hash takes tens of milliseconds and 19 MiB on purpose, so only a few run at a time and only so
// many may wait: whoever floods the login is refused early instead of taking the memory of everybody else.
import { hash, verify } from "@node-rs/argon2";
import { Fault } from "../../contracts/src/fault.ts";

export interface PasswordHashing {
  hash(password: string): Promise<string>;
  /** False also for a password that is too long to be one. */
  verify(passwordHash: string, password: string): Promise<boolean>;
}

export interface PasswordHashingLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
}

const passwordBytesMax = 1_024;
/** The least that OWASP asks of argon2id. */
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;

const limitsDefault: PasswordHashingLimits = { runningMax: 2, waitingMax: 64 };

export function createPasswordHashing(limits: PasswordHashingLimits = limitsDefault): PasswordHashing {
  const inTurn = createTurns(limits);
  const fits = (password: string): boolean => password.length > 0 && Buffer.byteLength(password) <= passwordBytesMax;
  return {
    async hash(password) {
      if (!fits(password)) {
        throw new Fault("INVALID_ARGUMENT", `A password has 1 to ${passwordBytesMax} bytes.`, { retry: "never" });
      }
      return inTurn(() => hash(password, cost));
    },
    async verify(passwordHash, password) {
      if (!fits(password)) return false;
      return inTurn(() => verify(passwordHash, password));
    },
  };
}

function createTurns(limits: PasswordHashingLimits): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function take(): Promise<void> {
    if (running < limits.runningMax) {
      running += 1;
      return;
    }
    if (waiting.length >= limits.waitingMax) {
      throw new Fault("RESOURCE_EXHAUSTED", "Too many logins at once: try again in a moment.", { retry: "later" });
    }
    // Whoever finishes hands its place on, so that nobody slips in between.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function give(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return async (work) => {
    await take();
    try {
      return await work();
    } finally {
      give();
    }
  };
}
