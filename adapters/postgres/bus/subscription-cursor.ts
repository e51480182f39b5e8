// Where a durable subscription stands, and when that is written down: at most once a second in the background, at once when
// a whole queue's worth has been finished since, and on leaving. Where it only passed what others want to hear of, that is in no hurry.
import { Fault } from "../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Leadership } from "./bus-session.ts";

export interface CursorKeeper {
  position(): bigint;
  /** Everything up to here is done with; `finished` events among it count towards the bound. */
  advance(through: bigint, finished: number): void;
  /** Writes when it is time, and waits for it only when the bound is reached; rejects when a write has failed. */
  keepUp(): Promise<void>;
  /** True when keepUp() would write or wait. */
  isDue(): boolean;
  /** Milliseconds until the next write is due; infinite when there is nothing to write. */
  dueMs(): number;
  flush(): Promise<void>;
}

const writeEveryMs = 1_000;
/** Read again after a crash, and nothing else: fewer numbers than this are written down as late as that. */
const passedMax = 1_000n;
const writePassedEveryMs = 5_000;

export function createCursorKeeper(options: {
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly queueMax: number;
}): CursorKeeper {
  const { leadership, clock, queueMax } = options;
  let position = leadership.cursor;
  let written = position;
  let unwritten = 0;
  let writtenAt: Instant = clock.now();
  let writing: Promise<void> | undefined;
  let failure: unknown;

  async function write(): Promise<void> {
    const through = position;
    unwritten = 0;
    writtenAt = clock.now();
    if (!(await leadership.moveCursor(through, writtenAt))) {
      throw new Fault("NOT_FOUND", "the subscription was forgotten while it ran", { retry: "never" });
    }
    written = through;
  }

  function begin(): Promise<void> {
    writing = write()
      .catch((thrown: unknown) => {
        failure = thrown;
      })
      .finally(() => {
        writing = undefined;
      });
    return writing;
  }

  function dueMs(): number {
    if (position === written) return Number.POSITIVE_INFINITY;
    const everyMs = unwritten > 0 || position - written > passedMax ? writeEveryMs : writePassedEveryMs;
    return Math.max(0, everyMs - millisecondsBetween(writtenAt, clock.now()));
  }

  async function flush(): Promise<void> {
    await writing;
    if (position !== written && failure === undefined) await begin();
    if (failure !== undefined) throw failure;
  }

  return {
    position: () => position,
    dueMs,
    isDue: () => unwritten >= queueMax || dueMs() <= 0,
    flush,
    advance(through, finished) {
      if (through > position) position = through;
      unwritten += finished;
    },
    async keepUp() {
      if (failure !== undefined) throw failure;
      if (unwritten >= queueMax) return flush();
      // begin() never rejects: a failure is kept and thrown by the next call.
      if (writing === undefined && dueMs() <= 0) void begin();
    },
  };
}
