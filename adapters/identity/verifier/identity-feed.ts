// Keeps a process's knowledge of who may call fresh: asks the store for one number every second and reads the rest when it moved.
//
//  1. A change that was committed is in the snapshot of every process that reaches the store about a second later; in the process
//     that made it, when `refresh` resolves.
//  2. A snapshot that the store has not confirmed for `ageMsMax` is worth nothing: `current` throws IDENTITY_UNAVAILABLE.
//  3. However many callers show tokens that nobody knows, the store is asked at most `onDemandPerSecondMax` times a second for them.
import { messageOf } from "../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Health } from "../../../ports/health.ts";
import type { Log } from "../../../ports/log.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { IdentitySnapshot, SnapshotReader } from "./identity-snapshot.ts";
import { unavailable } from "./refusals.ts";

export interface IdentityFeed {
  /** What is known now; throws IDENTITY_UNAVAILABLE when that is not enough to believe anybody. */
  current(): IdentitySnapshot;
  /** Reads once more, beginning after this call. It never rejects: a read that fails shows in `health` and in the age. */
  refresh(): Promise<void>;
  /** The same for somebody who showed what is not known yet: shared with others, and not more often than the bound. */
  refreshOnDemand(): Promise<void>;
  /** The same, and it is not waited for longer than that. */
  refreshWithin(ms: number): Promise<void>;
  health(): Health;
  close(): Promise<void>;
}

interface IdentityFeedOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly read: SnapshotReader;
}

const pollMs = 1_000;
const ageMsMax = 10_000;
const onDemandPerSecondMax = 5;
/** Callers that wait for one shared read; whoever comes on top of them is answered from what is known. */
const waitingMax = 1_000;

export function createIdentityFeed(options: IdentityFeedOptions): IdentityFeed {
  const { clock, timers, log } = options;
  const reads = options.metrics.counter("portcullis_identity_reads_total", "Reads who may call, by their end.", [
    "end",
  ]);
  const closing = new AbortController();
  let snapshot: IdentitySnapshot | undefined;
  let confirmedAt: Instant | undefined;
  let failure: string | undefined;

  async function readOnce(): Promise<void> {
    const begunAt = clock.now();
    try {
      const next = await options.read(snapshot);
      reads.add(1, { end: next === snapshot ? "unchanged" : "changed" });
      snapshot = next;
      confirmedAt = begunAt;
      if (failure !== undefined) log.info("who may call is known again");
      failure = undefined;
    } catch (thrown) {
      reads.add(1, { end: "failed" });
      if (failure === undefined) log.warn("who may call cannot be read", { error: messageOf(thrown) });
      failure = messageOf(thrown);
    }
  }

  const refresh = singleFile(readOnce);
  const refreshOnDemand = paced({ clock, timers, run: refresh, signal: closing.signal });

  /** Undefined when the snapshot can be relied on. */
  function complaint(): string | undefined {
    if (snapshot === undefined || confirmedAt === undefined) {
      return "who may call has not been read from the store yet: try again shortly";
    }
    // A clock that was set back makes the age negative; that proves as little as a great age.
    const ageMs = Math.abs(millisecondsBetween(confirmedAt, clock.now()));
    if (ageMs > ageMsMax) return "the store does not answer, so nobody can be believed: try again when it is back";
    return snapshot.complaint;
  }

  const polling = (async () => {
    while (!closing.signal.aborted) {
      await timers.sleep(pollMs, closing.signal);
      if (!closing.signal.aborted) await refresh();
    }
  })();

  return {
    current() {
      const wrong = complaint();
      if (wrong !== undefined || snapshot === undefined) throw unavailable(wrong ?? "nothing is known", "store");
      return snapshot;
    },
    refresh,
    refreshOnDemand,
    async refreshWithin(ms) {
      const over = new AbortController();
      await Promise.race([refreshOnDemand(), timers.sleep(ms, over.signal)]).finally(() => over.abort());
    },
    health() {
      const wrong = complaint();
      if (wrong === undefined) return { status: "ok" };
      if (snapshot === undefined && failure === undefined) return { status: "starting", complaint: wrong };
      return { status: "failing", complaint: wrong };
    },
    async close() {
      closing.abort();
      await polling;
      await refresh.idle();
    },
  };
}

interface SingleFile {
  (): Promise<void>;
  idle(): Promise<void>;
}

/** One run at a time; whoever comes during a run shares the next one, which sees everything that was done before they came. */
function singleFile(run: () => Promise<void>): SingleFile {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function start(): Promise<void> {
    next = undefined;
    const mine = run().then(() => {
      if (running === mine) running = undefined;
    });
    running = mine;
    return mine;
  }

  const call = (): Promise<void> => {
    if (next !== undefined) return next;
    if (running === undefined) return start();
    next = running.then(start);
    return next;
  };
  return Object.assign(call, {
    async idle() {
      while (running !== undefined || next !== undefined) await (next ?? running);
    },
  });
}

interface Pace {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly run: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Spaces runs out to the bound. Callers that come between two runs wait for the next one together. */
function paced({ clock, timers, run, signal }: Pace): () => Promise<void> {
  const spaceMs = 1_000 / onDemandPerSecondMax;
  let lastAt: Instant | undefined;
  let waiting = 0;
  let next: Promise<void> | undefined;

  async function inItsTime(): Promise<void> {
    // `next` is set by the caller first, and forgotten here second.
    await Promise.resolve();
    const sinceMs = lastAt === undefined ? spaceMs : millisecondsBetween(lastAt, clock.now());
    // A clock that was set back must not keep anybody waiting longer than the space itself.
    const waitMs = Math.min(spaceMs, spaceMs - sinceMs);
    if (waitMs > 0) await timers.sleep(waitMs, signal);
    next = undefined;
    lastAt = clock.now();
    if (!signal.aborted) await run();
  }

  return async () => {
    if (waiting >= waitingMax) return;
    next ??= inItsTime();
    waiting += 1;
    try {
      await next;
    } finally {
      waiting -= 1;
    }
  };
}
