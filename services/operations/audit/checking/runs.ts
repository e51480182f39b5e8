// Verifications and inspections that take longer than a request may: each runs by itself while somebody asks how far it is. It is one whole
// verification, so what it says in the end is what one call would have said.
//
//  1. At most two run at once, and one that nobody asks about for a minute is given up: a caller that has gone must not keep the disk busy.
//  2. What came of a run is kept for some minutes, for an answer that was lost on the way.
import { Fault } from "../../../../contracts/src/fault.ts";
import type { Random } from "../../../../ports/random.ts";
import type { CancelTimer, Timers } from "../../../../ports/timers.ts";
import { endsWithin } from "../../../shared/waiting.ts";

interface RunProgress {
  readonly runId: string;
  readonly nextSequence: number;
  readonly size: number;
}

export type RunState<Result> = RunProgress & { readonly result: Result | undefined };

/** `progress` is given the next entry; the signal aborts when the run is given up. */
type RunWork<Result> = (signal: AbortSignal, progress: (nextSequence: number) => void) => Promise<Result>;

export interface Runs<Result> {
  begin(size: number, work: RunWork<Result>): RunState<Result>;
  /** Waits for the end for some seconds. What the run failed with is thrown. */
  watch(runId: string): Promise<RunState<Result>>;
  stop(): void;
}

interface Run<Result> {
  readonly runId: string;
  readonly size: number;
  readonly giveUp: AbortController;
  nextSequence: number;
  ended: Promise<Result | undefined>;
  isRunning: boolean;
  cancelTimer: CancelTimer | undefined;
}

export const runningMax = 2;
const keptMax = 16;
const watchMsMax = 5_000;
const unwatchedMsMax = 60_000;
const keptMsMax = 600_000;

export function createRuns<Result>({
  timers,
  random,
}: {
  readonly timers: Timers;
  readonly random: Random;
}): Runs<Result> {
  const runs = new Map<string, Run<Result>>();

  /** A run is watched until that long after somebody asked; one that has ended is forgotten then. */
  function wind(run: Run<Result>): void {
    run.cancelTimer?.();
    run.cancelTimer = timers.after(run.isRunning ? unwatchedMsMax : keptMsMax, () => {
      run.giveUp.abort();
      runs.delete(run.runId);
    });
  }

  function stateOf({ runId, nextSequence, size }: Run<Result>, result?: Result): RunState<Result> {
    return { runId, nextSequence, size, result };
  }

  function makeRoom(): void {
    const running = [...runs.values()].filter(({ isRunning }) => isRunning);
    if (running.length >= runningMax) {
      throw new Fault("RESOURCE_EXHAUSTED", `${runningMax} verifications are running, as many as may.`, {
        retry: "later",
      });
    }
    for (const run of [...runs.values()].filter(({ isRunning }) => !isRunning).slice(0, runs.size - keptMax + 1)) {
      run.cancelTimer?.();
      runs.delete(run.runId);
    }
  }

  return {
    begin(size, work) {
      makeRoom();
      const giveUp = new AbortController();
      const run: Run<Result> = {
        runId: random.uuid(),
        size,
        giveUp,
        nextSequence: 0,
        isRunning: true,
        cancelTimer: undefined,
        ended: Promise.resolve(undefined),
      };
      run.ended = work(giveUp.signal, (nextSequence) => {
        run.nextSequence = nextSequence;
      }).finally(() => {
        run.isRunning = false;
        if (runs.has(run.runId)) wind(run);
      });
      // A failure is told to the callers that watch the run, and there may be none.
      run.ended.catch(() => undefined);
      runs.set(run.runId, run);
      wind(run);
      return stateOf(run);
    },
    async watch(runId) {
      const run = runs.get(runId);
      if (run === undefined) throw unknownRun(runId);
      wind(run);
      if (!(await endsWithin(timers, run.ended, watchMsMax))) return stateOf(run);
      return stateOf(run, await run.ended);
    },
    stop() {
      for (const run of runs.values()) {
        run.cancelTimer?.();
        run.giveUp.abort();
      }
      runs.clear();
    },
  };
}

function unknownRun(runId: string): Fault {
  return new Fault(
    "NOT_FOUND",
    `There is no run ${JSON.stringify(runId.slice(0, 64))} any more: nobody asked about it for a minute, or the service was started anew. Begin again.`,
    { retry: "never" },
  );
}
