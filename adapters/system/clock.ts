// The real wall clock in whole microseconds. `Date.now()` follows the operating system (and so NTP) but knows milliseconds
// only; `performance.now()` is fine-grained but drifts away from it. So the millisecond always comes from the first, and
// the second only places the answer inside that millisecond.
//
// What it promises, within one process:
//  1. An answer lies in the millisecond that the operating system shows, unless promise 2 holds it back.
//  2. It never goes backwards, except when the operating system's clock was set back by `stepMsMax` or more: such a step is
//     followed, because a clock that stands still for long would make old prices look fresh.
import type { Instant } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";

/** Where the clock reads; tests hand in their own. */
interface ClockSources {
  wallMs(): number;
  /** Milliseconds with a fraction since any fixed moment; never goes backwards. */
  monotonicMs(): number;
}

const realSources: ClockSources = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

const stepMsMax = 1_000;

export function systemClock(sources: ClockSources = realSources): Clock {
  const microsecondsOf = (ms: number): number => Math.floor(ms * 1_000);
  let anchorUs = sources.wallMs() * 1_000 - microsecondsOf(sources.monotonicMs());
  let lastUs = 0;

  function read(): number {
    const wallUs = sources.wallMs() * 1_000;
    const monotonicUs = microsecondsOf(sources.monotonicMs());
    const guessUs = anchorUs + monotonicUs;
    const insideUs = Math.min(Math.max(guessUs, wallUs), wallUs + 999);
    if (insideUs !== guessUs) anchorUs = insideUs - monotonicUs;
    return insideUs;
  }

  return {
    now(): Instant {
      const readUs = read();
      const steppedBack = lastUs - readUs >= stepMsMax * 1_000;
      lastUs = steppedBack ? readUs : Math.max(readUs, lastUs);
      return lastUs as Instant;
    },
  };
}
