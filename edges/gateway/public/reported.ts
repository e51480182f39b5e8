// What a service said last, and when: asked for in the background again and again, so that however many strangers ask, the service is asked as often
// as before. Listeners hear of every answer, changed or not.
import { messageOf } from "../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";

/** What was not confirmed for so long is marked as stale. */
const staleMs = 5_000;

export interface Reported<Value> {
  readonly value: Value;
  /** When the service said so. */
  readonly at: Instant;
}

export interface Source<Value> {
  /** Undefined as long as the service has said nothing. */
  newest(): Reported<Value> | undefined;
  /** Calls back after every answer; gives the function that stops it. */
  listen(hear: (reported: Reported<Value>) => void): () => void;
}

export interface FollowedSource<Value> extends Source<Value> {
  stop(): Promise<void>;
}

interface FollowOptions<Value> {
  /** In log lines: "quotes". */
  readonly name: string;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Rejects when the service does not answer; then what it said before stays. */
  ask(before: Value | undefined, signal: AbortSignal): Promise<Value>;
}

export function follow<Value>(options: FollowOptions<Value>): FollowedSource<Value> {
  const { name, everyMs, clock, timers, log, ask } = options;
  const ending = new AbortController();
  const listeners = new Set<(reported: Reported<Value>) => void>();
  let newest: Reported<Value> | undefined;
  let silent = false;

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        const value = await ask(newest?.value, ending.signal);
        newest = { value, at: clock.now() };
        if (silent) log.info("the public market data is reported again", { source: name });
        silent = false;
        for (const hear of listeners) hear(newest);
      } catch (thrown) {
        if (!silent && !ending.signal.aborted) {
          log.warn("the public market data is not reported", { source: name, error: messageOf(thrown) });
        }
        silent = true;
      }
      await timers.sleep(everyMs, ending.signal);
    }
  }

  const running = run();
  return {
    newest: () => newest,
    listen: (hear) => {
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}

export function isStale({ at }: Reported<unknown>, now: Instant): boolean {
  return millisecondsBetween(at, now) >= staleMs;
}
