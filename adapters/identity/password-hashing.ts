// Passwords as argon2id hashes. One hash takes tens of milliseconds and 19 MiB on purpose, and anybody may ask for one by naming somebody:
//  1. One runs at a time, and only so many wait.
//  2. A try from outside leaves its place only some time after its answer, so that all of them together take a quarter of one processor. Who is alone
//     does not notice.
//  3. Whose address tried wrongly least lately goes first (password-turns.ts): a flood, from one address or from many, keeps nobody else waiting for long.
import { hash, verify } from "@node-rs/argon2";
import { Fault } from "../../contracts/src/fault.ts";
import type { Timers } from "../../ports/timers.ts";
import { createPasswordTurns, type PasswordTurnsLimits } from "./password-turns.ts";

export interface PasswordHashing {
  hash(password: string): Promise<string>;
  /** False also for a password that is too long to be one. `from` is the address of a try from outside. */
  verify(passwordHash: string, password: string, from?: string): Promise<boolean>;
}

const passwordBytesMax = 1_024;
/** The least that OWASP asks of argon2id. */
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;

const limitsDefault: PasswordTurnsLimits = { runningMax: 1, waitingMax: 1_024, waitingPerAddressMax: 16, restMs: 90 };

export function createPasswordHashing(
  timers: Pick<Timers, "after">,
  limits: PasswordTurnsLimits = limitsDefault,
): PasswordHashing {
  const { inTurn, wasRight } = createPasswordTurns(timers, limits);
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
      const isRight = await inTurn(() => verify(passwordHash, password), from);
      if (isRight && from !== undefined) wasRight(from);
      return isRight;
    },
  };
}
