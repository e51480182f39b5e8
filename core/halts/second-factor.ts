// Attempts at a second factor: what one code does to the account's state. The shell finds out which time step the code matched,
// asks here, and keeps the next state together with the answer.
//
// Invariants:
//  1. A time step is accepted at most once, and never after a later one: a code that was seen over a shoulder is worth nothing.
//  2. While locked, every attempt is refused, changes nothing, and the answer does not depend on the code.
//  3. The fifth wrong code in a row locks for 60 s; each further wrong one doubles that, up to 15 minutes.
//  4. An accepted attempt forgets all failures.
//  5. A code of a used step is refused and changes nothing: whoever shows it held the right code once, so it is no guess, and an
//     operator who pressed twice is not on the way to a lock.
//  6. A lock that ends later than one of now could was set while the clock ran ahead: it lasts as long as one that begins now, and not until then.
//  7. So nobody can try more than 9 wrong codes plus 4 an hour.
import { type Instant, millisecondsBetween, plusMilliseconds } from "../../contracts/src/instant.ts";

export interface AttemptState {
  /** The newest time step that was accepted; -1 before the first. */
  readonly lastStep: number;
  /** Wrong codes since the last accepted one. */
  readonly failures: number;
  readonly lockedUntil: Instant;
}

export interface Attempt {
  /** The time step whose code was shown, an unused recovery code, or nothing that we know. */
  readonly matched: number | "recovery code" | "nothing";
  readonly at: Instant;
}

export type Verdict =
  | { readonly kind: "accepted" }
  | { readonly kind: "replayed" }
  /** With `retryAfterS` when this was the one that locked. */
  | { readonly kind: "wrong"; readonly retryAfterS?: number }
  | { readonly kind: "locked"; readonly retryAfterS: number };

export interface Judgement {
  readonly verdict: Verdict;
  readonly next: AttemptState;
}

export const freshAttempts: AttemptState = { lastStep: -1, failures: 0, lockedUntil: 0 as Instant };

/** Wrong codes in a row before the first lock. */
const failuresMax = 5;
const lockMsFirst = 60_000;
const lockMsMax = 900_000;

export function judgeAttempt(state: AttemptState, attempt: Attempt): Judgement {
  const { matched, at } = attempt;
  if (at < state.lockedUntil) {
    const latest = plusMilliseconds(at, lockMsAfter(state.failures));
    const lockedUntil = state.lockedUntil > latest ? latest : state.lockedUntil;
    const next = lockedUntil === state.lockedUntil ? state : { ...state, lockedUntil };
    return { verdict: { kind: "locked", retryAfterS: secondsUntil(lockedUntil, at) }, next };
  }
  if (matched === "nothing") return wrong(state, at);
  if (matched === "recovery code") return accepted(state.lastStep);
  return matched <= state.lastStep ? { verdict: { kind: "replayed" }, next: state } : accepted(matched);
}

function accepted(lastStep: number): Judgement {
  return { verdict: { kind: "accepted" }, next: { ...freshAttempts, lastStep } };
}

function wrong(state: AttemptState, at: Instant): Judgement {
  const failures = state.failures + 1;
  const lockMs = lockMsAfter(failures);
  if (lockMs === 0) return { verdict: { kind: "wrong" }, next: { ...state, failures } };
  const lockedUntil = plusMilliseconds(at, lockMs);
  return {
    verdict: { kind: "wrong", retryAfterS: secondsUntil(lockedUntil, at) },
    next: { ...state, failures, lockedUntil },
  };
}

/** How long that many wrong codes in a row lock; zero when they do not. */
export function lockMsAfter(failures: number): number {
  if (failures < failuresMax) return 0;
  return Math.min(lockMsMax, lockMsFirst * 2 ** (failures - failuresMax));
}

function secondsUntil(end: Instant, at: Instant): number {
  return Math.ceil(millisecondsBetween(at, end) / 1_000);
}
