// The bell of the paper broker's reports, and the network that they take: by the faults that are set, some are lost on the way and some come twice.
//
// A lost report does not ring, and the first answer that would contain it ends before it, because reports are numbered without gaps. Asked
// again, it is there. A repeated one stands twice in an answer and rings twice. Which ones these are follows from their numbers.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import type { PaperWeather } from "../../contracts/src/records/fund.ts";
import type { PaperReport } from "../../core/paper/paper-broker.ts";
import { fractionAt, laneOf } from "../../core/paper/seeded-random.ts";
import type { Log } from "../../ports/log.ts";
import type { CancelTimer, Timers } from "../../ports/timers.ts";
import type { PaperBooks } from "./paper-books.ts";

interface ReportBell {
  onReport(ring: () => void): () => void;
  /** Something was written here. */
  changed(): void;
  /** What arrives of these. */
  delivered(reports: readonly PaperReport[], countMax: number): readonly PaperReport[];
  close(): void;
}

interface BellOptions {
  readonly books: Pick<PaperBooks, "cursor">;
  readonly timers: Timers;
  readonly log: Log;
  readonly faults: () => PaperWeather | undefined;
}

/** How often it is looked whether another process has made a report. */
const lookEveryMs = 1_000;
/** Lost reports that are remembered as such; of older ones nobody asks any more. */
const missedMax = 10_000;
const lossLane = laneOf(0, "lost reports");
const repeatLane = laneOf(0, "repeated reports");

export function reportBell(options: BellOptions): ReportBell {
  const rings = new Set<() => void>();
  const missed = new Set<number>();
  let seen = 0;
  let closed = false;
  let looking = false;
  let owed = false;
  let pause: CancelTimer | undefined;

  const isLost = (cursor: number): boolean => fractionAt(lossLane, cursor) < (options.faults()?.report_loss_pct ?? 0);
  const isRepeated = (cursor: number): boolean =>
    fractionAt(repeatLane, cursor) < (options.faults()?.report_repeat_pct ?? 0);

  function ringAll(): void {
    for (const ring of [...rings]) ring();
  }

  async function look(): Promise<void> {
    // A look that is under way may have been answered before what is asked about now.
    owed = looking;
    if (looking || closed || rings.size === 0) return;
    looking = true;
    try {
      const newest = await options.books.cursor();
      const news: number[] = [];
      for (let cursor = Math.max(seen, newest - missedMax) + 1; cursor <= newest; cursor += 1) news.push(cursor);
      seen = Math.max(seen, newest);
      if (!closed && news.some((cursor) => !isLost(cursor))) ringAll();
      if (!closed && news.some(isRepeated)) ringAll();
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
      options.log.debug("the paper broker's reports cannot be looked at", { reason: messageOf(thrown) });
    } finally {
      looking = false;
    }
    if (owed) await look();
  }

  function arm(): void {
    pause = options.timers.after(lookEveryMs, () => {
      arm();
      void look();
    });
  }

  return {
    onReport(ring) {
      // Wrapped, so that one function that listens twice is two listeners.
      const own = () => ring();
      rings.add(own);
      if (pause === undefined && !closed) arm();
      return () => {
        rings.delete(own);
        if (rings.size > 0) return;
        pause?.();
        pause = undefined;
      };
    },
    changed: () => options.timers.soon(() => void look()),
    delivered(reports, countMax) {
      const arrived: PaperReport[] = [];
      for (const report of reports) {
        if (isLost(report.cursor) && !missed.has(report.cursor)) {
          if (missed.size >= missedMax) missed.clear();
          missed.add(report.cursor);
          break;
        }
        arrived.push(report);
        if (isRepeated(report.cursor)) arrived.push(report);
      }
      return arrived.slice(0, countMax);
    },
    close() {
      closed = true;
      rings.clear();
      pause?.();
      pause = undefined;
    },
  };
}
