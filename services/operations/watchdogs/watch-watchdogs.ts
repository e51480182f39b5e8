// The watchdog of the watchdogs: whoever was not judged for three periods is stale and alarms. Every five seconds the whole is written to a file
// for monitors outside of the platform: when its moment is old, this very loop has stopped.
import { messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { StatusFile } from "../../../ports/status-file.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { startWorkerLoop, type WorkerLoop } from "../worker-loop.ts";
import type { Assigned } from "./assigned.ts";
import type { Board } from "./board.ts";
import type { Configuration } from "./configuration.ts";
import { isNotJudged } from "./status.ts";
import { aboutWords } from "./words.ts";

const everyMs = 5_000;
const namedMax = 20;

export interface WatchOptions {
  readonly ports: Pick<ServicePorts, "timers" | "log" | "crash" | "clock">;
  readonly assigned: readonly Assigned[];
  readonly board: Board;
  readonly configuration: Configuration;
  readonly alarms: WorkerAlarms;
  readonly file: StatusFile;
}

export function watchWatchdogs({ ports, assigned, board, configuration, alarms, file }: WatchOptions): WorkerLoop {
  function notJudged(at: Instant): ReadonlyMap<string, readonly string[]> {
    return new Map(
      assigned.map(({ about }) => [
        about.name,
        board
          .of(about.name)
          .filter(([, watch]) => isNotJudged(watch, configuration.of(about.name, watch.scope.fundId).every_s, at))
          .map(([, { scope }]) => aboutWords(scope)),
      ]),
    );
  }

  async function look(): Promise<number> {
    const at = ports.clock.now();
    const unjudged = notJudged(at);
    const stale = assigned.flatMap(({ about }) =>
      board.of(about.name).flatMap(([, { scope, standing }]) => {
        const words = aboutWords(scope);
        const isUnjudged = unjudged.get(about.name)?.includes(words) === true;
        const reason = isUnjudged ? "NOT_JUDGED" : "NO_FRESH_INPUT";
        return isUnjudged || standing.state === "STALE" ? [{ watchdog: about.name, about: words, reason }] : [];
      }),
    );
    try {
      await file.write({ at: format(at), stale });
    } catch (thrown) {
      ports.log.warn("watchdogs.json could not be written", { reason: messageOf(thrown) });
    }
    for (const [name, words] of unjudged) {
      if (words.length === 0) alarms.clear("WATCHDOG_STALE", name);
      else {
        const named = words.slice(0, namedMax).join(", ");
        await alarms.raise("WATCHDOG_STALE", name, `${name} was not judged for three periods: ${named}.`, {
          watchdog: name,
        });
      }
    }
    return everyMs;
  }

  return startWorkerLoop({ ports, what: "the watch over the watchdogs", firstAfterMs: everyMs, run: look });
}
