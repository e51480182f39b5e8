// Keeps what the paper broker and the paper market suffer, and the corporate actions that they follow, at hand in every process that plays one of
// them: read every second, and at once after a commit. While it cannot be read, the last word stands.
import { messageOf } from "../../contracts/src/fault.ts";
import type { PaperWeather } from "../../contracts/src/records/fund.ts";
import type { Log } from "../../ports/log.ts";
import type { CancelTimer, Timers } from "../../ports/timers.ts";

interface FaultsWatch<Known = PaperWeather> {
  now(): Known | undefined;
  close(): Promise<void>;
}

interface FaultsWatchOptions<Known> {
  /** As the log names it; the faults when absent. */
  readonly what?: string;
  readonly timers: Timers;
  readonly log: Log;
  read(): Promise<Known | undefined>;
  /** Calls back when something may have changed; gives the function that stops it. */
  readonly onChange?: (run: () => void) => () => void;
}

const readEveryMs = 1_000;
/** Commits come by the hundred; they are not asked for after each of them. */
const readMsMin = 250;

/** Resolves after the first reading, whatever came of it. */
export async function watchFaults<Known = PaperWeather>(
  options: FaultsWatchOptions<Known>,
): Promise<FaultsWatch<Known>> {
  const { timers, log } = options;
  let current: Known | undefined;
  let reading: Promise<void> | undefined;
  let closed = false;
  let troubled = false;
  let pause: CancelTimer | undefined;
  let isSoon = false;

  async function look(): Promise<void> {
    try {
      current = await options.read();
      troubled = false;
    } catch (thrown) {
      if (!troubled) log.warn(`the ${options.what ?? "paper weather"} cannot be read`, { reason: messageOf(thrown) });
      troubled = true;
    }
  }

  function arm(ms: number): void {
    pause?.();
    isSoon = ms < readEveryMs;
    pause = timers.after(ms, () => {
      isSoon = false;
      reading = look().then(() => {
        reading = undefined;
        if (!closed) arm(readEveryMs);
      });
    });
  }

  const stopListening = options.onChange?.(() => {
    if (!closed && !isSoon && reading === undefined) arm(readMsMin);
  });
  await look();
  arm(readEveryMs);
  return {
    now: () => current,
    async close() {
      closed = true;
      stopListening?.();
      pause?.();
      await reading;
    },
  };
}
