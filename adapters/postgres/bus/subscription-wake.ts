// Waiting for a wake-up without missing one: a poke that comes between the read and the wait ends the wait at once.
import { matchesAny } from "../../../contracts/src/subjects.ts";
import type { Timers } from "../../../ports/timers.ts";
import { wantsEntries } from "../audit/audit-rows.ts";
import { wantsDecisions } from "../risk/decision-rows.ts";
import type { Poked, Wake, Written } from "./wake.ts";

export type PokeSource = Pick<Wake, "onPoke">;

export type Hears = (...poked: Parameters<Poked>) => boolean;

export interface Bell {
  /** Forgets pokes so far; call it before reading. */
  silence(): void;
  /** Resolves at a poke since the last silence, after that many milliseconds, or when the signal aborts. */
  wait(ms: number): Promise<void>;
  /** Ends a wait, as time does. */
  stir(): void;
  /** Whether there was a poke since the last silence. */
  hasRung(): boolean;
  close(): void;
}

/** Rings for what is heard; what nobody here wants to hear of is passed over with the next poll. */
export function createBell(
  source: PokeSource,
  timers: Timers,
  signal: AbortSignal,
  hears: Hears,
  onRing: () => void = () => undefined,
): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    rung = true;
    wake?.();
  };
  const unsubscribe = source.onPoke((written, subjects) => {
    if (!hears(written, subjects)) return;
    onRing();
    ring();
  });
  signal.addEventListener("abort", ring);
  return {
    silence() {
      rung = false;
    },
    wait(ms) {
      if (rung || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          cancel();
          wake = undefined;
          resolve();
        };
        const cancel = timers.after(ms, done);
        wake = done;
      });
    },
    stir: () => wake?.(),
    hasRung: () => rung,
    close() {
      unsubscribe();
      signal.removeEventListener("abort", ring);
    },
  };
}

/** What may concern these patterns. */
export function hearsFor(patterns: readonly string[]): Hears {
  const kinds = new Set<Written>(["events"]);
  if (wantsDecisions(patterns)) kinds.add("decisions");
  if (wantsEntries(patterns)) kinds.add("entries");
  return (written, subjects) => {
    if (subjects === undefined) return kinds.has(written);
    for (const subject of subjects) if (matchesAny(patterns, subject)) return true;
    return false;
  };
}
