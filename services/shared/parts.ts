// The parts of a service by name, in the order in which they were started: later ones stand on earlier ones, so they end last first. A start that fails half
// way ends what had started.
import { messageOf } from "../../contracts/src/fault.ts";
import type { ServicePorts } from "./service.ts";

type Part = { stop(): Promise<unknown> } | { close(): Promise<unknown> };

export interface Parts {
  /** Gives the part back; undefined is one that is not there. */
  add<Started extends Part | undefined>(name: string, part: Started): Started;
}

interface Named {
  readonly name: string;
  readonly part: Part;
}

/** A part that has not ended for so long is named: a process that is killed in the end leaves the name in the log. */
const slowMs = 3_000;

export async function startParts<Running extends object>(
  ports: Pick<ServicePorts, "timers" | "log">,
  start: (parts: Parts) => Promise<Running>,
): Promise<Running & { stop(): Promise<void> }> {
  const started: Named[] = [];
  const stopAll = (): Promise<readonly unknown[]> => stopInTurn(ports, started.splice(0).reverse());
  try {
    const running = await start({
      add(name, part) {
        if (part !== undefined) started.push({ name, part });
        return part;
      },
    });
    return {
      ...running,
      async stop() {
        for (const failure of await stopAll()) throw failure;
      },
    };
  } catch (thrown) {
    await stopAll();
    throw thrown;
  }
}

/** What fails to end keeps no other part from ending; gives what was thrown. */
async function stopInTurn(
  { timers, log }: Pick<ServicePorts, "timers" | "log">,
  parts: readonly Named[],
): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  for (const { name, part } of parts) {
    const ended = timers.after(slowMs, () => log.warn("a part has not ended yet", { part: name }));
    try {
      await ("stop" in part ? part.stop() : part.close());
    } catch (thrown) {
      failures.push(thrown);
      log.error("a part did not end", { part: name, error: messageOf(thrown) });
    }
    ended();
  }
  return failures;
}
