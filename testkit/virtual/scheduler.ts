// The discrete-event scheduler: virtual time, timers and randomness from one seed. Nothing here waits for real time.
//
//  1. Time passes only between steps; a step is one timer that fires.
//  2. Timers fire in order of their time; among equal times the seed decides (ties "seeded") or who came first ("fifo").
//  3. After each step every promise chain that can go on does so before the next step begins, because the scheduler waits
//     for one turn of the event loop, and microtasks are drained before that.
//  4. One seed gives one run, as long as the code under it waits for nothing but its ports.
import type { Instant } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CancelTimer, Timers } from "../../ports/timers.ts";
import { priorityQueue } from "./priority-queue.ts";
import { type Prng, prng } from "./prng.ts";

export interface SchedulerOptions {
  readonly seed: number;
  /** Default 2026-01-02T00:00:00Z. */
  readonly startAt?: Instant;
  /** Default "seeded". */
  readonly ties?: "seeded" | "fifo";
}

export interface Scheduler {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly prng: Prng;
  /** Milliseconds since the start of the run. */
  elapsedMs(): number;
  /** Sets the wall clock ahead, or back when negative; timers and elapsed time go on as they were. */
  stepClock(ms: number): void;
  /** Timers that have fired so far. */
  steps(): number;
  /** Timers that wait. */
  pending(): number;
  /** Lets the next timer fire and everything that follows from it happen; false when no timer waits. */
  step(): Promise<boolean>;
  /** Runs until that time since the start (which is then the time), or until no timer waits or the steps are used up. */
  run(limits: { readonly untilMs?: number; readonly stepsMax?: number }): Promise<void>;
  /** Runs until the promise settles; throws when nothing is left to do or the steps are used up before that. */
  finish<T>(what: string, promise: Promise<T>, stepsMax?: number): Promise<T>;
  /** Steps as fast as it can in the background, for code that cannot step itself; ends with the returned function. */
  pump(): () => Promise<void>;
}

interface Timer {
  readonly atUs: number;
  readonly ticket: number;
  readonly sequence: number;
  readonly run: () => void;
  cancelled: boolean;
}

const usPerMs = 1_000;
const defaultStart = 1_767_312_000_000_000 as Instant;
const stepsMaxDefault = 10_000_000;

function before(one: Timer, other: Timer): boolean {
  if (one.atUs !== other.atUs) return one.atUs < other.atUs;
  if (one.ticket !== other.ticket) return one.ticket < other.ticket;
  return one.sequence < other.sequence;
}

/** One turn of the event loop: every promise chain that can go on has gone on when it is over. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

export function scheduler(options: SchedulerOptions): Scheduler {
  const startUs = options.startAt ?? defaultStart;
  const allPrngs = prng(options.seed);
  const tickets = allPrngs.fork("scheduler.ties");
  const queue = priorityQueue(before);
  let elapsedUs = 0;
  let steppedUs = 0;
  let sequence = 0;
  let steps = 0;
  let waiting = 0;

  const after = (ms: number, run: () => void): CancelTimer => {
    if (!Number.isFinite(ms)) throw new Error(`a timer needs a finite number of milliseconds, not ${ms}`);
    const atUs = elapsedUs + Math.max(0, Math.round(ms * usPerMs));
    const ticket = options.ties === "fifo" ? 0 : tickets.word();
    const timer: Timer = { atUs, ticket, sequence, run, cancelled: false };
    sequence += 1;
    waiting += 1;
    queue.push(timer);
    return () => {
      if (timer.cancelled) return;
      timer.cancelled = true;
      waiting -= 1;
    };
  };

  const nextTimer = (): Timer | undefined => {
    while (queue.first()?.cancelled === true) queue.pop();
    return queue.first();
  };

  /** When it is the next one, and every promise chain has gone on as far as it can. */
  const fire = async (timer: Timer) => {
    queue.pop();
    timer.cancelled = true;
    waiting -= 1;
    elapsedUs = timer.atUs;
    steps += 1;
    timer.run();
    await turn();
  };

  const step = async () => {
    await turn();
    const timer = nextTimer();
    if (timer === undefined) return false;
    await fire(timer);
    return true;
  };

  const run: Scheduler["run"] = async ({ untilMs, stepsMax = stepsMaxDefault }) => {
    const untilUs = untilMs === undefined ? Number.POSITIVE_INFINITY : untilMs * usPerMs;
    await turn();
    for (let done = 0; done < stepsMax; done += 1) {
      const timer = nextTimer();
      if (timer === undefined || timer.atUs > untilUs) {
        if (untilMs !== undefined) elapsedUs = Math.max(elapsedUs, untilUs);
        return;
      }
      await fire(timer);
    }
  };

  const finish = async <T>(what: string, promise: Promise<T>, stepsMax = stepsMaxDefault): Promise<T> => {
    let settled = false;
    const settle = () => {
      settled = true;
    };
    promise.then(settle, settle);
    await turn();
    for (let done = 0; !settled; done += 1) {
      const where = `${what} has not finished after ${steps} steps, at ${elapsedUs / usPerMs} ms`;
      if (done >= stepsMax) throw new Error(`${where}, and it was given ${stepsMax} steps`);
      if (!(await step())) throw new Error(`${where}, and nothing is left to do: everybody waits for somebody`);
    }
    return promise;
  };

  const pump = () => {
    let stopped = false;
    const pumping = (async () => {
      while (!stopped) await step();
    })();
    return () => {
      stopped = true;
      return pumping;
    };
  };

  return {
    clock: { now: () => (startUs + elapsedUs + steppedUs) as Instant },
    timers: { after, sleep: (ms, signal) => sleepWith(after, ms, signal), soon: (run) => void after(0, run) },
    prng: allPrngs,
    elapsedMs: () => elapsedUs / usPerMs,
    stepClock: (ms) => {
      steppedUs += Math.round(ms * usPerMs);
    },
    steps: () => steps,
    pending: () => waiting,
    step,
    run,
    finish,
    pump,
  };
}

function sleepWith(after: Timers["after"], ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const wake = () => {
      signal?.removeEventListener("abort", wake);
      cancel();
      resolve();
    };
    const cancel = after(ms, wake);
    signal?.addEventListener("abort", wake);
  });
}
