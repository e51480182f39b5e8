// Waiting for a wake-up without missing one: a poke that comes between the read and the wait ends the wait at once.
import type { Timers } from "../../ports/timers.ts";

export interface PokeSource {
  onPoke(run: () => void): () => void;
}

export interface Bell {
  /** Forgets pokes so far; call it before reading. */
  silence(): void;
  /** Resolves at a poke since the last silence, after that many milliseconds, or when the signal aborts. */
  wait(ms: number): Promise<void>;
  close(): void;
}

export function createBell(source: PokeSource, timers: Timers, signal: AbortSignal): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    rung = true;
    wake?.();
  };
  const unsubscribe = source.onPoke(ring);
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
