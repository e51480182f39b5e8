// The feed of events with its marks, which the store does not keep and the bus brings. A bus that is away keeps nobody from starting: it is tried
// again, and meanwhile there are no marks.
import { messageOf } from "../../contracts/src/fault.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { EventFeed, FeedMark } from "../../ports/event-feed.ts";
import { createAlarms } from "../postgres/alarms.ts";
import { openStoredFeed } from "../postgres/bus/open-stored-feed.ts";
import type { OpenedStore } from "../records/open-store.ts";
import { type Endings, endAll } from "../system/end-all.ts";
import { type OpenBusOptions, openBus } from "./open-transport.ts";

interface OpenedEventFeed extends EventFeed {
  close(): Promise<void>;
}

const againMs = 5_000;
const marksMax = 10_000;

export function openEventFeed(
  options: OpenBusOptions,
  base: Pick<OpenedStore, "open" | "store" | "wake">,
): OpenedEventFeed {
  const { timers, log } = options;
  const stored = openStoredFeed(options, base);
  const listeners = new Set<(mark: FeedMark) => void>();
  const closing = new AbortController();
  const endings: Endings = [() => stored.close()];

  async function listenOnce(): Promise<void> {
    const alarms = createAlarms({ ...options, store: base.store, subject: subjects.alarmRaised });
    const opened: Endings = [];
    const wanted = {
      subjects: [subjects.marketMarks.name],
      queueMax: marksMax,
      overflow: "keep-newest-per-key",
    } as const;
    try {
      const { bus } = await openBus(options, { ...base, alarms }, opened);
      await bus.listen(wanted, async ({ subject, at, payload }) => {
        for (const heard of listeners) heard({ subject, at, payload });
      });
      endings.push(...opened);
    } catch (thrown) {
      await endAll(opened);
      throw thrown;
    }
  }

  async function listen(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await listenOnce();
        return;
      } catch (thrown) {
        log.warn("the feed of events has no marks yet", { reason: messageOf(thrown) });
        await timers.sleep(againMs, closing.signal);
      }
    }
  }

  const listening = listen();
  return {
    newest: () => stored.newest(),
    read: (request) => stored.read(request),
    onMark(heard) {
      listeners.add(heard);
      return () => void listeners.delete(heard);
    },
    async close() {
      closing.abort();
      await listening;
      await endAll(endings);
    },
  };
}
