// Whether a part can work right now, from what everybody needs: a store that answers and a bus that is connected. The store is asked
// twice a second in the background, so that the question "are you well" never waits for a database that hangs.
import { millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Health } from "../../ports/health.ts";
import type { Store } from "../../ports/store.ts";
import { startLoop } from "./loop.ts";
import type { ServicePorts } from "./service.ts";

const askEveryMs = 500;
/** A store that has not answered for this long counts as out of reach. */
const silenceMsMax = 1_500;

interface Readiness {
  health(): Health;
  stop(): Promise<void>;
}

interface ReadinessPorts extends Pick<ServicePorts, "clock" | "timers" | "log" | "crash"> {
  readonly store: Pick<Store, "health">;
  readonly bus: Pick<Bus, "health">;
}

export function watchReadiness({ store, bus, ...ports }: ReadinessPorts): Readiness {
  const { clock } = ports;
  let heardAt = clock.now();
  let complaint: string | undefined;

  async function ask(): Promise<number> {
    const answer = await store.health();
    if (answer.reachable) heardAt = answer.answeredAt ?? clock.now();
    complaint = answer.reachable ? undefined : (answer.complaint ?? "the store is out of reach");
    return askEveryMs;
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

  const loop = startLoop({
    ports,
    what: "the watch over the store",
    firstAfterMs: 0,
    run: ask,
    troubleMsMax: askEveryMs,
  });
  return { health, stop: loop.stop };
}
