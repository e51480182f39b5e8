// Synthetic stops: watches every position's price, fires, and sees every exit through. Switched off it fires nothing, but what had fired before is
// still owed and still brought to its end.
import type { Health } from "../../../ports/health.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import type { RpcService } from "../../../ports/rpc.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { type QuoteBoard, type QuoteSources, startQuoteBoard } from "./quote-board.ts";
import { stopQueries } from "./stop-queries.ts";
import { createStopWorker } from "./stop-worker.ts";
import { watchPositions } from "./watch-positions.ts";

/** The first quotes come within a second or two of the start. */
const firstLookMs = 3_000;
const driveEveryMs = 1_000;
/** While a stop waits for its price to be confirmed. */
const waitingMs = 1_000;
/** With nothing owed; a stop that fires wakes it. */
const idleMs = 30_000;

interface StopsOptions {
  readonly ports: Pick<
    ServicePorts,
    "store" | "clock" | "timers" | "log" | "crash" | "referenceData" | "riskStore" | "settings" | "sha256"
  >;
  readonly quotes: QuoteSources;
  readonly orderManagement: OrderManagement;
  /** Which broker exits go to. */
  readonly broker: string;
  readonly alarms: WorkerAlarms;
}

interface RunningStops {
  readonly handlers: Pick<RpcService["handlers"], "ListStops" | "EndStop">;
  health(): Health;
  stop(): Promise<void>;
}

export function startStops({ ports, quotes, orderManagement, broker, alarms }: StopsOptions): RunningStops {
  const { enabled, cryptoEveryMs, othersEveryMs } = ports.settings.stops;
  const board: QuoteBoard = startQuoteBoard(ports, quotes);
  const watch = watchPositions({ ports, board, alarms });
  const worker = createStopWorker({ ports, orderManagement, broker, board, alarms });
  const driving = startLoop({
    ports,
    what: "the exits of stops that fired",
    firstAfterMs: 0,
    run: async () => {
      // What an exit looks like depends on its instrument.
      await board.ready();
      return (await worker.work()) > 0 ? driveEveryMs : idleMs;
    },
  });

  function watching(what: string, everyMs: number, isCrypto: boolean) {
    const run = async (): Promise<number> => {
      try {
        const { hasFired, isWaiting } = await watch.look((assetClass) => (assetClass === "CRYPTO") === isCrypto);
        if (hasFired) driving.wake();
        if (isWaiting) return Math.min(everyMs, waitingMs);
      } catch (thrown) {
        // A commit whose end is not known may have fired one.
        driving.wake();
        throw thrown;
      }
      return everyMs;
    };
    return startLoop({ ports, what, firstAfterMs: Math.min(firstLookMs, everyMs), run });
  }

  const loops = enabled
    ? [
        watching("the stops of crypto", cryptoEveryMs, true),
        watching("the stops of equities and options", othersEveryMs, false),
      ]
    : [];
  if (!enabled) ports.log.warn("synthetic stops are switched off");
  return {
    handlers: stopQueries({ ports, orderManagement, watch, worker }),
    health: () => (enabled ? { status: "ok" } : { status: "ok", complaint: "Synthetic stops are switched off." }),
    stop: async () => {
      for (const loop of loops) await loop.stop();
      await Promise.all([board.stop(), driving.stop()]);
    },
  };
}
