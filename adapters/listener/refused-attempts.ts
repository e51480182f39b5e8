// Reports refused attempts to change something, for the gates and servers that turn people away before any service hears of it. Reading is not reported.
//
//  1. Each is written by itself, at most twenty a minute for one caller and operation; how many more there were is said by the next one. Strangers
//     are one caller with one window for everything, so that nobody who proved nothing can make the record grow at will.
//  2. What waits for the store is bounded; beyond that it is counted and logged, because the refusal itself must not depend on it.

import { changesState } from "../../contracts/src/authority.ts";
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { RefusedAttempt, TellRefusal } from "../../ports/attempts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Crash } from "../../ports/crash.ts";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import { type AttemptWindow, attemptWindow } from "./attempt-window.ts";

/** Whoever showed no token, or one that is not ours. */
export const stranger = { actor: "principal:nobody" } as const satisfies RefusedAttempt["identity"];

export interface RefusedAttempts {
  readonly tell: TellRefusal;
  /** Waits for what is being written. */
  close(): Promise<void>;
}

interface RefusedAttemptsPorts {
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
  readonly log: Log;
  readonly crash: Crash;
}

const windowsMax = 1_000;
const waitingMax = 500;
const targetLengthMax = 200;
const reasonLengthMax = 1_900;
const control = /[\p{Cc}\u2028\u2029]/gu;

export function createRefusedAttempts({ store, clock, log, crash }: RefusedAttemptsPorts): RefusedAttempts {
  const windows = new Map<string, AttemptWindow>();
  const waiting = new Set<Promise<void>>();

  /** How many went unreported before this one; undefined when this one is too many itself. */
  function admitted({ identity, operation }: RefusedAttempt): number | undefined {
    const key = identity.actor === stranger.actor ? stranger.actor : `${identity.actor} ${operation}`;
    let window = windows.get(key);
    if (window === undefined) {
      if (windows.size >= windowsMax) windows.clear();
      window = attemptWindow(clock);
      windows.set(key, window);
    }
    return window.admit(waiting.size >= waitingMax);
  }

  async function write(refused: RefusedAttempt, more: number): Promise<void> {
    const { identity, operation, about, code, reason } = refused;
    const place = refused.target.replaceAll(control, " ").slice(0, targetLengthMax);
    const said = reason.replaceAll(control, " ").slice(0, reasonLengthMax);
    const attempted = {
      operator: identity.actor,
      verb: operation,
      // The audit log is asked about funds and orders, not about paths.
      ...(about === undefined ? { target: place } : { target: about, place }),
      allowed: false,
      code,
      reason: more === 0 ? said : `${said} (${more} more were refused before.)`,
      at: format(clock.now()),
    };
    try {
      await store.transact("attempt.refused", (unit) => unit.events.publish(subjects.operatorAttempted, attempted));
    } catch (thrown) {
      if (thrown instanceof Defect) return crash.die(thrown);
      log.warn("a refused attempt could not be reported", {
        actor: identity.actor,
        operation,
        error: messageOf(thrown),
      });
    }
  }

  return {
    tell(refused) {
      if (!changesState(refused.operation)) return;
      const more = admitted(refused);
      if (more === undefined) return;
      const writing = write(refused, more).finally(() => waiting.delete(writing));
      waiting.add(writing);
    },
    async close() {
      await Promise.all(waiting);
    },
  };
}
