// The watchdog of the watchdogs: whoever was not judged for three periods is stale and alarms. Every five seconds the whole is written to a file
// for monitors outside of the platform: when its moment is old, this very loop has stopped.
import { messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { StatusFile } from "../../../ports/status-file.ts";
import { type Loop, startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import type { Board } from "./board.ts";
import type { Configuration } from "./configuration.ts";
import type { RunningWatchdog } from "./run-watchdog.ts";
import { isNotJudged } from "./status.ts";
import { aboutWords } from "./words.ts";

const everyMs = 5_000;
const namedMax = 20;

interface WatchOptions {
  readonly ports: Pick<ServicePorts, "timers" | "log" | "crash" | "clock">;
  readonly running: readonly Pick<RunningWatchdog, "assigned" | "finishedAt">[];
  readonly board: Board;
  readonly configuration: Configuration;
  readonly alarms: WorkerAlarms;
  readonly file: StatusFile;
}

export function watchWatchdogs({ ports, running, board, configuration, alarms, file }: WatchOptions): Loop {
  /** What was not judged; "everything" where no round came to its end, also before anything was ever judged. */
  function notJudged(at: Instant): ReadonlyMap<string, readonly string[]> {
    return new Map(
      running.map(({ assigned: { about }, finishedAt }) => {
        const everyS = configuration.of(about.name, undefined).every_s;
        if (isNotJudged({ judgedAt: finishedAt() }, everyS, at)) return [about.name, ["everything"]];
        const late = board
          .of(about.name)
          .filter(([, watch]) => isNotJudged(watch, configuration.of(about.name, watch.scope.fundId).every_s, at));
        return [about.name, late.map(([, { scope }]) => aboutWords(scope))];
      }),
    );
  }

  async function look(): Promise<number> {
    const at = ports.clock.now();
    const unjudged = notJudged(at);
    const silent = running.flatMap(({ assigned: { about } }) =>
      board
        .of(about.name)
        .map(([, { scope, standing }]) => ({ about: aboutWords(scope), standing }))
        .filter(
          ({ about: words, standing }) => standing.state === "STALE" && !unjudged.get(about.name)?.includes(words),
        )
        .map(({ about: words }) => ({ watchdog: about.name, about: words, reason: "NO_FRESH_INPUT" })),
    );
    const unjudgedRows = [...unjudged].flatMap(([watchdog, all]) =>
      all.map((words) => ({ watchdog, about: words, reason: "NOT_JUDGED" })),
    );
    const stale = [...unjudgedRows, ...silent];
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

  return startLoop({ ports, what: "the watch over the watchdogs", firstAfterMs: everyMs, run: look });
}
