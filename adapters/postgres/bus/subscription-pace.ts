// How often a subscription looks by itself, without having been woken: four times a second, and every two seconds while wake-ups are known to come.
//
//  1. It is slow only while a notification that this process sent itself is known to have come back (bus-pulse.ts), and never beyond that moment.
//  2. A row that it found by looking alone shows that somebody's wake-ups do not come: for a minute it is fast again. What somebody was woken for a
//     moment later was on its way, and shows nothing.
//  3. A clock that was set makes it fast, never slow.
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { NotificationProof } from "./bus-pulse.ts";
import type { Bell } from "./subscription-wake.ts";

interface PollPace {
  /** Milliseconds until it must look again, or until this must be asked again; 0: now. */
  dueMs(lookedAt: Instant): number;
  /** It was woken. */
  rung(): void;
  /** There was something for it, and nobody had said so. */
  foundUnannounced(): void;
}

export const pollMs = 250;
const restingPollMs = 2_000;
/** A row's wake-up may be this much later than the row: it is sent after the commit, and for decisions some time later. */
const announcedWithinMs = 250;
const fastForMs = 60_000;

export function createPollPace(clock: Clock, proof: NotificationProof): PollPace {
  /** Found unannounced, and the wake-up may be on its way. */
  let suspectedAt: Instant | undefined;
  /** No wake-up came for what was found then. */
  let missedAt: Instant | undefined;

  const within = (ms: number, since: Instant | undefined, now: Instant): boolean =>
    since !== undefined && Math.abs(millisecondsBetween(since, now)) < ms;

  function settle(now: Instant): void {
    if (suspectedAt === undefined || within(announcedWithinMs, suspectedAt, now)) return;
    missedAt = suspectedAt;
    suspectedAt = undefined;
  }

  /** How long it may rest from now on; 0: it may not. */
  function mayRestMs(now: Instant): number {
    settle(now);
    if (suspectedAt !== undefined || within(fastForMs, missedAt, now)) return 0;
    missedAt = undefined;
    const until = proof.provenUntil();
    const leftMs = until === undefined ? 0 : millisecondsBetween(now, until);
    return leftMs <= restingPollMs ? Math.max(0, leftMs) : 0;
  }

  return {
    dueMs(lookedAt) {
      const now = clock.now();
      const sinceMs = millisecondsBetween(lookedAt, now);
      if (sinceMs < 0) return 0;
      const restMs = mayRestMs(now);
      return Math.max(0, restMs === 0 ? pollMs - sinceMs : Math.min(restingPollMs - sinceMs, restMs));
    },
    rung() {
      if (within(announcedWithinMs, suspectedAt, clock.now())) suspectedAt = undefined;
    },
    foundUnannounced() {
      settle(clock.now());
      suspectedAt ??= clock.now();
    },
  };
}

/** For what is in no hurry time alone decides. */
export function paceOf(everyMs: number | undefined, clock: Clock, proof: NotificationProof): PollPace {
  return everyMs === undefined ? createPollPace(clock, proof) : steadyPace(clock, everyMs);
}

function steadyPace(clock: Clock, everyMs: number): PollPace {
  return {
    dueMs(lookedAt) {
      const sinceMs = millisecondsBetween(lookedAt, clock.now());
      return sinceMs < 0 ? 0 : Math.max(0, everyMs - sinceMs);
    },
    rung: () => undefined,
    foundUnannounced: () => undefined,
  };
}

/** What else is to be done while it rests. */
export interface Chore {
  /** Milliseconds until it is due; infinite when it is not. */
  dueMs(): number;
  /** True when it must look again at once. */
  run(): Promise<boolean>;
}

/** Where a write is under way and the next one due, it is asked again after this long. */
const choreMsMin = 5;

/** Until there is something to read, or it is time to look; true when only time has passed. */
export async function rest(bell: Bell, pace: PollPace, lookedAt: Instant, stopped: () => boolean, chore?: Chore) {
  for (;;) {
    const dueMs = pace.dueMs(lookedAt);
    if (dueMs <= 0) return true;
    const choreMs = chore === undefined ? dueMs : Math.max(choreMsMin, chore.dueMs());
    await bell.wait(Math.min(dueMs, choreMs));
    if (bell.hasRung() || stopped()) return false;
    if (chore !== undefined && chore.dueMs() <= 0 && (await chore.run())) return true;
  }
}
