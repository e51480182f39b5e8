// Waiting that ends: what asks again until it is answered, gives up in time, or lets others have their turn. What lives as long as its service waits in
// loop.ts, and nothing of services waits anywhere else.
import type { Timers } from "../../ports/timers.ts";

interface Polling {
  readonly timers: Pick<Timers, "sleep">;
  /** Absent: it asks at once. */
  readonly firstAfterMs?: number;
  readonly everyMs: number;
  /** Given, each wait is twice as long as the one before, up to this. */
  readonly everyMsMax?: number;
  readonly timesMax?: number;
  /** Ends a wait at once, and the asking with it. */
  readonly signal?: AbortSignal | undefined;
  readonly isOver?: () => boolean;
}

/** Asks until there is an answer; undefined when it was over before that. */
export async function pollUntil<Answer>(
  { timers, firstAfterMs = 0, everyMs, everyMsMax = everyMs, signal, ...polling }: Polling,
  ask: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const { timesMax = Number.POSITIVE_INFINITY, isOver = () => false } = polling;
  let waitMs = firstAfterMs;
  let nextMs = everyMs;
  for (let asked = 0; asked < timesMax && !isOver(); asked += 1) {
    if (waitMs > 0) await timers.sleep(waitMs, signal);
    if (signal?.aborted === true) return undefined;
    const answer = await ask();
    if (answer !== undefined) return answer;
    waitMs = nextMs;
    nextMs = Math.min(nextMs * 2, everyMsMax);
  }
  return undefined;
}

/** Lets others have their turn between two slices of an answer that somebody waits for, and goes on as soon as they had it. */
export const nextTurn = ({ soon }: Pick<Timers, "soon">): Promise<void> => new Promise((resolve) => soon(resolve));

/** Long work that somebody waits for: others have their turn wherever it yields. */
export async function inSlices<Made>(work: Generator<void, Made>, timers: Pick<Timers, "soon">): Promise<Made> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurn(timers);
  }
}

/** Lets others have their turn between two portions of long work. */
export const breathe = (timers: Pick<Timers, "sleep">, signal?: AbortSignal): Promise<void> => timers.sleep(0, signal);

/** Why nobody waits any more. Without a reason an exception with a stack would be made for each, and there is one for every transaction. */
const answered = "answered";

/** What comes of the work, or `late` when that takes longer or the signal says that nothing waits for it any more. */
export async function within<Value, Late>(
  timers: Pick<Timers, "sleep">,
  msMax: number,
  work: Promise<Value>,
  late: Late,
  signal?: AbortSignal,
): Promise<Value | Late> {
  const over = new AbortController();
  const patience = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  try {
    return await Promise.race([work, timers.sleep(msMax, patience).then(() => late)]);
  } finally {
    over.abort(answered);
  }
}

/** Whether the work ended, in whichever way, within that time. */
export function endsWithin(timers: Pick<Timers, "sleep">, work: Promise<unknown>, msMax: number): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return within(timers, msMax, ended, false);
}
