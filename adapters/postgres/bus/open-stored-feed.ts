// The feed of events on a connection of its own, which only reads: a long page holds up nobody's cursor.
import { subjectByName } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { EventFeed } from "../../../ports/event-feed.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { OpenConnection } from "./bus-connection.ts";
import { createBusSession } from "./bus-session.ts";
import { createEventFeed } from "./event-feed.ts";
import type { PokeSource } from "./subscription-wake.ts";

export type StoredFeed = Omit<EventFeed, "onMark"> & { close(): Promise<void> };

interface StoredFeedOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly source: string;
}

const openMsMax = 10_000;

export function openStoredFeed(
  options: StoredFeedOptions,
  { open, wake }: { readonly open: OpenConnection; readonly wake: PokeSource },
): StoredFeed {
  const { timers, source } = options;
  const session = createBusSession({ ...options, open, holder: `${source} events` });
  const feed = createEventFeed({ ...options, run: session.run, wake, subjectByName });
  /** Right after the start the connection may still be opening; whoever comes then waits for it. */
  async function opened(): Promise<void> {
    if (session.complaint() === undefined) return;
    const patience = new AbortController();
    const cancel = timers.after(openMsMax, () => patience.abort());
    await session.opened(patience.signal);
    cancel();
  }
  return {
    async newest() {
      await opened();
      return feed.newest();
    },
    async read(request) {
      await opened();
      return feed.read(request);
    },
    close: () => session.close(),
  };
}
