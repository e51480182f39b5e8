// The time in which everything was heard: it runs while every subscription that tells of orders is current, and stands still while one of them
// is behind or away. What waits for word of an order waits in this time, so that an outage uses up nobody's patience.
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Subscription } from "../../../ports/bus.ts";

export interface HeardTime {
  /** Looks how far the subscriptions are; the moment up to which all of them have finished everything, undefined while nobody can say. */
  advance(): Instant | undefined;
  /** Milliseconds that have counted so far. */
  elapsedMs(): number;
}

/** Between two looks a current subscription gets on by about as much as the clock; a larger step was an outage, whatever it was called. */
const stepMsMax = 5_000;

export function heardTime(subscriptions: readonly Pick<Subscription, "caughtUpAt">[]): HeardTime {
  let heardUntil: Instant | undefined;
  let elapsedMs = 0;
  return {
    advance() {
      let until: Instant | undefined;
      for (const { caughtUpAt } of subscriptions) {
        const at = caughtUpAt();
        if (at === undefined) return undefined;
        if (until === undefined || at < until) until = at;
      }
      if (until === undefined) return undefined;
      const stepMs = heardUntil === undefined ? 0 : millisecondsBetween(heardUntil, until);
      if (stepMs > 0 && stepMs <= stepMsMax) elapsedMs += stepMs;
      heardUntil = until;
      return until;
    },
    elapsedMs: () => elapsedMs,
  };
}
