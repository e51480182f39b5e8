// Attempts at a second factor: what one code does to the account's state. The shell finds out which time step the code matched,
// asks here, and keeps the next state together with the answer.
//
// Invariants:
//  1. A time step is accepted at most once, whatever the clock does, and never after a later one: a code that was seen over a shoulder is worth nothing.
//     Only where the later one was accepted by a clock that ran ahead and was set back, earlier ones count again that were not used themselves: nobody
//     is kept out for as long as the clock was wrong.
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
  /** Every step up to the first of these counts as used; the others were used beyond it. Empty: every step up to `lastStep`. */
  readonly usedSteps: readonly number[];
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

export const freshAttempts: AttemptState = { lastStep: -1, usedSteps: [], failures: 0, lockedUntil: 0 as Instant };

/** A code is good one step before and after its own: by the same clock nothing is accepted that lies further ahead of what is shown. */
const stepsAheadMax = 2;
const usedStepsMax = 32;

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
  if (matched === "recovery code") return accepted(state);
  if (isUsed(state, matched)) return { verdict: { kind: "replayed" }, next: state };
  return accepted({ lastStep: matched, usedSteps: withStep(state, matched) });
}

function accepted({ lastStep, usedSteps }: Pick<AttemptState, "lastStep" | "usedSteps">): Judgement {
  return { verdict: { kind: "accepted" }, next: { ...freshAttempts, lastStep, usedSteps } };
}

function isUsed({ lastStep, usedSteps }: AttemptState, step: number): boolean {
  const [upTo = lastStep, ...beyond] = usedSteps;
  const wasSetBack = lastStep > step + stepsAheadMax;
  return step <= upTo || beyond.includes(step) || (!wasSetBack && step <= lastStep);
}

/** Where there are too many, those that lie furthest back become one. */
function withStep({ lastStep, usedSteps }: AttemptState, step: number): readonly number[] {
  const [upTo = lastStep, ...beyond] = usedSteps;
  const used = [...beyond, step].sort((one, other) => one - other);
  return used.length > usedStepsMax ? used : [upTo, ...used];
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
