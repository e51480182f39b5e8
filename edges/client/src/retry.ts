// When a call is tried again: only what is safe to send twice, only after failures that pass, after a time that the server names or that grows by chance,
// and never beyond the time that the caller gave.
import { ApiError, UnreachableError } from "./errors.ts";

export interface RetryOptions {
  /** How often it is sent altogether; 1 never tries again. */
  readonly attemptsMax?: number;
  /** The longest first pause; each further one may be twice as long. */
  readonly firstPauseMs?: number;
  readonly pauseMsMax?: number;
}

export const retryDefaults: Required<RetryOptions> = { attemptsMax: 4, firstPauseMs: 200, pauseMsMax: 5_000 };

const passing: readonly number[] = [408, 425, 429, 502, 503, 504];

/** Milliseconds to wait before the next attempt, or undefined when there should be none. */
export function pauseBefore(attempt: number, thrown: unknown, options: Required<RetryOptions>): number | undefined {
  if (attempt >= options.attemptsMax) return undefined;
  if (thrown instanceof ApiError) {
    if (!passing.includes(thrown.status)) return undefined;
    // At least what the server named, and a little more, so that those it sent away together do not come back together.
    const named = (thrown.retryAfterS ?? 0) * 1_000;
    return named + jittered(attempt, options);
  }
  return thrown instanceof UnreachableError && thrown.mayPass ? jittered(attempt, options) : undefined;
}

/** Anything up to the longest pause of this attempt. */
export function jittered(attempt: number, { firstPauseMs, pauseMsMax }: Required<RetryOptions>): number {
  return Math.ceil(chance() * Math.min(pauseMsMax, firstPauseMs * 2 ** Math.min(attempt - 1, 20)));
}

/** From 0 to below 1. */
function chance(): number {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return number / 2 ** 32;
}

/** A key that nobody else makes. */
export function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Waits, or rejects with the signal's reason as soon as it aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
}
