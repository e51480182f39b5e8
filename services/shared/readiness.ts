// Whether a part can work right now, from what everybody needs: a store that answers and a bus that is connected. The store is asked
// twice a second in the background, so that the question "are you well" never waits for a database that hangs.
import { millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Health } from "../../ports/health.ts";
import type { Store } from "../../ports/store.ts";
import type { Timers } from "../../ports/timers.ts";

const askEveryMs = 500;
/** A store that has not answered for this long counts as out of reach. */
const silenceMsMax = 1_500;

export interface Readiness {
  health(): Health;
  stop(): Promise<void>;
}

export interface ReadinessPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly store: Store;
  readonly bus: Bus;
}

export function watchReadiness({ clock, timers, store, bus }: ReadinessPorts): Readiness {
  const ending = new AbortController();
  let heardAt = clock.now();
  let complaint: string | undefined;
  const asking = ask();

  async function ask(): Promise<void> {
    while (!ending.signal.aborted) {
      const answer = await store.health();
      if (answer.reachable) heardAt = answer.answeredAt ?? clock.now();
      complaint = answer.reachable ? undefined : (answer.complaint ?? "the store is out of reach");
      await timers.sleep(askEveryMs, ending.signal);
    }
  }

  function health(): Health {
    if (complaint !== undefined) return { status: "failing", complaint };
    const silentMs = millisecondsBetween(heardAt, clock.now());
    if (silentMs > silenceMsMax) {
      return { status: "failing", complaint: `the store has not answered for ${Math.round(silentMs)} ms` };
    }
    const link = bus.health();
    if (link.connected && link.complaint === undefined) {
      return link.note === undefined ? { status: "ok" } : { status: "ok", complaint: link.note };
    }
    return { status: "failing", complaint: link.complaint ?? "the bus is not connected" };
  }

  return {
    health,
    stop: async () => {
      ending.abort();
      await asking;
    },
  };
}
