// How many wrong passwords one address may try for one name. In memory and bounded: a restart forgives, and whoever sprays names
// pays for each with a hash. The wait is short, because somebody who must drop a gate may have mistyped in a hurry.
import { type Instant, millisecondsBetween, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";

interface WrongPasswords {
  /** Counts a try as wrong until `forget`; answers the seconds to wait when there were too many already. */
  begin(name: string, address: string): number | undefined;
  /** It was right: nothing stands against them. */
  forget(name: string, address: string): void;
}

interface WrongPasswordsLimits {
  readonly triesMax: number;
  readonly windowMs: number;
  readonly entriesMax: number;
}

const limitsDefault: WrongPasswordsLimits = { triesMax: 10, windowMs: 60_000, entriesMax: 10_000 };

interface Entry {
  readonly since: Instant;
  tries: number;
}

export function createWrongPasswords(clock: Clock, limits: WrongPasswordsLimits = limitsDefault): WrongPasswords {
  // In the order in which their windows began: the first is the one to drop.
  const entries = new Map<string, Entry>();
  const keyOf = (name: string, address: string): string => JSON.stringify([name.slice(0, 128), address.slice(0, 64)]);

  function isOver(entry: Entry, now: Instant): boolean {
    const ageMs = millisecondsBetween(entry.since, now);
    // A clock that was set back must not lock anybody out for longer than the window.
    return ageMs >= limits.windowMs || ageMs < 0;
  }

  function makeRoom(now: Instant): void {
    for (const [key, entry] of entries) {
      if (entries.size < limits.entriesMax && !isOver(entry, now)) return;
      entries.delete(key);
    }
  }

  return {
    begin(name, address) {
      const now = clock.now();
      const key = keyOf(name, address);
      const known = entries.get(key);
      if (known !== undefined && !isOver(known, now)) {
        if (known.tries >= limits.triesMax) {
          return Math.ceil(millisecondsBetween(now, plusMilliseconds(known.since, limits.windowMs)) / 1_000);
        }
        known.tries += 1;
        return undefined;
      }
      entries.delete(key);
      makeRoom(now);
      entries.set(key, { since: now, tries: 1 });
      return undefined;
    },
    forget(name, address) {
      entries.delete(keyOf(name, address));
    },
  };
}
