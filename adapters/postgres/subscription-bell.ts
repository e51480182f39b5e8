// Waiting for a wake-up without missing one: a poke that comes between the read and the wait ends the wait at once.
import type { Timers } from "../../ports/timers.ts";
import { wantsEntries } from "./audit-rows.ts";
import { wantsDecisions } from "./decision-rows.ts";
import type { Wake, Written } from "./wake.ts";

export type PokeSource = Pick<Wake, "onPoke">;

export interface Bell {
  /** Forgets pokes so far; call it before reading. */
  silence(): void;
  /** Resolves at a poke since the last silence, after that many milliseconds, or when the signal aborts. */
  wait(ms: number): Promise<void>;
  close(): void;
}

/** Rings for the kinds that are heard; what nobody here wants to hear of is passed over with the next poll. */
export function createBell(
  source: PokeSource,
  timers: Timers,
  signal: AbortSignal,
  hears: (written: Written) => boolean,
): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    rung = true;
    wake?.();
  };
  const unsubscribe = source.onPoke((written) => {
    if (hears(written)) ring();
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
    close() {
      unsubscribe();
      signal.removeEventListener("abort", ring);
    },
  };
}

/** What these patterns may concern. */
export function kindsFor(patterns: readonly string[]): ReadonlySet<Written> {
  const kinds = new Set<Written>(["events"]);
  if (wantsDecisions(patterns)) kinds.add("decisions");
  if (wantsEntries(patterns)) kinds.add("entries");
  return kinds;
}
