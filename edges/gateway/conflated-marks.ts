// Prices for one stream: the newest of each symbol, at most four times a second, however many come and however slowly they are read.
import { matchesAny } from "../../contracts/src/subjects.ts";
import type { EventFeed, FeedMark } from "../../ports/event-feed.ts";
import type { Timers } from "../../ports/timers.ts";

const marksEveryMs = 250;

interface ConflatedMarks {
  /** Resolves when some may be sent. */
  due(): Promise<void>;
  take(): readonly FeedMark[];
  close(): void;
}

export function conflatedMarks(
  feed: Pick<EventFeed, "onMark">,
  timers: Timers,
  subjects: readonly string[],
): ConflatedMarks {
  const newest = new Map<string, FeedMark>();
  let isResting = false;
  let release: () => void = () => undefined;
  let waiting = new Promise<void>((resolve) => {
    release = resolve;
  });
  let stopResting: () => void = () => undefined;
  const stopListening = feed.onMark((mark) => {
    if (!matchesAny(subjects, mark.subject)) return;
    newest.set((mark.payload as { readonly symbol: string }).symbol, mark);
    if (!isResting) release();
  });
  return {
    due: () => waiting,
    take() {
      const taken = [...newest.values()];
      newest.clear();
      isResting = true;
      waiting = new Promise((resolve) => {
        release = resolve;
      });
      stopResting = timers.after(marksEveryMs, () => {
        isResting = false;
        if (newest.size > 0) release();
      });
      return taken;
    },
    close() {
      stopListening();
      stopResting();
    },
  };
}
