// Turns of one process's loop. What arrives at once is read at once, whoever sent it; the work for it begins in slices. Once the requests of one turn of the
// loop have taken `sliceMs`, the next ones wait: with every further turn one of them begins, and the lanes go round, so that a flood in one lane keeps another
// waiting for one piece of work and not for all that was asked before. In a lane whoever asked least goes first.
//
// A listener takes in one connection with each turn of the loop, and no more. A crowd at the door, each of whose members comes again when it is cut, would keep
// somebody who has just come waiting for as many pieces of work as stand before them. So while connections come in, the loop goes round for them alone, up to
// `arrivalsMax` times for each piece of work.
import { type Lane, lanes } from "../../contracts/src/doors/lanes.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Timers } from "../../ports/timers.ts";

export interface Turns {
  /** Undefined: at once. `urgency` orders those who wait in one lane; equal ones in the order in which they came. */
  take(lane: Lane | undefined, urgency?: number): Promise<void> | undefined;
  /** A connection came in with this turn of the loop; there may be more at the door. */
  arrived(): void;
}

interface TurnsOptions {
  readonly timers: Pick<Timers, "soon">;
  readonly clock: Clock;
  readonly sliceMs?: number;
  readonly arrivalsMax?: number;
}

interface Waiting {
  readonly urgency: number;
  begin(): void;
}

const sliceMsDefault = 10;
/** A connection takes a fifth of a millisecond, or with HTTP/2 half of one: together they take about as long as a piece of work. */
const arrivalsMaxDefault = 32;

export function createTurns(options: TurnsOptions): Turns {
  const { timers, clock, sliceMs = sliceMsDefault, arrivalsMax = arrivalsMaxDefault } = options;
  const waiting = lanes.map((): Waiting[] => []);
  let waitingCount = 0;
  /** The lane that was served last. */
  let servedAt = lanes.length - 1;
  /** When the first request of this turn of the loop began. */
  let beganAt: Instant | undefined;
  let isLooking = false;
  let hasArrived = false;
  /** Turns that were given to connections since a piece of work began. */
  let arrivals = 0;

  function lookSoon(): void {
    if (isLooking) return;
    isLooking = true;
    timers.soon(() => {
      isLooking = false;
      if (hasArrived && arrivals < arrivalsMax) {
        hasArrived = false;
        arrivals += 1;
        lookSoon();
        return;
      }
      arrivals = 0;
      beganAt = undefined;
      next()?.begin();
      if (waitingCount > 0) lookSoon();
    });
  }

  function next(): Waiting | undefined {
    for (let step = 1; step <= lanes.length; step += 1) {
      const at = (servedAt + step) % lanes.length;
      const line = waiting[at] ?? [];
      if (line.length === 0) continue;
      servedAt = at;
      waitingCount -= 1;
      return line.splice(mostUrgent(line), 1)[0];
    }
    return undefined;
  }

  return {
    arrived: () => {
      hasArrived = isLooking;
    },
    take: (lane, urgency = 0) => {
      lookSoon();
      beganAt ??= clock.now();
      if (lane === undefined) return undefined;
      // A clock that was set lets one turn take more, or less.
      if (waitingCount === 0 && millisecondsBetween(beganAt, clock.now()) < sliceMs) return undefined;
      return new Promise((resolve) => {
        waiting[lanes.indexOf(lane)]?.push({ urgency, begin: resolve });
        waitingCount += 1;
      });
    },
  };
}

function mostUrgent(line: readonly Waiting[]): number {
  let found = 0;
  for (let at = 1; at < line.length; at += 1) {
    if ((line[at]?.urgency ?? 0) > (line[found]?.urgency ?? 0)) found = at;
  }
  return found;
}
